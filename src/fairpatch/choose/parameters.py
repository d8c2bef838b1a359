"""The parameters of a fit, checked at the door: refuse what is wrong, and what would go unread."""

from inspect import signature
from typing import Any, Literal, get_args

import numpy as np
from sklearn.utils import check_random_state

from fairpatch import _checks as check
from fairpatch._arrays import Bools
from fairpatch.choose.candidates import RatioLoss
from fairpatch.choose.target import Target
from fairpatch.decision import Decision
from fairpatch.learn.adversarial.problem import Grid
from fairpatch.learn.push.rules import CardRules
from fairpatch.measure.direction import DIRECTIONS
from fairpatch.measure.fairness import Fairness

INSTEAD = {
    "fairness": "it follows from the target's limits: leave it out",
    "direction": "say it in the target, Target(..., direction=...)",
    "lambda_fair": "leave it out, or give the lambdas to try, grid=Grid.of(...)",
    "lambda_ratio": "leave it out, or give the lambdas to try, grid=Grid.of(...)",
    "lambda_concepts": "leave it out, or give the lambdas to try, grid=Grid.of(...)",
}
"""What a target replaces, and what to do instead."""


LearnerName = Literal["push", "adversarial"]
OF_THE_GAME = ("grid", "n_concepts", "n_steps", "ratio_loss", "callbacks")
"""What a card does not read."""


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
    check.names("categories", model.categories)
    check.a("decision", model.decision, Decision, "Decision(favourable=0)")
    check.a("target", model.target, Target, "Target(p_rule=0.8)")
    check.one_of("learner", model.learner, get_args(LearnerName))
    check.a("card", model.card, CardRules, "CardRules(max_lines=5)")
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
    for name in ("grid", "splits", "card", "learner"):
        value = getattr(model, name)
        value = tuple(value) if name == "splits" else value
        if model.target is None and value != defaults.get(name, value):
            raise ValueError(f"{name}={value!r} is for a target, and none is given")
    if model.target is not None and model.learner == "adversarial" and model.card is not None:
        raise ValueError("card is for cards of points: leave it out, or learner='adversarial'")
    if model.target is not None and model.learner == "push":
        for name in OF_THE_GAME:
            value = getattr(model, name)
            if value != defaults.get(name, value):
                raise ValueError(
                    f"{name}={value!r} is for the paper's learner: set learner='adversarial', or "
                    "leave it out"
                )


def check_memory_fit(
    model: Any, sensitive_features: Any, key: str | None, change_cost: Any, f_trained_on: Any
) -> None:
    """What a fit to rows in memory needs, and what it does not read."""
    if change_cost is not None and model.target is not None and model.learner == "push":
        raise ValueError(
            "change_cost is for the paper's learner: set learner='adversarial', or leave it out"
        )
    if f_trained_on is not None and model.target is None:
        raise ValueError("f_trained_on is for a target: without one nothing is chosen or certified")
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


def check_table_fit(*unread: Any) -> None:
    """What a fit to a table in an engine does not read."""
    if any(given is not None for given in unread):
        raise ValueError(
            "sample_weight, change_cost and f_trained_on are not read for a table in an engine: "
            "fetch the rows to learn from, and fit to them in memory"
        )


def known_rows(f_trained_on: Any, n: int) -> Bools | None:
    """Rows that f was trained on, as one boolean a row."""
    if f_trained_on is None:
        return None
    found = np.asarray(f_trained_on)
    if found.dtype != bool or found.shape != (n,):
        raise ValueError(
            f"f_trained_on must be {n} booleans, one for each row of X; got {found.dtype} of shape "
            f"{found.shape}"
        )
    if found.all():
        raise ValueError(
            "f was trained on all of these rows: nothing can be chosen or certified on them. Give "
            "rows that it has not seen"
        )
    return found


def seed_of(random_state: Any) -> int:
    """One number for all that is drawn at random."""
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31))
