"""The paper's two starting models, to six digits."""

import pytest

from benchmarks.paper import starting_model
from fairpatch import audit
from fairpatch.measure import Counts, disparate_mistreatment, p_rule

pytestmark = pytest.mark.data


@pytest.mark.parametrize(
    ("name", "columns", "rows", "figures"),
    [
        ("law_school", 9, 547, (0.797075, 0.276425, 0.493560)),
        ("compas", 400, 1851, (0.658023, 0.631048, 0.282843)),
    ],
)
def test_starting_models_equal_the_papers(name, columns, rows, figures):
    split = starting_model(name)
    assert split.X_test.shape == (rows, columns)
    found = audit(split.X_test, split.y_test, sensitive_features=split.s_test, estimator=split.f)
    metrics = found.comparisons["sensitive"].metrics
    got = (found.accuracy, metrics["p_rule"], metrics["disparate_mistreatment"])
    assert [round(float(value), 6) for value in got] == list(figures)


def test_compas_p_rule_over_the_favourable_outcome_is_another_number():
    split = starting_model("compas")
    counts = Counts.from_arrays(
        decision=split.f.predict(split.X_test), y=split.y_test, sensitive_features=split.s_test
    )
    assert float(p_rule(counts)) == pytest.approx(0.631, abs=5e-4)
    assert float(p_rule(counts.flip())) == pytest.approx(0.77, abs=5e-3)
    assert float(disparate_mistreatment(counts)) == pytest.approx(
        float(disparate_mistreatment(counts.flip()))
    )
