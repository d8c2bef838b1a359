"""Write a commented configuration from a data file."""

from pathlib import Path
from typing import Annotated, Any

import typer

from fairpatch._tools.hints import did_you_mean
from fairpatch.cli import data as tables
from fairpatch.cli.options import SOURCES, Favourable, Label, Model, Outcomes, Score
from fairpatch.cli.profile import FEW, SEEN, Profile, profile, small_groups
from fairpatch.cli.say import note, refuse, say

NEW = "\n"


def run(
    data: Annotated[str, typer.Argument(help=SOURCES)],
    out: Annotated[Path, typer.Option(help="where to write it")] = Path("fairpatch.yaml"),
    model: Model = None,
    favourable: Favourable = None,
    outcomes: Outcomes = None,
    label: Label = None,
    score: Score = None,
    force: Annotated[bool, typer.Option(help="replace an existing file")] = False,
) -> None:
    """Guess what the columns are, and say so in comments."""
    from typing import get_args

    from fairpatch._tools.files import write_whole
    from fairpatch.inputs.roles import Outcomes as Whose

    if favourable not in (None, 0, 1):
        refuse(
            f"--favourable must be 1 or 0, the decision that is good for a person; got {favourable}"
        )
    if outcomes is not None and outcomes not in get_args(Whose):
        refuse(f"--outcomes must be one of {', '.join(get_args(Whose))}; got {outcomes!r}")
    if out.exists() and not force:
        refuse(f"{out} exists; use --force to replace it, or --out for another name")
    table = tables.relation(data)
    names = list(table.columns)
    for name in (label, score):
        if name is not None and name not in names:
            refuse(f"{data} has no column {name!r}{did_you_mean(name, names)}")
    some = tables.in_memory(table.limit(SEEN))
    guessed = profile(some, tables.index_columns(data), score, favourable, label=label, asks=True)
    rows = len(some) if len(some) < SEEN else int(table.aggregate("count(*)").fetchall()[0][0])
    small_groups(guessed, some, rows, favourable)
    if model is not None and guessed.score is not None:  # some model's, perhaps this one's
        guessed.exclude[guessed.score] = "a score, no quantity of the person"
        guessed.score, guessed.unit = None, "probability"
    if outcomes is not None:
        guessed.outcomes = outcomes
    write_whole(out, _text(data, names, guessed, model, favourable).rstrip("\n"))
    open_ones = _open(guessed, model, favourable)
    if open_ones:
        note(f"only you can answer these; replace the '?' of: {', '.join(open_ones)}")
        if guessed.harm and favourable is None:
            note(
                f"{guessed.harm!r} sounds like a harm: if a high score is bad for a person, "
                "favourable is 0"
            )
        if guessed.outcomes == "?":
            note(f"whose outcomes are known? {guessed.why_outcomes}")
        if _hardly_any(guessed) and guessed.above is not None:
            note(
                f"{guessed.above:.1%} of the scores are above 0.5, so that is hardly the threshold "
                "at which decisions are made"
            )
    _tell(guessed)
    if guessed.other_scores and guessed.score is not None:
        note(f"score: took {guessed.score!r}; or is it {' or '.join(guessed.other_scores)}?")
    say(f"wrote {out}; check it, then: fairpatch audit --config {out}")


def _tell(guessed: Profile) -> None:
    """What was noticed, and answered in the file."""
    for name, groups in guessed.small.items():
        note(f"{name}: too few people to show anything of, so not compared: {', '.join(groups)}")
    for role, why in guessed.why.items():
        if role in NOTICED:
            note(f"{NOTICED[role]}: {why}")


def _open(profile: Profile, model: str | None, favourable: int | None) -> list[str]:
    asked = {
        "label": profile.label == "?",
        "positive": profile.positive == "?",
        "favourable": favourable is None,
        "threshold": _hardly_any(profile),
        "at_least": bool(profile.ties),
        "no_score": profile.no_score == "?",
        "outcomes": profile.outcomes == "?",
        "score": profile.score is None and model is None,
        "sensitive": not profile.sensitive,
    }
    return [name for name, is_open in asked.items() if is_open]


def _text(
    data: str, names: list[str], profile: Profile, model: str | None, favourable: int | None
) -> str:
    others = [n for n in profile.labels if n != profile.positive]
    base = f"score: {_yaml(profile.score or '?')}" if model is None else f"model: {_yaml(model)}"
    what = "the base model's probability; or 'model:' with its file"
    other = _yaml(str((others or ["?"])[0]))
    about = f"the label that the score is the probability of; the other: {other}"
    positive = None if profile.positive is None else str(profile.positive)
    sounds = f"; {_yaml(profile.harm)} sounds like a harm" if profile.harm else ""
    trained = "true for rows that the base model was trained on"
    return f"""\
# fairpatch: what a run needs. Check every line that was guessed from {_yaml(data)}.
data: {_yaml(data)}
{_dialect(data)}\
# the outcome; leave it empty where there are none
label: {_yaml(profile.label)}
{_columns(profile)}\
decision:
{_entry("positive", positive, about)}\
  # never guessed: 1 where a high score is good for a person, 0 where it is bad for them{sounds}
  favourable: {'"?"' if favourable is None else favourable}
  # decision 1 is a {_what(profile)} above this{_at_half(profile)}: set it to your model's own
  threshold: {_threshold(profile)}
{_ties(profile)}{_no_score(profile)}{_unit(profile)}\
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
{_small(profile)}\
seed: 0
# all columns: {", ".join(map(_yaml, names[:60]))}
"""


NOTICED = {
    "person": "several rows of one person, it seems",
    "unknown": "values that read like nobody knows",
    "spellings": "a group that is written in several ways",
    "date": "when somebody was decided, it seems",
    "known": "kept from the patch, as it looks like filled after the decision",
}
"""What is said on the terminal of what was noticed and answered in the file."""


