"""Methods at equal fairness: the dial of each is set on some people, and read on others."""

from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd

from fairpatch import Decision, FairPatch, Target
from fairpatch.baselines import Lpp
from fairpatch.datasets import load_loans
from fairpatch.measure import Counts, accuracy, change_rate, p_rule

WANTED, THRESHOLD = 0.8, 0.8
READ = ["income", "amount", "purpose", "employment", "tenure", "debt_ratio", "late_payments"]
Decide = Callable[[pd.DataFrame], np.ndarray]


def centred(X: pd.DataFrame) -> np.ndarray:
    """f's probability, moved so that the bank's threshold is at a half."""
    odds = X["score"] / (1 - X["score"]) * (1 - THRESHOLD) / THRESHOLD
    return (odds / (1 + odds)).to_numpy()


def fairpatch(known: pd.DataFrame) -> Iterator[Decide]:
    """One patch for each limit; no rows are kept for a certificate, as no other method has one."""
    for limit in np.arange(0.74, 0.85, 0.01):
        bank, parts = Decision(threshold=THRESHOLD), (0.5, 0.5, 0.0)
        asked = Target(p_rule=float(limit))
        g = FairPatch("score", asked, decision=bank, exclude=["age"], splits=parts)
        yield g.fit(known, "repaid", sensitive_features=["sex"]).predict


def published(kind: type) -> Callable[[pd.DataFrame], Iterator[Decide]]:
    """A method of the library, along its own dial; it reads numbers and dummies."""

    def learn(known: pd.DataFrame) -> Iterator[Decide]:
        s = (known["sex"] == "male").to_numpy().astype(int)
        y = known["repaid"].to_numpy()
        columns = pd.get_dummies(known[READ]).columns

        def table(X: pd.DataFrame) -> pd.DataFrame:
            wide = pd.get_dummies(X[READ]).reindex(columns=columns, fill_value=0).astype(float)
            return wide.assign(score=centred(X))

        for value in kind.values:
            made = kind("score", **{kind.dial: value}).fit(table(known), y, sensitive_features=s)
            yield lambda X, made=made: made.predict(table(X))

    return learn


def shift(_: pd.DataFrame) -> Iterator[Decide]:
    """Your method: here, a lower threshold for people who work part-time."""
    for lower in np.linspace(0, 0.4, 41):
        yield lambda X, lower=lower: (
            X["score"] > THRESHOLD - lower * (X["employment"] == "part-time")
        ).to_numpy()


def counts(decide: Decide, people: pd.DataFrame) -> Counts:
    """Who is approved before and after, by sex and outcome."""
    return Counts.from_arrays(
        decision=people["score"] > THRESHOLD,
        new_decision=np.asarray(decide(people)).astype(bool),
        y=people["repaid"],
        sensitive_features={"sex": people["sex"]},
    )


def main() -> None:
    """Learn on some, turn the dial on others, print what a third part shows."""
    people = load_loans(30_000)
    known, dial, test = people[:12_000], people[12_000:18_000], people[18_000:]
    methods = {
        "fairpatch": fairpatch, "LPP": published(Lpp), "yours": shift,
    }  # fmt: skip
    print(f"{'method':<12}{'P-Rule':>8}{'changes':>9}{'accuracy':>10}")
    before = counts(lambda X: X["score"] > THRESHOLD, test)
    print(f"{'base model':<12}{p_rule(before).value:8.3f}{0:9.1%}{accuracy(before).value:10.3f}")
    for name, learn in methods.items():
        tried = [(counts(decide, dial), decide) for decide in learn(known)]
        meets = [(c, decide) for c, decide in tried if p_rule(c).value >= WANTED]
        if not meets:
            print(f"{name:<12}   does not reach a P-Rule of {WANTED}")
            continue
        _, decide = min(meets, key=lambda one: change_rate(one[0]).value)
        found = counts(decide, test)
        shown = p_rule(found).value, change_rate(found).value, accuracy(found).value
        print(f"{name:<12}{shown[0]:8.3f}{shown[1]:9.1%}{shown[2]:10.3f}")


if __name__ == "__main__":
    main()
