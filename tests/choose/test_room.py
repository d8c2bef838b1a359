"""What is tested first has room for everything that is asked, not for fairness alone."""

from types import SimpleNamespace

import numpy as np
import pytest

from fairpatch import Decision, FairPatch, Target
from fairpatch.choose.choice import margin_in_errors, safest_first
from fairpatch.datasets import load_loans
from fairpatch.measure.places import Places


@pytest.fixture(scope="module")
def fitted():
    target = Target(p_rule=0.8, max_changes=0.05)
    g = FairPatch("score", target, decision=Decision(threshold=0.8), exclude=["age"],
                  random_state=1)  # fmt: skip
    return g.fit(load_loans(20_000), "repaid", sensitive_features=["sex"])


def test_room_is_above_zero_where_the_limit_is_kept_and_only_there(fitted):
    dial = fitted.frontier_.dials[fitted.choice_.model]["sex"]
    for requirement in fitted.target.requirements:
        room, values = margin_in_errors(requirement, dial), requirement.along(dial)
        inside = np.abs(room) > 1e-9  # not at the very limit
        assert (requirement.met(values)[inside] == (room > 0)[inside]).all(), str(requirement)


def test_the_order_is_by_the_requirement_with_the_least_room(fitted):
    dial = fitted.frontier_.dials[fitted.choice_.model]["sex"]
    requirements = fitted.target.requirements
    steps = list(range(1, len(dial.changed), 3))
    order = safest_first(steps, requirements, [dial])
    rooms = np.min([margin_in_errors(r, dial) for r in requirements], axis=0)[steps]
    assert order[-1] == 0
    assert list(rooms[order[:-1]]) == sorted(rooms[order[:-1]], reverse=True)
    assert (rooms[order[:-1]] > rooms[0]).all()
    fairest = int(np.argmax(requirements[0].along(dial)[steps]))
    assert order[0] != fairest  # which changes far more than may be changed


def test_what_is_certified_has_fewest_changes_of_what_passed(fitted):
    """The fairest rung misses a limit on changes: tested first, it failed the whole ladder."""
    assert str(fitted.certificate_.verdict) == "certified"
    assert fitted.choice_.change_rate <= 0.05


def test_displacement_is_that_of_the_patch_as_it_is_applied(fitted):
    """By the points that its card prints, and not by those that the dial counts from."""
    loans = load_loans(20_000)
    moved = fitted.patched_.apply(loans)["fairpatch_score"] - loans["score"]
    assert fitted.choice_.displacement == pytest.approx(moved.abs().mean(), rel=0.15)


@pytest.mark.parametrize("direction", ["both", "promote_only", "demote_only"])
def test_the_patch_changes_as_many_as_were_chosen(direction):
    """Points and points needed move together where a card is written above zero, each way."""
    loans = load_loans(20_000)
    target = Target(p_rule=0.8, direction=direction)
    g = FairPatch("score", target, decision=Decision(threshold=0.8), exclude=["age"],
                  random_state=1)  # fmt: skip
    g.fit(loans, "repaid", sensitive_features=["sex"])
    changed = (g.predict(loans) == 1) != (loans["score"] > 0.8)
    assert g.choice_.change_rate == pytest.approx(changed.mean(), rel=0.15)
    moved = g.patched_.apply(loans)["fairpatch_score"] - loans["score"]
    assert g.choice_.displacement == pytest.approx(moved.abs().mean(), rel=0.15)
    card, one_way = g.patch_.card, g.patch_.direction != "both"
    assert not one_way or card.approve_at == -card.deny_at  # mirror images


def test_room_of_places_that_are_kept_is_that_of_people_counted_twice():
    """Promoted less demoted: its error by drawing people again and again."""
    random = np.random.default_rng(0)
    up, down, people = 300, 260, 4_000
    move = np.repeat([1, -1, 0], [up, down, people - up - down])
    drawn = random.choice(move, (2_000, people)).mean(1)
    dial = SimpleNamespace(
        people=people, changed=np.array([up + down]), error_along=None, along=None
    )
    target = Target(p_rule=0.8, approvals="keep")
    (kept,) = (r for r in target.requirements if isinstance(r.metric, Places))
    share = (up - down) / people
    requirement = SimpleNamespace(
        metric=kept.metric, limit=kept.limit, along=lambda _: np.array([share])
    )
    inside = min(share - kept.metric.low, kept.metric.high - share)
    error = inside / float(margin_in_errors(requirement, dial)[0])
    assert error == pytest.approx(drawn.std(), rel=0.05)
