"""Our baselines beside their authors' own code, on the same splits of Law School and COMPAS.

Each pair runs in a process of its own, where its packages are installed: AIF360 with TensorFlow
(``adv_debias``, ``roc``); the authors' ``postprocess.py`` (``lpp``, github.com/uiuctml/
fair-classification) and ``postproc_fairness`` (``frappe``, in google-research) on the path. None of
them is among our dependencies. docs/reproduction.md has what came out.
"""

import contextlib
import io
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from multiprocessing import get_context
from typing import Any

import numpy as np
from scipy.special import expit

from benchmarks.baselines import AdvDebias, Frappe, Lpp, Roc
from benchmarks.cells import half_interval
from benchmarks.methods import Model
from benchmarks.paper import Split, starting_model
from benchmarks.sample import Sample
from benchmarks.score import score
from fairpatch._tools.arrays import Bools
from fairpatch._tools.tables import Table
from fairpatch.inputs.base import BaseModel

DATASETS = ("law_school", "compas")
WEIGHTS = (0.3, 1.0, 2.0, 4.0)
"""Of AIF360's adversary; ours has the same dial, alpha."""
FIGURES = {"p_rule": "P-Rule", "dm": "DM", "accuracy": "accuracy", "change_rate": "changes"}
Pair = tuple[str, Bools, Bools]
"""What was set, and the test decisions of ours and of theirs."""


def roc(split: Split, _: int) -> list[Pair]:
    """AIF360's reject option, its band and threshold set to ours instead of searched."""
    kind = import_module("aif360.algorithms.postprocessing").RejectOptionClassification
    p = expit(BaseModel(split.f).logits(split.X_test))
    found = []
    for band in (0.05, 0.1, 0.2):
        mine = Roc(split.f, band).fit(
            split.X_train, split.y_train, sensitive_features=split.s_train
        )
        low = int(np.asarray(mine.groups_)[mine.disadvantaged_])
        theirs = kind(unprivileged_groups=[{"s": low}], privileged_groups=[{"s": 1 - low}])
        theirs.classification_threshold, theirs.ROC_margin = 0.5, band
        decided = theirs.predict(_labelled(np.empty((len(p), 0)), p > 0.5, split.s_test, p))
        ours = mine.decide(split.X_test, split.s_test)
        found.append((f"band {band:g}", ours, decided.labels.ravel() == 1))
    return found


def lpp(split: Split, seed: int) -> list[Pair]:
    """The authors' program, given the probabilities that ours estimates."""
    kind = import_module("postprocess").PostProcessor
    alphas = (0.2, 0.05, 0.01)
    models = Lpp(split.f, random_state=seed).sweep(
        alphas, split.X_train, split.y_train, sensitive_features=split.s_train
    )
    half = np.random.default_rng(seed).permutation(len(split.y_train)) < len(split.y_train) // 2
    held = split.X_train.loc[~half]

    def chances(X: Any) -> dict[str, Any]:
        p = expit(BaseModel(split.f).logits(X))
        groups = models[0].cells_.predict_proba(models[0].encoder_.transform(X))
        return {"p_a_x": groups, "p_y_x": np.column_stack([1 - p, p])}

    found = []
    for alpha, model in zip(alphas, models, strict=True):
        theirs = kind(2, 2, criterion="sp", alpha=alpha, seed=seed, noise=1e-4)
        theirs.fit(**chances(held), solver="HIGHS")
        decided = np.asarray(theirs.predict(**chances(split.X_test))) == 1
        found.append((f"alpha {alpha:g}", model.decide(split.X_test), decided))
    return found


def adv_debias(split: Split, seed: int) -> list[Pair]:
    """AIF360's adversary, without S among the columns. It sees y, so ours is for equalized odds."""
    tf = import_module("tensorflow").compat.v1
    tf.disable_eager_execution()
    kind = import_module("aif360.algorithms.inprocessing").AdversarialDebiasing
    first = AdvDebias(fairness="equalized_odds", random_state=seed)
    ours = first.sweep(WEIGHTS, split.X_train, split.y_train, sensitive_features=split.s_train)
    Z, new = (first.encoder_.transform(X) for X in (split.X_train, split.X_test))
    train, test = (
        _labelled(Z, split.y_train, split.s_train),
        _labelled(new, split.y_test, split.s_test),
    )
    for data in (train, test):  # S stays beside the columns, not among them
        place = data.feature_names.index("s")
        data.features = np.delete(data.features, place, 1)
        data.feature_names = [name for name in data.feature_names if name != "s"]
    found = []
    for weight, model in zip(WEIGHTS, ours, strict=True):
        tf.reset_default_graph()
        tf.set_random_seed(seed)
        np.random.seed(seed)  # noqa: NPY002 theirs to use
        with tf.Session() as session, contextlib.redirect_stdout(io.StringIO()):
            theirs = kind([{"s": 0}], [{"s": 1}], "adversary", session, seed=seed,
                          adversary_loss_weight=weight)  # fmt: skip
            decided = theirs.fit(train).predict(test).labels.ravel() == 1
        found.append((f"weight {weight:g}", model.decide(split.X_test), decided))
    return found


