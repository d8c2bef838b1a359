"""A planted slowdown is noticed, and noise of one round is not."""

import shutil
from pathlib import Path

import pytest

from benchmarks import watch
from benchmarks.__main__ import main
from benchmarks.watched import PATHS

SRC = Path(__file__).parents[2] / "src"


@pytest.mark.slow
def test_a_planted_slowdown_is_noticed(tmp_path):
    """A patch file that is read three times: slower, whatever the machine does beside it."""
    shutil.copytree(SRC, tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    file = tmp_path / "src" / "fairpatch" / "patch" / "file.py"
    text = file.read_text()
    line = '    data = read_strictly(path, "a patch")\n'
    assert text.count(line) == 1
    again = (
        "    for _ in range(5):\n        Patch.model_validate_json(json.dumps(migrated(data)))\n"
    )
    file.write_text(text.replace(line, line + again))
    rounds = [
        {"before": watch.times(SRC.parent, ["file"]), "now": watch.times(tmp_path, ["file"])}
        for _ in range(1)
    ]
    assert watch.slower({"against": "x", "rounds": rounds}) == ["file"]
    assert "slower" in watch.show({"against": "x", "rounds": rounds})


def test_one_noisy_round_is_no_slowdown():
    quiet, noisy = (
        {"before": {"a": 1.0}, "now": {"a": 1.1}},
        {"before": {"a": 1.0}, "now": {"a": 4.0}},
    )
    assert watch.slower({"against": "x", "rounds": [quiet, noisy]}) == []
    assert watch.slower({"against": "x", "rounds": [noisy, noisy]}) == ["a"]
    new = {"before": {}, "now": {"a": 1.0}}
    assert watch.ratios({"against": "x", "rounds": [new, new]}) == {}


def test_without_an_earlier_commit_there_is_nothing_to_compare(capsys):
    assert main(["watch", "--against", "0" * 40]) == 0
    assert "nothing to compare with" in capsys.readouterr().out
    assert len(PATHS) == 15
    with pytest.raises(SystemExit):
        main(["watch", "--only", "nothing"])
