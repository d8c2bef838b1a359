"""What the user asks for: what must hold, and how much may change. No lambda in sight."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from inspect import Parameter, Signature
from math import inf
from typing import Any, Literal, NamedTuple, get_type_hints

from fairpatch._tools import checks as check
from fairpatch._tools.arrays import Bools, Floats
from fairpatch._tools.hints import did_you_mean
from fairpatch.data.outcomes import Costs
from fairpatch.decision import Decision
from fairpatch.measure.cells import DIRECTIONS, Direction
from fairpatch.measure.comparisons import Comparisons, How
from fairpatch.measure.counts import Counts
from fairpatch.measure.metric import CHANGES, METRICS, ChangedDecisions, Fairness, Metric, Steps
from fairpatch.measure.places import Places
from fairpatch.measure.scores import ANY
from fairpatch.patch.parts import Lock
from fairpatch.patch.terms import locks_of

Action = Literal["decide", "refer"]
MOST_CHANGES = 0.5
"""Of all decisions: what changes more is another model."""


@dataclass(frozen=True)
class Requirement:
    """One thing that must hold."""

    metric: Metric | ChangedDecisions | Places
    limit: float

    def __post_init__(self) -> None:
        rates = self.metric.rates if isinstance(self.metric, Metric) else ()
        for among in (rate("g").among for rate in rates):
            if (among != among[:, :1, :1]).any():
                raise ValueError(
                    f"{self.name}: a target's rates are among people whom no decision chooses; "
                    "among those with the same decision, changes change who is compared"
                )

    @property
    def name(self) -> str:
        """Its metric's name."""
        return self.metric.name

    @property
    def between_groups(self) -> bool:
        """Whether it must hold for every sensitive feature; otherwise it is about everybody."""
        return isinstance(self.metric, Metric)

    def met(self, values: Floats) -> Bools:
        """Whether values of its metric keep the limit; not where they are undefined."""
        return self.metric.met(values, self.limit)  # type: ignore[no-any-return]

    def along(self, steps: Steps) -> Floats:
        """Its metric at every step of a dial."""
        return self.metric.along(steps)

    def __str__(self) -> str:
        if isinstance(self.metric, Places):
            return self.metric.said(self.limit)
        return f"{self.metric.words} {self.metric.side} {self.limit:g}"


