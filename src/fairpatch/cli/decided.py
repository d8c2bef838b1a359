"""What decisions that were made tell of a table: its score, the threshold, ties, knock-outs.

Where a column holds them, hardly anything has to be asked: the score is the column that says them
best, and the threshold is where they change.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fairpatch.decision import Unit

SCORES = ("score", "prob", "p_hat", "probability", "pd", "p_default", "ausfallwahrscheinlichkeit",
          "wahrscheinlichkeit", "probabilité", "probabilidad")  # fmt: skip
POINTS = ("score", "points", "fico", "scorecard", "punkte", "scorewert", "punktzahl", "rating",
          "puntos", "puntaje", "scoring")  # fmt: skip
LOW_POINTS, HIGH_POINTS = 100, 10_000
"""A score in points goes beyond the first, and not beyond the second."""
NEARLY = 0.9
"""How well one threshold must part decisions that were made, some of them overrules."""
MANY_MISSING = 10
"""Rows without a score that are no accident."""
FEW_VALUES = 20
"""Different numbers: a score in points has more."""
CLEAN, CLEARLY = 0.995, 0.02
"""How few outcomes may be below a threshold; and how much better some must part people than one."""
PERCENT = 100


def find_decisions(guess: Any, frame: Any, names: list[str]) -> None:
    """The first column of two words, one of which approves and the other denies."""
    from fairpatch.inputs.vocabulary import DENIED, FAVOURED, says

    for name in names:
        column = frame[name].dropna()
        if column.dtype.kind != "O" or column.nunique() != 2:
            continue
        said = {str(v).casefold().strip(): v for v in column.unique().tolist()}
        bad = [v for s, v in said.items() if says(s, DENIED)]
        good = [v for s, v in said.items() if says(s, FAVOURED) and v not in bad]
        if len(good) == len(bad) == 1 and not _yes_no(said):
            guess.decided = {name: good[0]}
            return


def _yes_no(said: Iterable[str]) -> bool:
    """Whether two words answer any question at all."""
    return set(said) <= {"yes", "no", "y", "n", "ja", "nein", "oui", "non", "si", "sí", "nee", "ok"}


def choose_score(guess: Any, frame: Any, names: list[str]) -> None:
    """The column that says what was decided; else the likeliest by its name and values."""
    found = {}
    for name in names:
        known = frame[name].dropna()
        unit = _unit_of(name.lower(), known, known.dtype.kind)
        if unit is not None and name not in guess.decided:
            found[name] = unit
    if not found:
        return
    told = {name: _tells(guess, frame, name) for name in found}
    units = ("probability", "percent", "points")
    best = min(found, key=lambda n: (-round(told[n], 1), units.index(found[n])))
    guess.score, guess.unit = best, found[best]
    guess.other_scores = [name for name in found if name != best and told[best] < CLEAN - CLEARLY]


def _tells(guess: Any, frame: Any, name: str) -> float:
    """How well one threshold of a column parts the decisions that were made; 0 without any."""
    approved, values = _made(guess, frame, name)
    cut = None if approved is None else parting(values, approved)
    return 0.0 if cut is None else abs(apart(values > cut, approved))


def _made(guess: Any, frame: Any, name: str) -> tuple[Any, Any]:
    """Of people with a score and a decision: who was approved, and their scores."""
    for column, good in guess.decided.items():
        known = frame[[column, name]].dropna()
        if known[name].dtype.kind in "iuf" and len(known):
            return (known[column] == good).to_numpy(), known[name].to_numpy(float)
    return None, None


def by_decisions(guess: Any, frame: Any) -> None:
    """The threshold, what is decided at it and without a score, as decisions that were made say."""
    approved, values = _made(guess, frame, str(guess.score))
    missing = int(frame[guess.score].isna().sum())
    if missing >= MANY_MISSING:
        guess.no_score = "?"
        guess.why["no_score"] = f"{missing:,} of {len(frame):,} rows have no score"
    if approved is None:
        return
    ((column, good),) = guess.decided.items()
    if guess.no_score and not (frame.loc[frame[guess.score].isna(), column] == good).any():
        guess.no_score = "denied"
    cut = parting(values, approved)
    if cut is None or abs(apart(values > cut, approved)) < NEARLY:
        return
    scale = PERCENT if guess.unit == "percent" else 1
    cut, guess.at_least = with_ties(values, cut)
    guess.threshold = cut / scale
    guess.why_threshold = f"the decisions in {column} change here"


def with_ties(values: Any, cut: float) -> tuple[float, bool | None]:
    """The threshold as people write it, and whether a score of exactly it is above.

    Of coarse scores that change between 630 and 640, it is 640 or more.
    """
    above = float(values[values > cut].min())
    coarse = _digits(above) == _digits(cut) and (values == above).sum() >= MANY_MISSING
    if coarse or _digits(above) < _digits(cut):
        return above, True
    return cut, False if (values == cut).any() else None


def _digits(value: float) -> int:
    """How many digits it takes to write a number, zeros at its end left out."""
    return len(f"{value:.6g}".replace(".", "").rstrip("0").lstrip("0"))


def apart(above: Any, told: Any) -> float:
    """How much more often people with an outcome are above than people without."""
    return float(above[told].mean() - above[~told].mean())


def parting(values: Any, told: Any) -> float | None:
    """The roundest score that best parts people with a label from those without."""
    import numpy as np

    if told.all() or not told.any():
        return None
    cuts, at = np.unique(values, return_inverse=True)
    with_label, without = (
        np.bincount(at[who], minlength=len(cuts)).cumsum() for who in (told, ~told)
    )
    apart = np.abs(with_label / with_label[-1] - without / without[-1])[:-1]
    if not len(apart):
        return None
    k = int(apart.argmax())
    low, high = float(cuts[k]), float(cuts[k + 1])  # anything from low on, below high, parts alike
    for digits in range(-3, 12):
        step = 10.0**-digits
        rounded = round(np.ceil(low / step - 1e-9) * step, max(digits, 0))
        if low <= rounded < high:
            return float(rounded)
    return low


def _unit_of(lower: str, known: Any, kind: str) -> "Unit | None":
    """What the scores are in, if the name is a score's and the values may be; else None."""
    if kind not in "fiu" or not len(known) or known.min() < 0:
        return None
    if _named(lower, SCORES) and kind == "f" and known.max() <= 1:
        return "probability"
    if _named(lower, SCORES) and 1 < known.max() <= PERCENT:
        return "percent"
    many = known.nunique() > FEW_VALUES and LOW_POINTS < known.max() <= HIGH_POINTS
    return "points" if _named(lower, POINTS) and many else None


def _named(lower: str, words: tuple[str, ...]) -> bool:
    return any(lower == s or lower.startswith((s + "_", s + ".", s + " "))
               or lower.endswith(("_" + s, " " + s)) for s in words)  # fmt: skip
