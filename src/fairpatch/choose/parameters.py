"""The parameters of a fit, checked at the door: refuse what is wrong, and what would go unread."""

from inspect import signature
from typing import Any, get_args

import numpy as np
from sklearn.utils import check_random_state

from fairpatch import _checks as check
from fairpatch.choose.candidates import RatioLoss
from fairpatch.choose.target import Target
from fairpatch.learn.problem import Fairness, Grid
from fairpatch.measure.direction import DIRECTIONS

INSTEAD = {
    "fairness": "it follows from the target's limits: leave it out",
    "direction": "say it in the target, Target(..., direction=...)",
    "lambda_fair": "leave it out, or give the lambdas to try, grid=Grid.of(...)",
    "lambda_ratio": "leave it out, or give the lambdas to try, grid=Grid.of(...)",
    "lambda_concepts": "leave it out, or give the lambdas to try, grid=Grid.of(...)",
}
"""What a target replaces, and what to do instead."""


def check_parameters(model: Any) -> None:
    """Refuse what is wrong, and what would be left unread."""
    check.one_of("fairness", model.fairness, get_args(Fairness))
    check.one_of("ratio_loss", model.ratio_loss, get_args(RatioLoss))
    check.one_of("direction", model.direction, DIRECTIONS)
    for name in ("lambda_fair", "lambda_ratio", "lambda_concepts"):
        check.number(name, getattr(model, name), 0)
    for name in ("n_concepts", "n_steps"):
        check.whole(name, getattr(model, name), 1)
    if model.max_rows is not None:
        check.whole("max_rows", model.max_rows, 1)
    check.names("exclude", model.exclude)
    check.a("target", model.target, Target, "Target(p_rule=0.8)")
    check.a("grid", model.grid, Grid, "Grid.of(fair=(1.0, 3.0))")
    if not isinstance(model.splits, list | tuple | np.ndarray):
        raise TypeError(f"splits must be three shares, as (0.5, 0.25, 0.25); got {model.splits!r}")
    defaults = {name: p.default for name, p in signature(type(model)).parameters.items()}
    for name, instead in INSTEAD.items():
        value = getattr(model, name)
        if model.target is not None and value != defaults.get(name, value):
            raise ValueError(
                f"{name}={value!r} is given beside a target, which replaces it: {instead}"
            )
    for name, value in (("grid", model.grid), ("splits", tuple(model.splits))):
        if model.target is None and value != defaults.get(name, value):
            raise ValueError(f"{name}={value!r} is for a target, and none is given")


def check_memory_fit(model: Any, sensitive_features: Any, key: str | None) -> None:
    """What a fit to rows in memory needs, and what it does not read."""
    if key is not None:
        raise ValueError(
            f"key={key!r} is for a table in an engine; rows in memory are told apart by their "
            "order: leave it out"
        )
    if sensitive_features is None and (model.lambda_fair > 0 or model.target is not None):
        raise ValueError(
            "sensitive_features must be given to fit: a target and lambda_fair above 0 compare "
            "groups. Set lambda_fair=0 to learn without them"
        )


def check_table_fit(sample_weight: Any, change_cost: Any) -> None:
    """What a fit to a table in an engine does not read."""
    if sample_weight is not None or change_cost is not None:
        raise ValueError(
            "sample_weight and change_cost are not read for a table in an engine: fetch the rows "
            "to learn from, and fit to them in memory"
        )


def seed_of(random_state: Any) -> int:
    """One number for all that is drawn at random."""
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31))