@dataclass(frozen=True, init=False, repr=False)
class Target:
    """What must hold for the patched model.

    *What must hold* is said by a limit on a metric, ``approvals``, ``confidence`` and
    ``safety_margin``; *who is compared with whom* by ``reference``, ``within``, ``strata`` and
    ``where``; *what may change* by all that follows.

    Parameters
    ----------
    p_rule : float, optional
        Lowest group's approval rate over the highest group's, at least.
    demographic_parity_difference : float, optional
        Difference between the groups' approval rates, at most.
    equal_opportunity_difference : float, optional
        Difference between their true positive rates, at most.
    predictive_equality_difference : float, optional
        Difference between their false positive rates, at most.
    disparate_mistreatment : float, optional
        The sum of these two differences, at most. With several sensitive features, every one of
        them must meet every limit. ``fairpatch.measure.METRICS`` has all metrics.
    approvals : "keep", rate, range or places, optional
        How many may be approved, where places are limited: as many as the base model approves; a
        rate; two rates; or ``{"number": 450, "of": 1000}`` places among applicants. Then who gains
        an approval takes another one's place. To keep it, a rate may be missed by two points.
        ``{"by": "requisition"}``: in every batch as many as before, or ``"number"`` of them, a
        column's name too; the target holds for the decisions that are left when they are filled.
    confidence : float
        Level of the certificate.
    safety_margin : float
        How many standard errors inside the limits the choice must lie: with 0 about half of all
        patches miss a limit by a little on new people, with 1 about one in six.
    reference : group, or a group by feature, optional
        Compare each group with this one, and no other pair: ``"White"``, ``{"race": "White"}``.
    within : column or columns, optional
        Compare groups within each of their values: within a product, a region, a job.
    strata : {"each", "standardised"}
        With ``within``: the limits hold in every stratum that has enough people of two groups; or
        for rates that are standardised over all of them, every group with everybody's mix.
    where : mapping of columns, optional
        The rows that the target is about, as ``locked`` names rows: ``{"location": "NYC"}``. The
        patch is learned, certified and applied there alone; nobody else's decision changes.
    not_compared : mapping of sensitive features, optional
        Groups that are left out of every comparison, as too few people to show anything of or no
        group at all: ``{"race": ["Other"]}``. The certificate says so.
    max_changes : float, optional
        Share of decisions that may change, at most; half of them where this is not given, as what
        reverses most decisions is a different model, not a patch.
    max_columns : int, optional
        Columns that the patch may use, at most; a scorecard uses six where this is not given.
    reads : columns, optional
        The only columns that the patch may read.
    max_proxy : float, optional
        How well the points may tell a group from the others, at most, as an AUC: 0.5 is not at
        all. Columns that tell most are left out of a scorecard until it is kept.
    only_between : two scores, optional
        Close calls only: where the base model's score lies outside, no decision changes.
    locked : mapping of columns, optional
        Rows whose decision is a matter of policy and never changes, by a column's value, values, or
        range: ``{"knock_out": "yes", "amount": {"at_least": 50_000}}``. Any one is enough.
    direction : {"both", "promote_only", "demote_only"}
        Which decisions may change.
    action : {"decide", "refer"}
        Whether the patch changes decisions itself, or refers people to a person who does: a second
        look, which takes nothing away. ``max_changes`` is then the share that can be looked at,
        and the certificate says which share of them must be approved for the target to hold.
    price_per_change : float
        Among patches that meet the target: how many wrong decisions one changed decision is worth.
        1 weighs them alike; 0 asks for the most accurate patch, infinity for the fewest changes.
    costs : dict, optional
        What decisions cost, in place of plain accuracy: ``{"wrong_approval": 5, "wrong_refusal":
        1, "change": 1}``, each a number or a column of the table. Prices are then in that unit.
    max_churn : float, optional
        In a refit, the share of decisions that may differ from those of the previous model.

    Examples
    --------
    >>> print(Target(p_rule=0.8, max_changes=0.1))
    P-Rule at least 0.8, changed decisions at most 0.1
    >>> Target(p_rule=0.8).replace(direction="promote_only")
    Target(p_rule=0.8, direction='promote_only')
    """

    requirements: tuple[Requirement, ...]
    """Everything that was asked for."""
    approvals: str | float | tuple[float, float] | dict[str, int | str] | None = field(
        default=None, hash=False
    )
    confidence: float = 0.95
    safety_margin: float = 0.0
    reference: str | int | float | bool | dict[str, Any] | None = field(default=None, hash=False)
    within: str | tuple[str, ...] | None = None
    strata: How = "each"
    where: dict[str, Any] | None = field(default=None, hash=False)
    not_compared: dict[str, Any] | None = field(default=None, hash=False)
    max_columns: int | None = None
    reads: tuple[str, ...] | None = None
    max_proxy: float | None = None
    only_between: tuple[float, float] | None = None
    locked: dict[str, Any] | None = field(default=None, hash=False)
    direction: Direction = "both"
    action: Action = "decide"
    price_per_change: float = 1.0
    costs: dict[str, float | str] | None = field(default=None, hash=False)
    max_churn: float | None = None

    def __init__(self, **options: Any) -> None:
        for name in options:
            if name.startswith(NOT_OFFERED):
                raise TypeError(f"{name} is not offered: {WHY_NOT}")
            if name not in OPTIONS:
                ours = ELSEWHERE.get(name) or GONE.get(name, ("", None))[0]
                hint = f". Here it is {ours}" if ours else did_you_mean(name, OPTIONS)
                raise TypeError(f"a target takes {', '.join(OPTIONS)}; got {name!r}{hint}")
        values = {name: options.get(name, option.default) for name, option in OPTIONS.items()}
        requirements = [
            Requirement(metric, values[metric.name])
            for metric in (*METRICS, CHANGES)
            if values[metric.name] is not None
        ]
        if not any(requirement.between_groups for requirement in requirements):
            names = [metric.name for metric in METRICS]
            raise ValueError(f"a target needs {', '.join(names[:-1])} or {names[-1]}")
        for requirement in requirements:
            check.number(requirement.name, requirement.limit, 0, requirement.metric.highest)
        check_options(values)
        if values["action"] == "refer" and values["direction"] == "both":
            values["direction"] = "promote_only"
        if values["approvals"] is not None:
            places = places_of(values)
            requirements.append(Requirement(places, places.high))
        if isinstance(values["within"], list):
            values["within"] = tuple(values["within"])
        for name in ("reads", "only_between"):
            values[name] = None if values[name] is None else tuple(values[name])
        if values["not_compared"]:
            given = values["not_compared"].items()
            values["not_compared"] = {f: (g,) if isinstance(g, str) else tuple(g) for f, g in given}
        for name in ("locked", "where", "not_compared"):
            values[name] = dict(values[name]) if values[name] else None
        values["costs"] = dict(values["costs"]) if values["costs"] is not None else None
        object.__setattr__(self, "requirements", tuple(requirements))
        for name in OPTIONS.keys() - set(LIMITS):
            object.__setattr__(self, name, values[name])

    def __getattr__(self, name: str) -> float | None:
        """A limit by its metric's name; None where it was not asked for."""
        if name in LIMITS:
            return next((r.limit for r in self.requirements if r.name == name), None)
        raise AttributeError(f"Target has no attribute {name!r}")

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002 scikit-learn's
        """Everything that can be set, as scikit-learn asks for it."""
        return {name: getattr(self, name) for name in OPTIONS}

    def replace(self, **changes: Any) -> "Target":
        """Change some of it.

        Parameters
        ----------
        **changes
            Options as of ``Target``.

        Returns
        -------
        Target
            A new one; this one stays as it is.
        """
        return Target(**{**self.get_params(), **changes})

    @property
    def comparisons(self) -> Comparisons | None:
        """Who is compared with whom, where that is not everybody with everybody."""
        if self.within is None and self.reference is None:
            return None
        return Comparisons.of(self.within, self.strata, self.reference)

    def compare(self, counts: Counts, *, least: int = 0) -> dict[str, Counts]:
        """The tables that the limits are about, by name: of a feature, or of it in a stratum.

        Groups of fewer than ``least`` people are left out, as long as two others are there.
        """
        counts = counts.without(self.not_compared or {})
        if self.comparisons is not None:
            return self.comparisons.compare(counts)
        return {feature: judgeable(counts.by(feature), least) for feature in counts.features}

    @property
    def fewest(self) -> bool:
        """Whether it asks for the fewest changes, whatever else they bring."""
        return self.price_per_change == inf

    @property
    def priced_by(self) -> Costs | None:
        """What decisions cost, where that was said."""
        return None if self.costs is None else Costs.of(self.costs)

    @property
    def places(self) -> Places | None:
        """How many may be approved, where that is limited."""
        return next((r.metric for r in self.requirements if isinstance(r.metric, Places)), None)

    @property
    def locks(self) -> tuple[Lock, ...]:
        """Whose decisions are a matter of policy."""
        return (*locks_of(self.locked or {}), *self.scope)

    @property
    def scope(self) -> tuple[Lock, ...]:
        """The rows that it is about, as locks of all others."""
        return locks_of(self.where or {}, unless=True)

    @property
    def fairness_requirements(self) -> list[Requirement]:
        """Those on the groups."""
        return [r for r in self.requirements if r.between_groups]

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """What is compared between the groups."""
        return tuple(r.metric for r in self.requirements if isinstance(r.metric, Metric))

    @property
    def most_changes(self) -> float:
        """The share of decisions that may change, whether or not it was given."""
        return MOST_CHANGES if self.max_changes is None else self.max_changes

    @property
    def given_y(self) -> bool:
        """Whether some metric looks at labels; a P-Rule needs none."""
        return any(metric.given_y for metric in self.metrics)

    @property
    def fairness(self) -> Fairness:
        """What the training works towards: parity, unless some limit is given y and no ratio is."""
        ratio = any(metric.at_least for metric in self.metrics)
        return "equalized_odds" if self.given_y and not ratio else "demographic_parity"

    def inside(self, margin: float) -> "Target":
        """The same target with its fairness limits moved inwards, never quite to their ends."""
        moved = {
            r.name: r.metric.inside(r.limit, margin)
            for r in self.requirements
            if isinstance(r.metric, Metric)
        }
        return self.replace(**moved)

    def __str__(self) -> str:
        text = ", ".join(map(str, self.requirements))
        if self.max_columns is not None:
            text += f", at most {self.max_columns} columns"
        if self.only_between is not None:
            text += f", only scores from {self.only_between[0]:g} to {self.only_between[1]:g}"
        if self.comparisons is not None:
            text += f", {self.comparisons}"
        if self.not_compared:
            names = (f"{', '.join(map(str, g))} ({f})" for f, g in self.not_compared.items())
            text += f", without {' and '.join(names)}"
        if self.action == "refer":
            text += ", by a second look"
        if self.priced_by is not None:
            text += f", {self.priced_by}"
        if self.locked:
            text += f", locked where {' or '.join(map(str, locks_of(self.locked)))}"
        if self.scope:
            inside = (str(lock).removeprefix("unless ") for lock in self.scope)
            text += f", where {' and '.join(inside)}"
        return (
            text
            if self.max_proxy is None
            else f"{text}, AUC for a group at most {self.max_proxy:g}"
        )

    def __repr__(self) -> str:
        given = {k: v for k, v in self.get_params().items() if v != OPTIONS[k].default}
        return f"Target({', '.join(f'{k}={v!r}' for k, v in given.items())})"


