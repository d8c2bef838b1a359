"""What the columns of a table seem to be for, from their names, types and values."""

import re
from dataclasses import dataclass, field
from typing import Any

SENSITIVE = ("sex", "gender", "race", "ethnic", "religion", "disab", "marital", "nationality")
"""Beginnings of words in a name."""
GROUPS = ("group", "age_group", "age_band")
AGES = ("age", "alter", "age_years", "applicant_age")
LABELS = ("y", "label", "target", "outcome", "default", "defaulted", "class", "repaid", "bad",
          "good", "approved", "hired", "churn", "fraud", "recid")  # fmt: skip
SCORES = ("score", "prob", "p_hat", "probability", "pd", "p_default")
WEIGHTS = ("weight", "weights", "sample_weight", "w", "wgt", "fnlwgt", "pweight")
TRAINED = ("train", "is_train", "in_train", "trained_on")
CODES = ("code", "_cd", "zip", "postcode", "region", "branch", "district", "sector", "industry",
         "channel", "product")  # fmt: skip
YES = ("yes", "y", "true", "1", "bad", "default", "defaulted", "good", "approved", "repaid")
HARMS = ("default", "bad", "fraud", "recid", "arrest", "churn", "late", "arrears", "reject")
FEW_VALUES = 20


@dataclass
class Profile:
    """The proposed roles, and what was seen of the others."""

    label: str = "?"
    labels: list[Any] = field(default_factory=list)
    positive: Any = None
    favourable: int = 1
    score: str | None = None
    sensitive: list[str] = field(default_factory=list)
    bands: dict[str, list[float]] = field(default_factory=dict)
    ages: dict[str, list[float]] = field(default_factory=dict)
    """Ages, which may be sensitive or a feature: with bands, for the user to say."""
    exclude: dict[str, str] = field(default_factory=dict)
    ignore: dict[str, str] = field(default_factory=dict)
    categories: list[str] = field(default_factory=list)
    perhaps_codes: list[str] = field(default_factory=list)
    weight: str | None = None
    trained: str | None = None


def profile(frame: Any, index: list[str]) -> Profile:
    """Look at some rows of a table, a pandas frame; ``index`` are columns of a Parquet's index."""
    guess = Profile(ignore=dict.fromkeys(index, "the index of the frame it was written from"))
    names = [name for name in frame.columns if name not in index]
    for name in names:
        _role(guess, name, frame[name])
        _cut(guess, name, frame[name].dropna())
    if guess.label == "?":  # the only column of two values that nothing else is
        two = [n for n in names if n not in _taken(guess) and frame[n].nunique() == 2]
        guess.label = two[0] if len(two) == 1 else "?"
    if guess.label != "?":
        _of_label(guess, frame[guess.label])
    return guess


def _role(guess: Profile, name: str, values: Any) -> None:
    from fairpatch.patch.columns import are_dates

    lower, known = name.lower(), values.dropna()
    distinct = known.nunique()
    kind = known.dtype.kind
    if guess.label == "?" and distinct == 2 and lower in LABELS:
        guess.label = name
    elif _is_score(lower, known, kind) and guess.score is None:
        guess.score = name
    elif lower in WEIGHTS and kind in "iuf" and guess.weight is None:
        guess.weight = name
    elif lower in TRAINED and distinct <= 2:
        guess.trained = name
    elif _is_sensitive(lower) and (distinct <= 100 or kind in "iuf"):
        guess.sensitive.append(name)
    elif kind == "M" or are_dates(known.head(50)):
        guess.exclude[name] = "a date"
    elif distinct <= 1:
        guess.ignore[name] = "the same for everybody"
    elif distinct == len(known) == len(values) and kind in "iuO" and _counts(known, kind):
        guess.ignore[name] = "different for everybody, as a key is"
    elif kind == "O" and distinct > 0.3 * len(known) and distinct > 100:
        guess.exclude[name] = "text that nearly everybody has differently"
    elif kind in "iu" and distinct <= 100 and any(word in lower for word in CODES):
        guess.categories.append(name)
    elif kind in "iu" and 2 < distinct <= FEW_VALUES:
        guess.perhaps_codes.append(name)


def _cut(guess: Profile, name: str, known: Any) -> None:
    """Bands for a number that is sensitive, or an age."""
    from fairpatch.measure.groups import MAX_NUMBERS
    from fairpatch.sensitive import proposed

    wanted = name in guess.sensitive or name.lower() in AGES
    if wanted and known.dtype.kind in "iuf" and known.nunique() > MAX_NUMBERS:
        found = guess.bands if name in guess.sensitive else guess.ages
        found[name] = proposed(known.unique().tolist())


def _is_sensitive(lower: str) -> bool:
    words = re.split(r"[^a-z]+", lower)
    return lower in GROUPS or any(word.startswith(SENSITIVE) for word in words)


def _is_score(lower: str, known: Any, kind: str) -> bool:
    named = any(lower == s or lower.startswith((s + "_", s + ".")) or lower.endswith("_" + s)
                for s in SCORES)  # fmt: skip
    return named and kind == "f" and len(known) > 0 and known.min() >= 0 and known.max() <= 1


def _counts(known: Any, kind: str) -> bool:
    """Whole numbers in a row, or texts: a key. Measured numbers differ too, but are no key."""
    return kind == "O" or int(known.max() - known.min()) < 100 * len(known)


def _of_label(guess: Profile, values: Any) -> None:
    labels = sorted(values.dropna().unique().tolist(), key=str)
    guess.labels = labels
    if {str(v) for v in labels} - {"0", "1", "True", "False", "0.0", "1.0"}:
        good = [v for v in labels if str(v).lower() in YES]
        guess.positive = good[0] if good else "?"
    words = f"{guess.label} {guess.positive if isinstance(guess.positive, str) else ''}".lower()
    guess.favourable = 0 if any(word in words for word in HARMS) else 1


def _taken(guess: Profile) -> set[str]:
    lists = (*guess.sensitive, *guess.exclude, *guess.ignore, *guess.categories)
    return {*lists, *(n for n in (guess.score, guess.weight, guess.trained) if n)}
