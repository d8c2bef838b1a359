"""What the columns of a table seem to be for, from their names, types and values."""

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fairpatch.cli.decided import (
    CLEAN,
    CLEARLY,
    FEW_VALUES,
    PERCENT,
    apart,
    by_decisions,
    choose_score,
    find_decisions,
    parting,
    with_ties,
)
from fairpatch.inputs.vocabulary import harm_in

if TYPE_CHECKING:
    from fairpatch.decision import Unit

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
FEW_PRODUCTS = 12
"""Values of a column that may each have a threshold."""
WEIGHTS = ("weight", "weights", "sample_weight", "sampling_weight", "exposure", "w", "wgt",
           "fnlwgt", "pweight", "gewicht", "hochrechnungsfaktor", "poids", "peso")  # fmt: skip
TRAINED = ("train", "is_train", "in_train", "trained_on")
CODES = ("code", "_cd", "zip", "postcode", "region", "branch", "district", "sector", "industry",
         "channel", "product", "plz", "postleitzahl", "filiale", "branche",
         "kennziffer")  # fmt: skip
YES = ("yes", "y", "true", "1", "bad", "default", "defaulted", "good", "approved", "repaid", "ja",
       "oui", "si", "sí", "schlecht", "ausfall")  # fmt: skip
KEY = "different for everybody, as a key is"
SEEN = 20_000
"""Rows that are looked at."""
MANY_CODES = 100
FEW = 0.02
"""A model that approves fewer, or denies fewer, decides by another threshold."""


@dataclass
class Profile:
    """The proposed roles, and what was seen of the others."""

    label: str = "?"
    labels: list[Any] = field(default_factory=list)
    positive: Any = None
    harm: str | None = None
    """A word of the label's that sounds like something bad for a person."""
    score: str | None = None
    unit: "Unit" = "probability"
    above: float | None = None
    """The share of the scores that are above one half."""
    points: tuple[float, float] | None = None
    """From where to where most scores run, where they are points."""
    outcomes: str | None = None
    """Whose outcomes are known: "?" where that goes with the score, None where it does not."""
    why_outcomes: str = ""
    threshold: float | None = None
    """The score on one side of which outcomes are known, where there is one."""
    cuts: tuple[str, dict[Any, float]] | None = None
    """The same by the values of a column."""
    sensitive: list[str] = field(default_factory=list)
    small: dict[str, list[str]] = field(default_factory=dict)
    """Groups of so few people that nothing could be shown of them."""
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
    person: str | None = None
    date: str | None = None
    unknown: dict[str, list[Any]] = field(default_factory=dict)
    spellings: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    special: dict[str, dict[str, str]] = field(default_factory=dict)
    ties: str = ""
    """How many scores are exactly the threshold, where that is no accident."""
    at_least: bool | None = None
    """Whether those are decided as the ones above, where decisions say so."""
    decided: dict[str, Any] = field(default_factory=dict)
    """A column of decisions as they were made, and its favourable word."""
    why_threshold: str = "outcomes are known on one side of this"
    no_score: str | None = None
    """What becomes of people without a score, where there are any: "?" where nobody can tell."""
    other_scores: list[str] = field(default_factory=list)
    """Columns that may be the score instead."""
    why: dict[str, str] = field(default_factory=dict)
    """By role: what was seen, for a comment."""


def profile(
    frame: Any, index: list[str], score: str | None = None, favourable: int | None = None,
    *, label: str | None = None, asks: bool = False,
) -> Profile:  # fmt: skip
    """Look at some rows of a table, a pandas frame; ``index`` are columns of a Parquet's index.

    ``score`` and ``label`` are their names and ``favourable`` the good decision, where those are
    known. A fit whose score is known asks by itself what else is to be asked, unless ``asks``.
    """
    guess = Profile(ignore=dict.fromkeys(index, "the index of the frame it was written from"))
    guess.score = score
    names = [name for name in frame.columns if name not in index and name != label]
    find_decisions(guess, frame, [n for n in names if n.lower() not in LABELS])
    if score is None:
        choose_score(guess, frame, names)
    for name in (n for n in names if n != guess.score and n not in guess.decided):
        _role(guess, name, frame[name])
        _cut(guess, name, frame[name].dropna())
    if label is not None:
        guess.label, names = label, [*names, label]
    if guess.label == "?":  # the only column of two values that nothing else is
        two = [n for n in names if n not in _taken(guess) and frame[n].nunique() == 2]
        guess.label = two[0] if len(two) == 1 else "?"
    if guess.label != "?":
        _of_label(guess, frame[guess.label])
    if guess.score is not None:
        _copies(guess, frame)
        _of_score(guess, frame[guess.score].dropna())
        by_decisions(guess, frame)
        if guess.label != "?":
            _whose_outcomes(guess, frame)
    if score is None or asks:
        _noticed(guess, frame, names, favourable)
    if guess.weight is not None:
        keys = [n for n, why in guess.ignore.items() if why == KEY and frame[n].dtype.kind in "iu"]
        guess.key = keys[0] if len(keys) == 1 else None
        guess.ignore.pop(guess.key or "", None)
    guess.perhaps_codes = [n for n in guess.perhaps_codes if n not in _taken(guess)]
    return guess


