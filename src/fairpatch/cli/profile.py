"""What the columns of a table seem to be for, from their names, types and values."""

import re
from dataclasses import dataclass, field
from typing import Any

from fairpatch.direction import harm_in

SENSITIVE = (
    "sex", "gender", "race", "ethnic", "religion", "disab", "marital", "nationality",
    "geschlecht", "herkunft", "nationalit", "staatsang", "behinder", "konfession", "familienstand",
    "sexe", "genre", "sexo", "genero", "género", "raza", "geslacht",
)  # fmt: skip
"""Beginnings of words in a name."""
GROUPS = ("group", "age_group", "age_band")
AGES = ("age", "alter", "age_years", "applicant_age", "edad", "leeftijd")
LABELS = ("y", "label", "target", "outcome", "default", "defaulted", "class", "repaid", "bad",
          "good", "approved", "hired", "churn", "fraud", "recid", "ausfall", "zurückgezahlt",
          "kündigung", "betrug", "impago")  # fmt: skip
SCORES = ("score", "prob", "p_hat", "probability", "pd", "p_default", "ausfallwahrscheinlichkeit",
          "wahrscheinlichkeit", "probabilité", "probabilidad")  # fmt: skip
WEIGHTS = ("weight", "weights", "sample_weight", "w", "wgt", "fnlwgt", "pweight", "gewicht",
           "hochrechnungsfaktor", "poids", "peso")  # fmt: skip
TRAINED = ("train", "is_train", "in_train", "trained_on")
CODES = ("code", "_cd", "zip", "postcode", "region", "branch", "district", "sector", "industry",
         "channel", "product", "plz", "postleitzahl", "filiale", "branche",
         "kennziffer")  # fmt: skip
YES = ("yes", "y", "true", "1", "bad", "default", "defaulted", "good", "approved", "repaid", "ja",
       "oui", "si", "sí", "schlecht", "ausfall")  # fmt: skip
KEY = "different for everybody, as a key is"
SEEN = 20_000
"""Rows that are looked at."""
FEW_VALUES, MANY_CODES = 20, 100
PERCENT = 100


@dataclass
class Profile:
    """The proposed roles, and what was seen of the others."""

    label: str = "?"
    labels: list[Any] = field(default_factory=list)
    positive: Any = None
    harm: str | None = None
    """A word of the label's that sounds like something bad for a person."""
    score: str | None = None
    percent: bool = False
    """Whether the score runs from 0 to 100."""
    above: float | None = None
    """The share of the scores that are above one half."""
    outcomes: str | None = None
    """Whose outcomes are known: "?" where that goes with the score, None where it does not."""
    why_outcomes: str = ""
    threshold: float | None = None
    """The score on one side of which outcomes are known, where there is one."""
    sensitive: list[str] = field(default_factory=list)
    bands: dict[str, list[float]] = field(default_factory=dict)
    ages: dict[str, list[float]] = field(default_factory=dict)
    """Ages, which may be sensitive or a feature: with bands, for the user to say."""
    exclude: dict[str, str] = field(default_factory=dict)
    ignore: dict[str, str] = field(default_factory=dict)
    categories: list[str] = field(default_factory=list)
    perhaps_codes: list[str] = field(default_factory=list)
    weight: str | None = None
    key: str | None = None
    """Whole numbers that tell people apart, where rows weigh differently: they are drawn by it."""
    trained: str | None = None


def profile(frame: Any, index: list[str], score: str | None = None) -> Profile:
    """Look at some rows of a table, a pandas frame; ``index`` are columns of a Parquet's index.

    ``score`` is its name where that is known.
    """
    guess = Profile(ignore=dict.fromkeys(index, "the index of the frame it was written from"))
    guess.score = score
    names = [name for name in frame.columns if name not in index]
    for name in (n for n in names if n != score):
        _role(guess, name, frame[name])
        _cut(guess, name, frame[name].dropna())
    if guess.label == "?":  # the only column of two values that nothing else is
        two = [n for n in names if n not in _taken(guess) and frame[n].nunique() == 2]
        guess.label = two[0] if len(two) == 1 else "?"
    if guess.label != "?":
        _of_label(guess, frame[guess.label])
    if guess.score is not None:
        _copies(guess, frame)
        guess.above = _above_half(frame[guess.score], percent=guess.percent)
        if guess.label != "?":
            _whose_outcomes(guess, frame[guess.score], frame[guess.label])
    if guess.weight is not None:
        keys = [n for n, why in guess.ignore.items() if why == KEY and frame[n].dtype.kind in "iu"]
        guess.key = keys[0] if len(keys) == 1 else None
        guess.ignore.pop(guess.key or "", None)
    return guess