def _ties(profile: Profile) -> str:
    if profile.at_least is not None:
        why = f"as {_decided(profile)} says" if profile.decided else "as outcomes show"
        return f"""\
  # what is decided at exactly the threshold: true for 1, false for 0, {why}
  at_least: {str(profile.at_least).lower()}
"""
    if not profile.ties:
        return ""
    return f"""\
  # true where a score of exactly the threshold is decision 1 too, false where it is decision 0:
  # {profile.ties}
  at_least: "?"
"""


def _decided(profile: Profile) -> str:
    return next(iter(profile.decided), "")


def _no_score(profile: Profile) -> str:
    if profile.no_score is None:
        return ""
    return f"""\
  # {profile.why["no_score"]}: denied, if that was decided before anybody was scored;
  # left_out, if nobody has decided them yet
  no_score: {'"?"' if profile.no_score == "?" else profile.no_score}
"""


def _columns(profile: Profile) -> str:
    """What the columns are, where there is something to say."""
    why = profile.why
    said = (
        _outcomes(profile)
        + _entry("person", profile.person, f"whose row it is: {why.get('person')}")
        + _entry("date", profile.date, f"when somebody was decided: {why.get('date')}")
        + _of_values("decided", profile.decided, "decisions as they were made: the favourable one")
        + _of_values("unknown", profile.unknown, why.get("unknown", ""))
        + _of_values("spellings", profile.spellings, why.get("spellings", ""))
        + _of_values(
            "special", profile.special, "numbers that are no quantities: say what each means"
        )
        + _entry("weight", profile.weight, "what each row weighs")
        + _entry("key", profile.key, "tells people apart: those who weigh more are drawn by it")
        + _bands(profile)
    )
    return said and f"# what the columns are{NEW}columns:{NEW}{said}"


def _of_values(name: str, found: dict[str, Any], why: str) -> str:
    """A role that is said of a column's values, as JSON, which is YAML too."""
    import json

    if not found:
        return ""
    return f"  # {' '.join(why.split())}{NEW}  {name}: {json.dumps(found, ensure_ascii=False)}{NEW}"


def _outcomes(profile: Profile) -> str:
    if profile.outcomes is None:
        return ""
    return f"""\
  # whose outcome is known: that of the approved, of the approved and a sample of the denied, or
  # everybody's (some too young to have one). {profile.why_outcomes}
  outcomes: {'"?"' if profile.outcomes == "?" else profile.outcomes}
"""


def _threshold(profile: Profile) -> str:
    """As outcomes show it, or one half; "?" where it can hardly be that."""
    if profile.cuts is not None:
        column, cuts = profile.cuts
        shown = ", ".join(f"{_yaml(value)}: {cut:g}" for value, cut in cuts.items())
        return f"{{{_yaml(column)}: {{{shown}}}}}  # outcomes are known on one side of these"
    if profile.threshold is not None:
        return f"{profile.threshold:g}  # {profile.why_threshold}"
    return '"?"' if _hardly_any(profile) else "0.5"


def _hardly_any(profile: Profile) -> bool:
    """Whether one half is hardly a threshold: nearly all scores are on one side of it."""
    if profile.threshold is not None:
        return False
    if profile.points is not None:
        return True
    return profile.above is not None and not FEW <= profile.above <= 1 - FEW


def _what(profile: Profile) -> str:
    return "probability" if profile.points is None else "score"


def _at_half(profile: Profile) -> str:
    if profile.points is not None:
        low, high = profile.points
        return f"; most scores are from {low:.3g} to {high:.3g}"
    return "" if profile.above is None else f"; {profile.above:.1%} of the scores are above 0.5"


def _dialect(data: str) -> str:
    """How the text file is written, where that is not plain."""
    if Path(data).suffix.lower() not in tables.TEXTS:
        return ""
    found = tables.dialect_of(data)
    if not str(found):
        return ""
    entries = ", ".join(f"{name}: {_yaml(value)}" for name, value in found.said.items())
    return f"# how the file is written, as it was found{NEW}csv: {{{entries}}}{NEW}"


def _entry(name: str, value: str | None, why: str, before: str = "  ") -> str:
    return "" if value is None else f"{before}# {why}{NEW}{before}{name}: {_yaml(value)}{NEW}"


def _unit(profile: Profile) -> str:
    if profile.unit == "points":
        return """\
  # higher is better for a person where favourable is 1; how points go with odds is fitted to known
  # outcomes, unless you state it: points: {base: 600, odds: 30, double: 20}
  score_unit: points
"""
    if profile.unit != "percent":
        return ""
    why = "the score runs from 0 to 100; the threshold above is a probability all the same"
    return f"  # {why}{NEW}  score_unit: percent{NEW}"


def _bands(profile: Profile) -> str:
    if not profile.bands:
        return ""
    cut = ", ".join(f"{_yaml(name)}: {edges}" for name, edges in profile.bands.items())
    why = "sensitive numbers, by where one band ends and the next begins"
    return f"  # {why}{NEW}  bands: {{{cut}}}{NEW}"


def _small(profile: Profile) -> str:
    if not profile.small:
        return ""
    names = ", ".join(f"{_yaml(f)}: [{', '.join(map(_yaml, g))}]" for f, g in profile.small.items())
    return f"""\
  # too few people to show anything of them: the certificate names them; or merge them with others
  not_compared: {{{names}}}
"""


def _ages(profile: Profile) -> str:
    if not profile.ages:
        return ""
    cut = ", ".join(f"{_yaml(name)}: {edges}" for name, edges in profile.ages.items())
    return f"# an age may be one, too; then with bands in columns: {{{cut}}}{NEW}"


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