def frappe(split: Split, seed: int) -> list[Pair]:
    """The authors' model, losses and data pipeline, for equalized odds: they have no parity."""
    tf: Any = import_module("tensorflow")
    tf.log = tf.math.log  # theirs is of TensorFlow 1
    keras, diff = tf.keras, import_module("tensorflow_model_remediation.min_diff")
    models = import_module("postproc_fairness.models_lib")
    rows_of = import_module("postproc_fairness.utils.utils").df_to_dataset
    pandas = import_module("pandas")
    strengths = (0.3, 0.03)
    first = Frappe(split.f, fairness="equalized_odds", random_state=seed)
    ours = first.sweep(strengths, split.X_train, split.y_train, sensitive_features=split.s_train)

    def table(X: Any) -> Any:
        Z = first.encoder_.transform(X).astype(np.float32)
        frame = pandas.DataFrame(Z, columns=[f"x{i:03}" for i in range(Z.shape[1])])
        return frame.assign(probs=expit(BaseModel(split.f).logits(X)).astype(np.float32))

    frame, y = table(split.X_train), pandas.Series(split.y_train, dtype="float32")
    size = first.batch_size

    def group(g: int, label: int) -> Any:
        own = (split.s_train == g) & (split.y_train == label)
        times = len(y) // max(int(own.sum()), 1) + 1
        return rows_of(frame[own], targets=y[own]).repeat(times).batch(size, drop_remainder=True)

    names = {"negative": 0, "positive": 1}
    pairs = diff.keras.utils.build_min_diff_dataset(
        sensitive_group_dataset={name: group(0, label) for name, label in names.items()},
        nonsensitive_group_dataset={name: group(1, label) for name, label in names.items()},
    )
    data = diff.keras.utils.pack_min_diff_data(
        original_dataset=rows_of(frame, targets=y).batch(size), min_diff_dataset=pairs
    )
    kernel = diff.losses.GaussianKernel(kernel_length=0.1)
    found = []
    for strength, mine in zip(strengths, ours, strict=True):
        keras.utils.set_random_seed(seed)
        inner = models.create_postproc_model(
            base_model=None, feature_name_list=frame.columns.values, num_hidden_units_list="",
            regularizer_name="kl", regularization_strength=strength,
        )  # fmt: skip
        theirs = diff.keras.MinDiffModel(
            original_model=inner, loss={n: diff.losses.MMDLoss(kernel) for n in names}
        )
        theirs.compile(optimizer=keras.optimizers.Adagrad(learning_rate=first.rate), loss=None)
        theirs.fit(data, epochs=first.n_epochs, verbose=0)
        given = theirs.predict(rows_of(table(split.X_test), shuffle=False).batch(4_096), verbose=0)
        found.append((f"lambda {strength:g}", mine.decide(split.X_test), given.ravel() > 0.5))
    return found


PAIRS: dict[str, Callable[[Split, int], list[Pair]]] = {
    "roc": roc,
    "lpp": lpp,
    "adv_debias": adv_debias,
    "frappe": frappe,
}


def work(pair: str, dataset: str, number: int) -> list[dict[str, Any]]:
    """One pair on one split: figures of both, and how many decisions differ."""
    split = starting_model(dataset, number)
    test = Sample(split.X_test, split.y_test, split.s_test, BaseModel(split.f))

    def figures(decided: Bools) -> dict[str, float]:
        found = score(Model({}, lambda _: decided), test)
        return {name: found[name] or 0.0 for name in FIGURES}

    return [
        {"pair": pair, "dataset": dataset, "split": number, "setting": setting,
         "differ": float(np.mean(ours != theirs)), "ours": figures(ours), "theirs": figures(theirs)}
        for setting, ours, theirs in PAIRS[pair](split, number)
    ]  # fmt: skip


def run(
    splits: int = 5, pairs: Sequence[str] = tuple(PAIRS), datasets: Sequence[str] = DATASETS
) -> dict[str, Any]:
    """Every pair, one process a pair: TensorFlow's modes exclude each other."""
    rows: list[dict[str, Any]] = []
    missing = {}
    for pair in pairs:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            try:
                for dataset in datasets:
                    for number in range(1, splits + 1):
                        rows += pool.submit(work, pair, dataset, number).result()
            except ImportError as error:
                missing[pair] = str(error)
    return {"rows": rows, "missing": missing}


def show(result: dict[str, Any]) -> str:
    """Ours less theirs, mean over splits with its 95 % interval."""
    groups: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for row in result["rows"]:
        groups.setdefault((row["pair"], row["dataset"], row["setting"]), []).append(row)
    rows = []
    for key, own in groups.items():
        differences = [_pm([r["ours"][name] - r["theirs"][name] for r in own]) for name in FIGURES]
        rows.append([*key, f"{np.mean([r['differ'] for r in own]):.3f}", *differences])
    header = ["pair", "data set", "setting", "decisions that differ", *FIGURES.values()]
    notes = [f"{pair}: not compared, {why}" for pair, why in result["missing"].items()]
    return Table("Ours less theirs, on test rows", header, rows, notes).text()


def _pm(values: list[float]) -> str:
    if len(values) < 2:
        return f"{np.mean(values):+.3f}"
    return f"{np.mean(values):+.3f} ± {half_interval(np.array(values)):.3f}"


def _labelled(Z: Any, y: Any, s: Any, scores: Any = None) -> Any:
    """Rows as AIF360 takes them."""
    pandas, datasets = import_module("pandas"), import_module("aif360.datasets")
    frame = pandas.DataFrame(Z, columns=[f"x{i:03}" for i in range(Z.shape[1])], dtype=float)
    frame = frame.assign(s=np.asarray(s, float), y=np.asarray(y, float))
    data = datasets.BinaryLabelDataset(
        df=frame, label_names=["y"], protected_attribute_names=["s"], favorable_label=1.0,
        unfavorable_label=0.0,
    )  # fmt: skip
    if scores is not None:
        data.scores = np.asarray(scores, float)[:, None]
    return data
