"""C.3: does a deeper ratio do better? Linear against one and two hidden layers, on Law School.

Only this experiment needs ratios that are not linear, so their training lives here: the paper's
objective without the concepts, one model after another.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import torch
from scipy.special import expit

from benchmarks.journal import Records, Run
from benchmarks.methods import Model
from benchmarks.paper import Split, starting_model
from benchmarks.sample import Sample
from benchmarks.score import score
from fairpatch.commod.train import threads_for
from fairpatch.inputs.base import BaseModel
from fairpatch.patch.encoding import Encoder

ARCHITECTURES = {"linear": (), "one hidden layer": (32,), "two hidden layers": (32, 32)}
LAMBDAS = tuple(np.geomspace(0.05, 3.0, 12))


def runs(*, quick: bool) -> list[Run]:
    """Architectures x lambda_fair."""
    return [
        {"experiment": "architectures", "architecture": name, "lambda_fair": float(value)}
        for name in ARCHITECTURES
        for value in (LAMBDAS[::6] if quick else LAMBDAS)
    ]


def work(run: Run) -> Records:
    """One model on the test set."""
    split = starting_model("law_school")
    encoder = Encoder.fit(split.X_train)
    with threads_for(1):
        net = _train(split, encoder, ARCHITECTURES[run["architecture"]], run["lambda_fair"])
    test = Sample(split.X_test, split.y_test, split.s_test, BaseModel(split.f))
    with torch.no_grad():
        ratio = net(torch.tensor(test.encoded(encoder), dtype=torch.float32))[:, 0].numpy()
    logits = (1 + ratio) * test.f_logit
    return [score(Model({}, lambda _: logits > 0, lambda _: expit(logits)), test)]


def _train(
    split: Split, encoder: Encoder, hidden: Sequence[int], lambda_fair: float, steps: int = 600
) -> torch.nn.Module:
    generator = torch.Generator().manual_seed(0)
    Z = torch.tensor(encoder.transform(split.X_train), dtype=torch.float32)
    f_logit = torch.tensor(BaseModel(split.f).logits(split.X_train), dtype=torch.float32)
    y, s = (torch.tensor(v, dtype=torch.float32) for v in (split.y_train, split.s_train))
    ratio, adversary = _net(Z.shape[1], hidden), _net(1, (16,))
    for net in (ratio, adversary):
        for p in net.parameters():
            with torch.no_grad():
                p.copy_(torch.randn(p.shape, generator=generator) * 0.1)
    mine = torch.optim.Adam(ratio.parameters(), 5e-3)
    theirs = torch.optim.Adam(adversary.parameters(), 2e-2)
    entropy = torch.nn.functional.binary_cross_entropy_with_logits
    for step in range(steps):
        rows = torch.randint(len(y), (256,), generator=generator)
        r = ratio(Z[rows])[:, 0]
        g_logit = (1 + r) * f_logit[rows]
        guess = entropy(adversary(g_logit.detach()[:, None])[:, 0], s[rows])
        theirs.zero_grad()
        guess.backward()  # type: ignore[no-untyped-call]
        theirs.step()
        if step < 20:
            continue
        loss = entropy(g_logit, y[rows]) + 0.05 * (r**2).mean()
        loss = loss - lambda_fair * entropy(adversary(g_logit[:, None])[:, 0], s[rows])
        mine.zero_grad()
        loss.backward()
        mine.step()
    return ratio


def _net(inputs: int, hidden: Sequence[int]) -> torch.nn.Module:
    """r - 1, or the adversary: linear where there is no hidden layer."""
    sizes = [inputs, *hidden, 1]
    layers: list[torch.nn.Module] = []
    for i, (a, b) in enumerate(pairwise(sizes)):
        layers += [*([torch.nn.ReLU()] if i else []), torch.nn.Linear(a, b)]
    return torch.nn.Sequential(*layers)