def _role(guess: Profile, name: str, values: Any) -> None:
    from fairpatch.patch.columns import are_dates

    lower, known = name.lower(), values.dropna()
    distinct = known.nunique()
    kind = known.dtype.kind
    if guess.label == "?" and distinct == 2 and lower in LABELS:
        guess.label = name
    elif guess.score is None and (most := _is_score(lower, known, kind)):
        guess.score, guess.percent = name, most == PERCENT
    elif lower in WEIGHTS and kind in "iuf" and guess.weight is None:
        guess.weight = name
    elif lower in TRAINED and distinct <= 2:
        guess.trained = name
    elif _is_sensitive(lower) and (distinct <= 100 or kind in "iuf"):
        guess.sensitive.append(name)
    elif lower in AGES:
        guess.exclude[name] = "an age, protected in many places; or else name it as sensitive"
    elif kind == "M" or are_dates(known.head(50)):
        guess.exclude[name] = "a date"
    elif distinct <= 1:
        guess.ignore[name] = "the same for everybody"
    elif distinct == len(known) == len(values) and kind in "iuO" and _counts(known, kind):
        guess.ignore[name] = KEY
    elif kind == "O" and distinct > 0.3 * len(known) and distinct > 100:
        guess.exclude[name] = _no_numbers(known) or "text that nearly everybody has differently"
    elif kind in "iu":
        _code(guess, name, distinct)


def _no_numbers(known: Any) -> str | None:
    """Why a column of numbers is text, where a word such as n/a stands for a gap."""
    import pandas as pd

    texts = known[pd.to_numeric(known, errors="coerce").isna()]
    if len(texts) > 0.5 * len(known):
        return None
    word, odd = str(texts.mode().iloc[0])[:20], f"{len(texts):,} of {len(known):,}"
    return f"numbers, but {odd} are text such as {word!r}: leave those cells empty"


def _code(guess: Profile, name: str, distinct: int) -> None:
    """Whole numbers that name something rather than count it."""
    if any(word in name.lower() for word in CODES):
        if distinct <= MANY_CODES:
            guess.categories.append(name)
        else:
            guess.exclude[name] = f"a code of {distinct:,} values, no quantity"
    elif 2 < distinct <= FEW_VALUES:
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


def _is_score(lower: str, known: Any, kind: str) -> int:
    """Where the scores end, 1 or 100, if the name is a score's and the values may be; else 0."""
    named = any(lower == s or lower.startswith((s + "_", s + ".", s + " "))
                or lower.endswith(("_" + s, " " + s)) for s in SCORES)  # fmt: skip
    if not named or kind not in "fiu" or not len(known) or known.min() < 0:
        return 0
    if kind == "f" and known.max() <= 1:
        return 1
    return PERCENT if 1 < known.max() <= PERCENT else 0


def _above_half(scores: Any, *, percent: bool) -> float | None:
    known = scores.dropna()
    if known.dtype.kind not in "iuf" or not len(known):
        return None
    return float((known > (PERCENT / 2 if percent else 0.5)).mean())


def _whose_outcomes(guess: Profile, scores: Any, labels: Any) -> None:
    """Whether labels are missing on one side of the score, and from where on."""
    from fairpatch.measure.known import KnownLabels

    known = scores.notna()
    if scores.dtype.kind not in "iuf":
        return
    values, told = scores[known].to_numpy(float), labels[known].notna().to_numpy()
    cut = _parting(values, told)
    if cut is None:
        return
    above = values > cut
    shares = [float(told[side].mean()) for side in (above, ~above)]
    table = [float(v) for v in ((~above).sum(), above.sum(), told[~above].sum(), told[above].sum())]
    if not KnownLabels(*table).by_decision:
        return
    guess.outcomes = "?"
    guess.why_outcomes = (
        f"Of the people with a score above {cut:g}, {shares[0]:.0%} have one, of the others "
        f"{shares[1]:.0%}."
    )
    if max(shares) > 2 * min(shares):
        guess.threshold = cut / PERCENT if guess.percent else cut


def _parting(values: Any, told: Any) -> float | None:
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


def _copies(guess: Profile, frame: Any) -> None:
    """Columns that are the score once more, in another unit: no scorecard may read them."""
    from fairpatch.measure.telling import is_copy

    roles = (guess.score, guess.label, guess.weight)
    numbers = [n for n in frame.columns if n not in roles and frame[n].dtype.kind in "iuf"]
    for name in numbers:
        known = frame[[name, guess.score]].dropna()
        values, scores = known[name].to_numpy(), known[guess.score].to_numpy()
        if known.nunique().min() > FEW_VALUES and is_copy(values, scores):
            guess.ignore.pop(name, None)
            guess.exclude[name] = f"a copy of {guess.score}"


def _counts(known: Any, kind: str) -> bool:
    """Whole numbers in a row, or texts: a key. Measured numbers differ too, but are no key."""
    return kind == "O" or int(known.max() - known.min()) < 100 * len(known)


def _of_label(guess: Profile, values: Any) -> None:
    labels = sorted(values.dropna().unique().tolist(), key=str)
    guess.labels = labels
    if {str(v) for v in labels} - {"0", "1", "True", "False", "0.0", "1.0"}:
        good = [v for v in labels if str(v).lower() in YES]
        guess.positive = good[0] if good else "?"
    guess.harm = harm_in([guess.label, guess.positive if isinstance(guess.positive, str) else ""])


def _taken(guess: Profile) -> set[str]:
    lists = (*guess.sensitive, *guess.exclude, *guess.ignore, *guess.categories)
    return {*lists, *(n for n in (guess.score, guess.weight, guess.trained) if n)}
