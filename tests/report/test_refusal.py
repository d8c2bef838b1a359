"""A refused target leaves a record: what was asked, what was tried, and the nearest."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import sync_playwright
from typer.testing import CliRunner

from fairpatch import FairPatch, Target
from fairpatch.choose.objections import TargetNotReachedError
from fairpatch.cli.main import app
from fairpatch.measure.metric import P_RULE
from fairpatch.report.refusal import Refusal


def people(n=1_500):
    random = np.random.default_rng(0)
    s = random.choice(["a", "b"], n)
    frame = pd.DataFrame({"score": random.random(n) * np.where(s == "a", 0.6, 1), "s": s,
                          "x": random.normal(size=n) + (s == "a")})  # fmt: skip
    return frame.assign(y=(random.random(n) < frame["score"]).astype(int))


def test_the_record_says_what_is_nearest():
    frame = people()
    with pytest.raises(TargetNotReachedError) as caught:
        FairPatch("score", Target(p_rule=0.95, max_changes=0.02)).fit(
            frame.drop(columns="y"), frame["y"], sensitive_features=["s"]
        )
    record, frontier = Refusal.of(caught.value).to_dict(), caught.value.frontier
    assert record["asked"] == "P-Rule at least 0.95, changed decisions at most 0.02"
    nearest = record["nearest"]
    assert sum(nearest["changed"]) / 2 <= 0.02
    rule = [P_RULE.along(d["s"]) for d in frontier.dials]
    best = max(
        float(np.nanmax(v[d["s"].change_rate <= 0.02]))
        for v, d in zip(rule, frontier.dials, strict=True)
    )
    low, high = nearest["fairness"]["s"]
    assert low <= best <= high
    assert sum(record["cheapest"]["fairness"]["s"]) / 2 >= 0.94
    assert record["before"]["changed"][0] == 0
    assert "0." not in str(record["small_groups"])


@pytest.mark.slow
def test_the_command_line_writes_it_and_it_opens(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people().to_csv("people.csv", index=False)
    done = CliRunner().invoke(
        app,
        ["fit", "--data", "people.csv", "--label", "y", "--favourable", "1", "--score", "score",
        "--sensitive", "s",
         "--p-rule", "0.95", "--max-changes", "0.02"],
    )  # fmt: skip
    assert done.exit_code == 3, done.output
    assert "wrote run/refused.html" in done.output
    assert not (tmp_path / "run" / "manifest.json").exists()
    assert json.loads((tmp_path / "run" / "refused.json").read_text())["tried"] > 0
    noise = []
    with sync_playwright() as play:
        chromium = play.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = chromium.new_page(viewport={"width": 390, "height": 900})
        page.on("console", lambda message: noise.append(message.text))
        page.on("pageerror", lambda error: noise.append(str(error)))
        page.goto((tmp_path / "run" / "refused.html").as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert "No patch was made" in page.inner_text("h1")
        assert "nearest within the changes allowed" in page.inner_text("main")
        chromium.close()
    assert noise == []
