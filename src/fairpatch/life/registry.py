"""A patched model in MLflow's registry: aliases and tags as it uses them, the ledger as runs.

MLflow gave up stages for aliases: *challenger* is the version that may come next, *champion* the
one in use. The target, the verdict, and the patch's hash are tags of the version.
"""

from typing import Any

from fairpatch._extras import need
from fairpatch.choose.target import Target
from fairpatch.engines.mlflow import allowed_name, log_model
from fairpatch.life.ledger import Entry, Ledger
from fairpatch.patched import PatchedModel
from fairpatch.report.identity import patch_hash

CHAMPION, CHALLENGER, BEFORE = "champion", "challenger", "champion-before"
ENTRY = "fairpatch.entry_sha256"
EVENT_TAGS = {"number", "event", "patch", "run", "since", "at", "signer"}


def register(
    model: PatchedModel,
    X: Any,
    name: str,
    *,
    target: Target,
    verdict: str | None = None,
    alias: str = CHALLENGER,
    **options: Any,
) -> Any:
    """Log a patched model to the active run and register it; gives the model's version.

    ``X``, some rows, gives the columns' types; ``options`` as ``engines.mlflow.log_model``.
    """
    mlflow = need("mlflow", extra="mlflow")
    info = log_model(model, X, **options)
    version = mlflow.register_model(info.model_uri, name)
    client = mlflow.MlflowClient()
    tags = {
        "fairpatch.patch_sha256": patch_hash(model.patch),
        "fairpatch.target": str(target),
        "fairpatch.certificate": verdict or "none",
    }
    for key, value in tags.items():
        client.set_model_version_tag(name, version.version, key, value)
    client.set_registered_model_alias(name, alias, version.version)
    return client.get_model_version(name, version.version)


def promote(name: str) -> Any:
    """Make the challenger the champion; who was it keeps an alias, so that it can come back."""
    client = need("mlflow", extra="mlflow").MlflowClient()
    known = client.get_registered_model(name).aliases
    if CHALLENGER not in known:
        raise ValueError(f"{name} has no challenger to promote: register one first")
    if CHAMPION in known:
        client.set_registered_model_alias(name, BEFORE, known[CHAMPION])
    client.set_registered_model_alias(name, CHAMPION, known[CHALLENGER])
    client.delete_registered_model_alias(name, CHALLENGER)
    return client.get_model_version_by_alias(name, CHAMPION)


def log_ledger(ledger: Ledger, experiment: str) -> int:
    """Every entry that MLflow does not have yet as a run of an experiment; gives how many."""
    mlflow = need("mlflow", extra="mlflow")
    client = mlflow.MlflowClient()
    existing = client.get_experiment_by_name(experiment)
    where = existing.experiment_id if existing else client.create_experiment(experiment)
    known = {
        run.data.tags.get(ENTRY)
        for run in mlflow.search_runs([where], output_format="list", max_results=50_000)
    }
    new = [entry for entry in ledger.entries() if entry.hash not in known]
    for entry in new:
        run = client.create_run(where, run_name=f"{entry.number} {entry.event}", tags=_tags(entry))
        for key, value in entry.facts.items():
            if isinstance(value, int | float) and not isinstance(value, bool):
                client.log_metric(run.info.run_id, allowed_name(key), float(value))
            else:
                client.set_tag(run.info.run_id, f"fairpatch.{allowed_name(key)}", str(value)[:5000])
        client.set_terminated(run.info.run_id)
    return len(new)


def _tags(entry: Entry) -> dict[str, str]:
    event = entry.model_dump(mode="json", include=EVENT_TAGS)
    tags = {f"fairpatch.{key}": str(value) for key, value in event.items() if value is not None}
    return {**tags, ENTRY: entry.hash}