ELSEWHERE = {
    "equalized_odds_difference": "disparate_mistreatment, the sum of both gaps",
    "demographic_parity_ratio": "p_rule",
    "disparate_impact": "p_rule",
    "statistical_parity_difference": "demographic_parity_difference",
    "true_positive_rate_difference": "equal_opportunity_difference",
    "false_positive_rate_difference": "predictive_equality_difference",
}
"""What other libraries call our metrics."""
NOT_OFFERED = ("predictive_parity", "positive_predictive", "ppv_", "calibration")
WHY_NOT = (
    "it compares people with the same decision, so whoever changes a decision changes who is "
    "compared, and no dial meets it. Ask for rates among everybody (p_rule) or among people with "
    "the same outcome (equal_opportunity_difference); the review shows how the newly approved turn "
    "out by group"
)
GONE = {
    "prefer": ("price_per_change: 0 for accuracy, infinity for the fewest changes", None),
    "price_per_churn": ("max_churn, a limit; one decision that differs is worth one error", 1.0),
    "max_extra_changes": ("max_changes, a limit on all of them", None),
    "close_calls": ("keep_order of Card, and only_between", 1.0),
    "max_displacement": ("max_changes and only_between; the review shows the displacement", None),
}
"""Options of version 0.1: what serves instead, and what they were where nobody gave them."""
LIMITS = (*(metric.name for metric in METRICS), CHANGES.name)


