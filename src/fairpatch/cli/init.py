"""Write a commented configuration from a data file."""

from pathlib import Path
from typing import Annotated

import typer

from fairpatch.cli import data as tables
from fairpatch.cli.options import SOURCES, Model
from fairpatch.cli.profile import Profile, profile
from fairpatch.cli.say import note, refuse, say

SEEN = 20_000
"""Rows that are looked at."""
NEW = "\n"


def run(
    data: Annotated[str, typer.Argument(help=SOURCES)],
    out: Annotated[Path, typer.Option(help="where to write it")] = Path("fairpatch.yaml"),
    model: Model = None,
    force: Annotated[bool, typer.Option(help="replace an existing file")] = False,
) -> None:
    """Guess what the columns are, and say so in comments."""
    from fairpatch.files.atomic import write_whole

    if out.exists() and not force:
        refuse(f"{out} exists; use --force to replace it, or --out for another name")
    table = tables.relation(data)
    names = list(table.columns)
    guessed = profile(tables.in_memory(table.limit(SEEN)), tables.index_columns(data))
    write_whole(out, _text(data, names, guessed, model).rstrip("\n"))
    open_ones = _open(guessed, model)
    if open_ones:
        note(f"could not be guessed, replace the '?' of: {', '.join(open_ones)}")
    say(f"wrote {out}; check it, then: fairpatch audit --config {out}")


def _open(profile: Profile, model: str | None) -> list[str]:
    asked = {
        "label": profile.label == "?",
        "positive": profile.positive == "?",
        "favourable": profile.label == "?",
        "score": profile.score is None and model is None,
        "sensitive": not profile.sensitive,
    }
    return [name for name, is_open in asked.items() if is_open]


def _text(data: str, names: list[str], profile: Profile, model: str | None) -> str:
    others = [n for n in profile.labels if n != profile.positive]
    good = {1: "being predicted so is good for a person", 0: "being predicted so is bad for them"}
    base = f"score: {_yaml(profile.score or '?')}" if model is None else f"model: {_yaml(model)}"
    what = "the base model's probability; or 'model:' with its file"
    other = _yaml(str((others or ["?"])[0]))
    about = f"the label that the score is the probability of; the other: {other}"
    positive = None if profile.positive is None else str(profile.positive)
    guess = f"guessed: {good[profile.favourable]}" if profile.label != "?" else "the label is open"
    trained = "true for rows that the base model was trained on"
    return f"""\
# fairpatch: what a run needs. Check every line that was guessed from {_yaml(data)}.
data: {_yaml(data)}
# the outcome
label: {_yaml(profile.label)}
decision:
{_entry("positive", positive, about)}\
  # the decision that is good for a person: 1 or 0 ({guess})
  favourable: {profile.favourable if profile.label != "?" else '"?"'}
  # decision 1 is a probability above this; not guessed: set it to your model's own
  threshold: 0.5
{_entry("weight", profile.weight, "what each row weighs")}\
{_bands(profile)}\
  # what people call them: approved, denied, positive_words, negative_words
# {what if model is None else "the base model"}
{base}
# used to learn and to check, never to decide
sensitive: [{", ".join(map(_yaml, profile.sensitive or ["?"]))}]
{_ages(profile)}\
# read by the base model only, never by the patch
exclude:{_list(profile.exclude)}
# numbers that are codes{_perhaps(profile)}
categories: [{", ".join(map(_yaml, profile.categories))}]
# read by nobody
ignore:{_list(profile.ignore)}
{_entry("seen_by_base", profile.trained, trained, "")}\
# what must hold
target:
  p_rule: 0.8             # lowest group's rate of the good decision over the highest group's
  # max_changes: 0.1      # share of decisions that may change
  # max_columns: 8        # columns that the patch may read
  # direction: promote_only   # nobody loses a good decision
  confidence: 0.95        # of the certificate
seed: 0
# all columns: {", ".join(map(_yaml, names[:60]))}
"""


def _entry(name: str, value: str | None, why: str, before: str = "  ") -> str:
    return "" if value is None else f"{before}# {why}{NEW}{before}{name}: {_yaml(value)}{NEW}"


def _bands(profile: Profile) -> str:
    if not profile.bands:
        return ""
    cut = ", ".join(f"{_yaml(name)}: {edges}" for name, edges in profile.bands.items())
    why = "sensitive numbers, by where one band ends and the next begins"
    return f"  # {why}{NEW}  bands: {{{cut}}}{NEW}"


def _ages(profile: Profile) -> str:
    if not profile.ages:
        return ""
    cut = ", ".join(f"{_yaml(name)}: {edges}" for name, edges in profile.ages.items())
    return f"# an age may be one, too; then with bands in the decision: {{{cut}}}{NEW}"


def _list(columns: dict[str, str]) -> str:
    if not columns:
        return " []"
    return "".join(f"{NEW}  - {_yaml(name)}  # {why}" for name, why in columns.items())


def _perhaps(profile: Profile) -> str:
    if not profile.perhaps_codes:
        return ""
    return f"; few whole numbers, codes too?: {', '.join(map(_yaml, profile.perhaps_codes))}"


def _yaml(value: str) -> str:
    """A name as a YAML string on one line."""
    import json

    text = json.dumps(value, ensure_ascii=False)
    for sign in "\x7f\x85\u2028\u2029":  # YAML takes these for line breaks, JSON does not
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text
