"""MLflow's registry: aliases, tags, and the ledger as runs. In a fresh folder, no server."""

import pytest

from conftest import TARGET, month
from fairpatch.life.ledger import Ledger
from fairpatch.life.registry import log_ledger, promote, register
from fairpatch.report.identity import patch_hash

pytestmark = [
    pytest.mark.filterwarnings("ignore::UserWarning:mlflow.*"),
    pytest.mark.filterwarnings("ignore::FutureWarning:mlflow.*"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


@pytest.mark.slow
def test_challenger_becomes_champion_and_the_ledger_is_logged_once(patched, monkeypatch, tmp_path):
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path}/mlflow.db")
    monkeypatch.chdir(tmp_path)
    import mlflow

    X = month(1, 200)
    for number in ("1", "2"):
        with mlflow.start_run():
            found = register(patched, X, "credit", target=TARGET, verdict="certified")
        assert str(found.version) == number
        assert found.aliases == ["challenger"]
        assert found.tags["fairpatch.patch_sha256"] == patch_hash(patched.patch)
        assert found.tags["fairpatch.promise"].startswith("P-Rule at least 0.75")
        assert str(promote("credit").version) == number
    client = mlflow.MlflowClient()
    aliases = client.get_registered_model("credit").aliases
    assert {k: str(v) for k, v in aliases.items()} == {"champion": "2", "champion-before": "1"}
    with pytest.raises(ValueError, match="no challenger"):
        promote("credit")
    ledger = Ledger(tmp_path / "ledger.jsonl")
    ledger.append("fitted", "a" * 64, facts={"change_rate": 0.05, "promise": "P-Rule 0.8"})
    ledger.append("applied", "a" * 64, since="2026-01-01")
    assert log_ledger(ledger, "life of credit") == 2
    assert log_ledger(ledger, "life of credit") == 0
    runs = mlflow.search_runs(experiment_names=["life of credit"], output_format="list")
    assert {r.data.tags["fairpatch.event"] for r in runs} == {"fitted", "applied"}
    assert {r.data.metrics.get("change_rate") for r in runs} == {0.05, None}
