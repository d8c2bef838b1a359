"""Algorithm 1: a stack equals its models alone, and every wish has its effect."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.stats import norm

from fairpatch.commod.losses import gain
from fairpatch.commod.problem import Grid, Problem, Training
from fairpatch.commod.train import _directed, threads_for, train

QUICK = Training(n_steps=120, n_concepts=2)


def problem(n=1_500, d=5, seed=0, groups=2):
    """Rows where the score tells S: columns 0 and 1 do, the label follows column 0."""
    random = np.random.default_rng(seed)
    s = random.integers(0, groups, n)
    Z = random.normal(size=(n, d))
    Z[:, :2] += 1.2 * (s[:, None] > 0)
    Z = (Z - Z.mean(0)) / Z.std(0)
    f_logit = 1.5 * Z[:, 0] + 0.7 * Z[:, 2]
    y = (random.random(n) < 1 / (1 + np.exp(-f_logit))).astype(float)
    return Problem(Z, f_logit, y, s[:, None], np.ones(n), np.ones(n))


def ratio_of(ratios, p, m=0):
    return 1 + ratios.a[m] + p.Z @ ratios.W[m].T @ ratios.v[m]


def decided(p, r, direction="both"):
    d = np.where(p.f_logit > 0, r > 0, r < 0)
    return np.where(p.f_logit > 0, True, d) if direction == "promote_only" else d


def p_rule(p, d, column=0):
    s = p.s[:, column]
    rates = [d[s == v].mean() for v in range(s.max() + 1)]
    return min(rates) / max(rates)


@pytest.mark.parametrize(
    "fairness", ["demographic_parity", pytest.param("equalized_odds", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("groups", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_model_m_of_a_stack_equals_the_model_alone(fairness, groups):
    p = replace(problem(groups=groups), fairness=fairness)
    grid = Grid.of((0.1, 1.0, 5.0), (0.3, 1.0), (0.01, 0.05), (0, 1))
    stack = train(p, grid, QUICK)
    for m in range(len(grid)):
        one = Grid([grid.fair[m]], [grid.ratio[m]], [grid.concepts[m]], [grid.seeds[m]])
        alone = train(p, one, QUICK)
        for mine, theirs in zip(
            (stack.W, stack.v, stack.a), (alone.W, alone.v, alone.a), strict=True
        ):
            assert np.abs(mine[m] - theirs[0]).max() < 1e-5


def test_more_lambda_fair_is_fairer_and_none_changes_little():
    p = problem()
    grid = Grid.of((0.0, 0.3, 10.0), (0.3,), (0.001,))
    ratios = train(p, grid, replace(QUICK, n_steps=300))
    rules = [p_rule(p, decided(p, ratio_of(ratios, p, m))) for m in range(3)]
    assert rules[0] < 0.6
    assert rules[2] > 0.8
    assert rules[0] <= rules[1] <= rules[2]


def test_more_lambda_ratio_changes_fewer_decisions():
    p = problem()
    ratios = train(p, Grid.of((2.0,), (0.01, 10.0), (0.001,)), QUICK)
    changes = [(decided(p, ratio_of(ratios, p, m)) != (p.f_logit > 0)).mean() for m in range(2)]
    assert changes[1] < changes[0]


def test_lambda_concepts_ends_in_exact_zeros():
    ratios = train(problem(d=20), Grid.of((2.0,), (0.3,), (0.0, 0.05, 0.1)), QUICK)
    zeros = (ratios.W == 0).mean((1, 2))
    assert zeros[0] == 0
    assert zeros[1] > 0.1  # four weights and more, not one by chance
    assert zeros[2] > zeros[1] + 0.1


def test_concepts_have_unit_variance():
    p = problem()
    ratios = train(p, Grid.of((2.0,), (0.3,), (0.01,)), QUICK)
    spread = (p.Z @ ratios.W[0].T).std(0)
    assert (spread > 0).any()
    assert np.allclose(spread[spread > 0], 1)


def test_equalized_odds_closes_the_gaps_given_y():
    p = replace(problem(n=3_000), fairness="equalized_odds")
    ratios = train(p, Grid.of((0.0, 10.0), (0.3,), (0.001,)), replace(QUICK, n_steps=250))

    def mistreatment(d):
        s = p.s[:, 0]
        return sum(
            abs(d[(s == 0) & (p.y == v)].mean() - d[(s == 1) & (p.y == v)].mean()) for v in (0, 1)
        )

    before, after = (mistreatment(decided(p, ratio_of(ratios, p, m))) for m in range(2))
    assert after < 0.5 * before


def test_promote_only_reaches_parity_without_a_demotion():
    p = replace(problem(), direction="promote_only")
    ratios = train(p, Grid.of((5.0,), (0.3,), (0.001,)), QUICK)
    d = decided(p, ratio_of(ratios, p), "promote_only")
    assert p_rule(p, d) > 0.8
    assert not (d < (p.f_logit > 0)).any()


def test_several_sensitive_features_at_once():
    random = np.random.default_rng(1)
    p = problem()
    other = (p.Z[:, 2] + random.normal(size=len(p.y)) > 0).astype(int)
    both = replace(p, s=np.column_stack([p.s[:, 0], other]))
    before = [p_rule(both, p.f_logit > 0, j) for j in (0, 1)]
    ratios = train(both, Grid.of((10.0,), (0.1,), (0.001,)), replace(QUICK, n_steps=300))
    after = [p_rule(both, decided(both, ratio_of(ratios, both)), j) for j in (0, 1)]
    assert max(before) < 0.7
    assert min(after) > 0.8


def test_rows_with_s_missing_serve_the_other_losses_only():
    p = problem()
    gaps = p.s.copy()
    gaps[::3] = -1
    some = train(
        replace(p, s=gaps), Grid.of((10.0,), (0.1,), (0.001,)), replace(QUICK, n_steps=300)
    )
    assert p_rule(p, decided(p, ratio_of(some, p))) > 0.75
    # with every S missing there is nothing to be fair about: the adversary has no weight at all
    none = replace(p, s=np.where(np.arange(len(p.y))[:, None] < 2, p.s, -1))
    assert np.isfinite(train(none, Grid.of((3.0,), (0.3,), (0.001,)), QUICK).W).all()


def test_zero_weight_rows_do_not_count():
    p = problem()
    poisoned = replace(p, y=np.where(np.arange(len(p.y)) < 700, 1 - p.y, p.y))
    weight = (np.arange(len(p.y)) >= 700).astype(float)
    grid = Grid.of((0.0,), (0.01,), (0.0,))
    clean = train(replace(p, weight=weight), grid, QUICK)
    same = train(replace(poisoned, weight=weight), grid, QUICK)
    assert np.allclose(clean.v, same.v)
    assert not np.allclose(clean.v, train(poisoned, grid, QUICK).v)


def test_dear_rows_change_less():
    p = problem()
    dear = np.where(p.Z[:, 1] > 0, 20.0, 0.05)
    ratios = train(
        replace(p, ratio_weight=dear / dear.mean()), Grid.of((3.0,), (1.0,), (0.0,)), QUICK
    )
    moved = np.abs(ratio_of(ratios, p) - 1)
    assert moved[p.Z[:, 1] > 0].mean() < moved[p.Z[:, 1] <= 0].mean()


def test_same_seed_same_result_other_seed_another():
    p, grid = problem(), Grid.of((1.0,), (0.3,), (0.01,), (0, 1))
    one, two = train(p, grid, QUICK), train(p, grid, QUICK)
    assert np.array_equal(one.W, two.W)
    assert not np.allclose(one.W[0], one.W[1])
    other = train(replace(p, seed=1), grid, QUICK)
    assert not np.allclose(one.W, other.W)


def test_no_global_state_is_touched():
    before = torch.get_num_threads()
    torch.manual_seed(5)
    np.random.seed(5)  # noqa: NPY002 the global one, on purpose
    expected = torch.rand(1), np.random.rand()  # noqa: NPY002
    torch.manual_seed(5)
    np.random.seed(5)  # noqa: NPY002
    train(problem(), Grid.of((1.0,), (0.3,), (0.01,)), QUICK)
    assert (torch.rand(1), np.random.rand()) == expected  # noqa: NPY002
    assert torch.get_num_threads() == before


def test_threads_are_chosen_from_the_size_and_restored_even_after_an_error():
    before = torch.get_num_threads()
    inside = []

    def fail():
        with threads_for(10):
            inside.append(torch.get_num_threads())
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert inside == [1]
    with threads_for(10**9):
        assert torch.get_num_threads() == before
    assert torch.get_num_threads() == before


def test_callbacks_see_every_step():
    seen = []
    train(
        problem(), Grid.of((1.0,), (0.3,), (0.01,), (0, 1)), replace(QUICK, callbacks=[seen.append])
    )
    assert [s.step for s in seen] == list(range(1, 131))
    assert {s.of for s in seen} == {130}
    assert set(seen[-1].losses) == {"label", "ratio", "diversity", "adversary"}
    assert seen[-1].losses["label"].shape == (2,)


def test_the_gain_is_the_mutual_information():
    """S = 1 shifts a normal score by 1: I(S; f) by numerical integration."""
    x = np.linspace(-8, 9, 20_001)
    mixture = (norm.pdf(x) + norm.pdf(x, 1)) / 2
    entropy = -np.trapezoid(mixture * np.log(mixture), x)
    expected = entropy - norm.entropy()
    random = np.random.default_rng(0)
    s = random.integers(0, 2, 200_000)
    score = random.normal(size=200_000) + s
    assert gain(score, s, np.ones(200_000)) == pytest.approx(expected, rel=0.05)
    # independent of S: nothing but noise, and never zero
    assert 0 < gain(random.normal(size=200_000), s, np.ones(200_000)) < 1e-3
    # given y that already says S there is nothing left to gain
    y = s.astype(float)
    assert gain(score, s, np.ones(200_000), y) < 1e-3


def test_each_direction_spares_its_own_side():
    f_logit = torch.tensor([2.0, -1.0, 0.0], dtype=torch.float64)
    r = torch.full((2, 3), -0.5, dtype=torch.float64)
    spared = {
        direction: (_directed(r, f_logit, direction) == 1.0)[0].tolist()
        for direction in ("both", "promote_only", "demote_only")
    }
    assert spared == {
        "both": [False, False, False],
        "promote_only": [True, False, False],
        "demote_only": [False, True, True],
    }


def test_a_patch_that_may_only_demote_is_trained_to_demote():
    p = replace(problem(), direction="demote_only")
    ratios = train(p, Grid.of((10.0,), (0.1,), (0.0,)), QUICK)
    approved = p.f_logit > 0
    after = approved & (ratio_of(ratios, p) > 0)
    assert (after != approved).any()
    assert p_rule(p, after) > p_rule(p, approved) + 0.1


def test_sparsity_and_diversity_wait_for_their_gate():
    """Before it they count for nothing: with a gate that never opens, lambda_concepts is 0."""
    with_them, without = (
        train(problem(), Grid.of((3.0,), (0.3,), (c,)), Training(n_steps=40, concepts_from=2.0))
        for c in (1.0, 0.0)
    )
    assert np.array_equal(with_them.W, without.W)
    open_ = train(problem(), Grid.of((3.0,), (0.3,), (1.0,)), Training(n_steps=40))
    assert not np.array_equal(open_.W, without.W)