class TargetOption(NamedTuple):
    """An option of a target: its type and default, said once."""

    annotation: Any
    default: Any
    text: str = ""


def _options() -> dict[str, TargetOption]:
    """A limit for every metric, then the fields of the class."""
    hints = get_type_hints(Target)
    options = {
        m.name: TargetOption(float | None, None, f"{m.title}, {m.side} this") for m in METRICS
    }
    options[CHANGES.name] = TargetOption(
        float | None, None, "share of decisions that may change, at most"
    )
    for option in fields(Target):
        if option.name != "requirements":
            options[option.name] = TargetOption(hints[option.name], option.default)
    return options


OPTIONS = _options()
"""Everything a target takes, for ``help``, the command line and ``fairpatch.yaml``."""
# What help() and editors show: the metrics by their names.
Target.__signature__ = Signature(  # type: ignore[attr-defined]
    [
        Parameter(name, Parameter.KEYWORD_ONLY, default=o.default, annotation=o.annotation)
        for name, o in OPTIONS.items()
    ]
)


def check_options(values: dict[str, Any]) -> None:
    """Say which option is wrong, what was expected and what came."""
    if values["max_churn"] is not None:
        check.number("max_churn", values["max_churn"], 0, 1)
    if values["max_columns"] is not None:
        check.whole("max_columns", values["max_columns"], 1)
    check.one_of("direction", values["direction"], DIRECTIONS)
    check.one_of("action", values["action"], ("decide", "refer"))
    if values["action"] == "refer" and values["direction"] == "demote_only":
        raise ValueError(
            "a second look takes nothing away: with action='refer', direction must be "
            "'promote_only'"
        )
    confidence = values["confidence"]
    if not isinstance(confidence, check.NUMBERS) or not 0.5 < confidence < 1:
        raise ValueError(f"confidence must be above 0.5 and below 1; got {confidence!r}")
    if values["price_per_change"] != inf:
        check.number("price_per_change", values["price_per_change"], 0)
    check.number("safety_margin", values["safety_margin"], 0)
    if values["max_proxy"] is not None:
        check.number("max_proxy", values["max_proxy"], 0.5, 1.0)
    if values["reads"] is not None:
        check.names("reads", values["reads"])
    if values["only_between"] is not None:
        _check_between(values["only_between"])
    if values["not_compared"] is not None:
        _check_not_compared(values["not_compared"])
    locks_of(values["locked"] or {})
    locks_of(values["where"] or {}, unless=True)
    if values["costs"] is not None:
        Costs.of(values["costs"])
    Comparisons.of(values["within"], values["strata"], values["reference"])
    if values["within"] is None and values["strata"] != "each":
        raise ValueError("strata says how groups are compared within some columns: give within")


