"""Write a commented configuration from a data file."""

from pathlib import Path
from typing import Annotated

import typer

from fairpatch.cli import data as tables
from fairpatch.cli.options import SOURCES
from fairpatch.cli.say import note, refuse, say

SENSITIVE = (
    "sex",
    "gender",
    "race",
    "ethnic",
    "age_group",
    "group",
    "religion",
    "disab",
    "marital",
)
LABELS = ("y", "label", "target", "outcome", "default", "class")
SCORES = ("score", "prob", "p_hat", "probability", "pd")
KEYS = ("id", "key", "uuid", "customer_id", "application_id")


def run(
    data: Annotated[str, typer.Argument(help=SOURCES)],
    out: Annotated[Path, typer.Option(help="where to write it")] = Path("fairpatch.yaml"),
    force: Annotated[bool, typer.Option(help="replace an existing file")] = False,
) -> None:
    """Guess what the columns are, and say so in comments."""
    from fairpatch.patch.file import write_whole

    if out.exists() and not force:
        refuse(f"{out} exists; use --force to replace it, or --out for another name")
    names = list(tables.relation(data).columns)
    lower = {name: name.lower() for name in names}
    label = next((n for n in names if lower[n] in LABELS), "?")
    score = next((n for n in names if any(lower[n].startswith(s) for s in SCORES)), "?")
    sensitive = [n for n in names if any(s in lower[n] for s in SENSITIVE)] or ["?"]
    keys = [n for n in names if lower[n] in KEYS]
    text = f"""\
# fairpatch: what a run needs. Check every line that was guessed from {_yaml(data)}.
data: {_yaml(data)}
# the outcome, 0 or 1. Decision 1 is taken for the favourable one: if 1 means denied or in default,
# turn label and score round first
label: {_yaml(label)}
# the base model's probability; or 'model:' with a .skops or .onnx file or an MLflow URI
score: {_yaml(score)}
# used to learn and to check, never to decide
sensitive: [{", ".join(map(_yaml, sensitive))}]
# columns that are no features, such as keys and dates
ignore: [{", ".join(map(_yaml, keys))}]
# columns that the patch must not read
exclude: []
# decision 1 is a probability above this
cutoff: 0.5
# what must hold
target:
  p_rule: 0.8             # lowest group's rate of decision 1 over the highest group's, at least
  # max_changes: 0.1      # share of decisions that may change
  # max_columns: 8        # columns that the patch may read
  # direction: promote_only   # nobody loses a decision of 1
  confidence: 0.95        # of the certificate
seed: 0
# all columns: {", ".join(map(_yaml, names[:60]))}
"""
    write_whole(out, text.rstrip("\n"))
    if "?" in (label, score) or "?" in sensitive:
        note("some columns could not be guessed: replace every '?' in the file")
    say(f"wrote {out}; check it, then: fairpatch audit --config {out}")


def _yaml(value: str) -> str:
    """A name as a YAML string on one line."""
    import json

    text = json.dumps(value, ensure_ascii=False)
    for sign in "\x7f\x85\u2028\u2029":  # YAML takes these for line breaks, JSON does not
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text
