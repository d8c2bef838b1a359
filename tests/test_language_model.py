"""A service as the base model: what it is asked, and that a column asks nothing."""

from fairpatch import FairPatch, Target


def test_a_column_asks_nothing_and_decides_alike(two_groups):
    asked = []

    def service(rows):
        asked.append(len(rows))
        return two_groups["score"].to_numpy()[rows.index]

    X = two_groups.drop(columns=["id", "group", "y", "score"])
    scored = X.assign(p=service(X))
    options = {"sensitive_features": two_groups["group"]}
    column = FairPatch("p", Target(p_rule=0.75)).fit(scored, two_groups["y"], **options)
    assert asked == [len(X)]
    called = FairPatch(service, Target(p_rule=0.75)).fit(X, two_groups["y"], **options)
    assert sum(asked[1:]) > len(X)  # it is asked about changed rows, too
    assert {c.name for c in called.patch_.columns} <= set(X.columns)
    assert "p" not in {c.name for c in column.patch_.columns}