def places_of(values: dict[str, Any]) -> Places:
    """What approvals asks for; one way only, their number cannot be kept."""
    places = Places.of(values["approvals"])
    if places.kept and values["direction"] != "both":
        raise ValueError(
            "approvals='keep' means that whoever gains an approval takes another one's place: "
            f"direction must be 'both'; got {values['direction']!r}"
        )
    return places


def _check_between(value: Any) -> None:
    """Two scores, the lower first; of what unit, the decision says."""
    pair = tuple(value) if isinstance(value, list | tuple) else ()
    numbers = all(isinstance(v, check.NUMBERS) and not isinstance(v, bool) for v in pair)
    if len(pair) != 2 or not numbers or not pair[0] < pair[1]:
        raise ValueError(
            f"only_between must be two scores, the lower first, as (0.1, 0.9); got {value!r}"
        )


def _check_not_compared(value: Any) -> None:
    """Groups by sensitive feature, one name or several."""
    lists = isinstance(value, Mapping) and all(
        isinstance(g, str) or (isinstance(g, list | tuple) and g) for g in value.values()
    )
    if not lists:
        raise ValueError(
            "not_compared must name groups by their sensitive feature, as {'race': ['Other']}; got "
            f"{value!r}"
        )


def check_scores(only_between: tuple[float, float] | None, decision: Decision) -> None:
    """Refuse scores that this decision's are not: probabilities are from 0 to 1."""
    if only_between is None or only_between == ANY:
        return
    low, high = only_between
    relative = decision.cuts is not None  # then both are distances from each threshold
    if not (relative or decision.in_points) and not 0 <= low < high <= 1:
        raise ValueError(
            f"only_between must be two probabilities, as (0.1, 0.9); got {only_between!r}"
        )
    if (relative or decision.in_points) and not low < decision.cut < high:
        around = "distances from the threshold, as (-40, 40)" if relative else (
            f"two scores on either side of the threshold, {decision.above}"
        )  # fmt: skip
        raise ValueError(f"only_between must be {around}; got {only_between!r}")


def judgeable(counts: Counts, least: int) -> Counts:
    """Without groups of fewer people, as long as two others are left to compare."""
    small = (counts.heads < least) & [None not in group for group in counts.groups]
    rest = counts.where(~small)
    return rest if small.any() and len(rest.known().groups) > 1 else counts