def _noticed(guess: Profile, frame: Any, names: list[str], favourable: int | None) -> None:
    """What a fit would ask about, answered where the answer can be guessed."""
    from fairpatch.decision import Decision
    from fairpatch.inputs.notice import Question, Seen, questions_of, special_codes
    from fairpatch.inputs.roles import Roles

    taken = _taken(guess) | {guess.label}
    free = [n for n in names if n not in taken or n in guess.categories]
    groups = {name: frame[name].to_numpy(object) for name in guess.sensitive}
    approved, here = _decided(guess, frame, favourable)
    seen = Seen.of(
        frame[free], groups, approved=approved, label=_labels(guess, frame), at_threshold=here
    )
    known = {} if guess.at_least is None else {"at_least": guess.at_least}
    decision = Decision(score_unit=guess.unit, threshold=guess.threshold or 0.5, **known)
    asked: list[Question] = list(questions_of(seen, Roles(), decision))
    for q in asked:
        before = guess.why.get(q.role)
        guess.why[q.role] = q.seen if before is None else f"{before}; {q.seen}"
        if q.role == "at_least":
            guess.ties = q.seen
        elif q.role in ("unknown", "spellings"):
            getattr(guess, q.role)[q.column] = q.proposed
        elif q.role == "person" or (q.role == "date" and guess.date is None):
            setattr(guess, q.role, q.column)
        elif q.role == "date":
            guess.exclude[q.column] = f"{q.seen}: it means another thing later"
        else:
            guess.exclude[q.column] = f"{q.seen}: was it known when people were decided?"
    _protected(guess, free)
    for name in (n for n in free if n not in _taken(guess) and frame[n].dtype.kind in "iuf"):
        codes = special_codes(frame[name].to_numpy(float))
        if codes:
            guess.special[name] = {str(code): "" for code in codes}
    guess.categories = [n for n in guess.categories if n not in guess.exclude]


def small_groups(guess: Profile, frame: Any, people: int, favourable: int | None) -> None:
    """Sensitive values too few to judge by a P-Rule of 0.8, where two others are not."""
    import numpy as np

    from fairpatch._tools.smallest_count import MIN_PEOPLE
    from fairpatch.choose.small_groups import enough_for_ratio
    from fairpatch.data.rows import shares_for
    from fairpatch.measure.groups import Groups

    approved, _ = _decided(guess, frame, favourable)
    p = 0.5 if approved is None else min(max(float(approved.mean()), FEW), 1 - FEW)
    enough = enough_for_ratio(p, 0.8, 0.95) / shares_for(people)[2]
    for name in (n for n in guess.sensitive if n not in guess.bands):
        unknown = {str(v) for v in guess.unknown.get(name, [])}
        groups = Groups.of({name: frame[name].to_numpy(object)}).without({name: unknown})
        sizes = np.bincount(groups.codes[groups.codes >= 0]) * people / max(len(frame), 1)
        pairs = list(zip(map(str, groups.values[0]), sizes, strict=True))
        small = [value for value, size in pairs if MIN_PEOPLE <= size < enough]
        if small and sum(size >= enough for _, size in pairs) >= 2:
            guess.small[name] = small


def _protected(guess: Profile, names: list[str]) -> None:
    """Columns whose names say a protected basis are not read, unless somebody gives a reason."""
    from fairpatch.inputs.vocabulary import is_protected

    for name in names:
        if is_protected(name) and name not in guess.exclude and name != guess.person:
            guess.exclude[name] = (
                "a protected basis by its name, or as good as one; to use it, say why in reasons"
            )


def _decided(guess: Profile, frame: Any, favourable: int | None) -> tuple[Any, Any]:
    """Whom the score favours, and whose is exactly the threshold; None where that is not known."""
    if guess.score is None or frame[guess.score].dtype.kind not in "iuf":
        return None, None
    scores = frame[guess.score].to_numpy(float)
    scale = PERCENT if guess.unit == "percent" else 1
    if guess.cuts is not None:
        column, cuts = guess.cuts
        at = frame[column].map(cuts).to_numpy(float) * scale
    elif guess.threshold is not None:
        at = guess.threshold * scale
    elif guess.unit != "points" and guess.above is not None and FEW < guess.above < 1 - FEW:
        at = 0.5 * scale
    else:
        return None, None
    above, good = scores > at, favourable if favourable is not None else int(not guess.harm)
    return (above if good else ~above), scores == at


def _labels(guess: Profile, frame: Any) -> Any:
    """1 for one label, 0 for the other: which of them is good makes no difference here."""
    if len(guess.labels) != 2 or guess.label not in frame:
        return None
    return frame[guess.label].map({guess.labels[0]: 0.0, guess.labels[1]: 1.0}).to_numpy(float)


def _role(guess: Profile, name: str, values: Any) -> None:
    from fairpatch.patch.columns import are_dates

    lower, known = name.lower(), values.dropna()
    distinct = known.nunique()
    kind = known.dtype.kind
    if guess.label == "?" and distinct == 2 and lower in LABELS:
        guess.label = name
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
    from fairpatch.inputs.notice import special_codes
    from fairpatch.inputs.roles import proposed
    from fairpatch.measure.groups import MAX_NUMBERS

    wanted = name in guess.sensitive or name.lower() in AGES
    if wanted and known.dtype.kind in "iuf" and known.nunique() > MAX_NUMBERS:
        found = guess.bands if name in guess.sensitive else guess.ages
        codes = special_codes(known.to_numpy(float))
        found[name] = proposed([v for v in known.unique().tolist() if v not in codes])
        if codes and name in guess.sensitive:
            guess.unknown[name] = codes
            told = f"{name!r} has {' and '.join(map(str, codes))}, far from all others"
            guess.why["unknown"] = "; ".join(filter(None, (guess.why.get("unknown"), told)))


def _is_sensitive(lower: str) -> bool:
    words = re.split(r"[^a-z]+", lower)
    return lower in GROUPS or any(word.startswith(SENSITIVE) for word in words)


def _of_score(guess: Profile, known: Any) -> None:
    if known.dtype.kind not in "iuf" or not len(known):
        return
    if guess.unit == "points":
        guess.points = (float(known.quantile(0.01)), float(known.quantile(0.99)))
        return
    guess.above = float((known > (PERCENT / 2 if guess.unit == "percent" else 0.5)).mean())


def _whose_outcomes(guess: Profile, frame: Any) -> None:
    """Whether labels are missing on one side of the score, and from where on."""
    from fairpatch.measure.labels import KnownLabels

    scores, labels = frame[guess.score], frame[guess.label]
    known = scores.notna()
    if scores.dtype.kind not in "iuf":
        return
    values, told = scores[known].to_numpy(float), labels[known].notna().to_numpy()
    cut = parting(values, told)
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
    if max(shares) <= 2 * min(shares) or guess.threshold is not None:
        return
    scale = PERCENT if guess.unit == "percent" else 1
    cut, guess.at_least = with_ties(values, cut)
    guess.threshold = cut / scale
    guess.why_threshold = "outcomes are known on one side of this"
    guess.cuts = _cuts(guess, frame[known], values, told, scale)
    if guess.cuts is not None:  # each is the highest score without an outcome
        guess.at_least = None


def _cuts(
    guess: Profile, frame: Any, values: Any, told: Any, scale: float
) -> tuple[str, dict[Any, float]] | None:
    """A column of few values whose own thresholds part people clearly better than one for all."""
    import numpy as np

    cut = parting(values, told)
    best: tuple[str, dict[Any, float]] | None = None
    most = CLEARLY + (0.0 if cut is None else apart(values > cut, told))
    taken = {guess.label, guess.score, *guess.sensitive}
    for name in frame.columns:
        column = frame[name]
        if name in taken or column.isna().any() or not 2 <= column.nunique() <= FEW_PRODUCTS:
            continue
        own = np.full(len(values), np.nan)
        found: dict[Any, float] = {}
        for value in sorted(column.unique().tolist(), key=str):
            here = (column == value).to_numpy()
            its = parting(values[here], told[here])
            own[here] = np.nan if its is None else its
            found[value] = own[here][0] / scale
        above = values > own
        if np.isnan(own).any() or above[told].mean() < CLEAN:
            continue
        if (own_apart := apart(above, told)) > most:
            best, most = (name, found), own_apart
    return best


def _copies(guess: Profile, frame: Any) -> None:
    """Columns that are the score once more, in another unit: no scorecard may read them."""
    from fairpatch.measure.scores import is_copy

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
    one = (
        guess.score, guess.weight, guess.trained, guess.person, guess.date, *guess.decided,
    )  # fmt: skip
    return {*lists, *(n for n in one if n)}
