"""The people of a run: its table with every column in its role, its model, and its patch."""

import hashlib
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairpatch._tools.extras import need, sql_name
from fairpatch.cli import data as tables
from fairpatch.cli.say import complain, note, refuse
from fairpatch.cli.verdicts import leave

if TYPE_CHECKING:
    from fairpatch.cli.config import Config
    from fairpatch.data.used_rows import UsedRows
    from fairpatch.identity.compare import Comparison
    from fairpatch.patch import Patch
    from fairpatch.patched import PatchedModel


# The base model of a run: a score column, a file of skops, ONNX, LightGBM or XGBoost, MLflow.
#
# What can run code when it is read (a pickle, most MLflow models) is read only when asked to.

HARMLESS = ("numpy.dtype",)
"""Types that skops asks about and that run nothing."""
INSTEAD = "score the table where the model lives and give --score instead"


def base_model(config: "Config") -> Any:
    """What ``FairPatch`` takes as its estimator."""
    if config.score is not None and config.model is not None:
        refuse(
            f"the base model is named twice, score {config.score!r} and model {config.model!r}: "
            "either --score COLUMN or --model FILE"
        )
    if config.score is None and config.model is None:
        refuse("name the base model: either --score COLUMN or --model FILE")
    return config.score or read_model(str(config.model), trust=config.trust_model)


def read_model(source: str, *, trust: bool) -> Any:
    """A fitted model, or a callable that gives probabilities."""
    registered = re.match(r"^(models|runs|mlflow-artifacts|s3|gs):/", source)
    if registered or (Path(source) / "MLmodel").exists():
        _need_trust(f"{source} is an MLflow model", trust=trust)
        return _from_mlflow(source)
    path = Path(source)
    if not path.exists():
        refuse(f"there is no file {source!r} for --model")
    reader = _READERS.get(path.suffix)
    if reader is None:
        refuse(
            f"{path.name}: expected .skops, .onnx, LightGBM's .txt, XGBoost's .json or .ubj, an "
            f"MLflow URI, or with --trust-model a pickle; otherwise {INSTEAD}"
        )
    if path.suffix == ".skops":
        return _skops(path, trust=trust)
    if path.suffix in PICKLES:
        _need_trust(f"{path.name} is a pickle", trust=trust)
    return reader(path)


def _skops(path: Path, *, trust: bool = False) -> Any:
    skops = need("skops.io", extra="cli")
    types = skops.get_untrusted_types(file=path)
    unknown = [name for name in types if name not in HARMLESS]
    if unknown and not trust:
        refuse(
            f"{path} holds types that could run code: {', '.join(unknown[:5])}. If you trust where "
            f"it comes from, give --trust-model; otherwise {INSTEAD}"
        )
    return skops.load(path, trusted=types)


def _xgboost(path: Path) -> Any:
    model = need("xgboost", extra="boosted").XGBClassifier()
    model.load_model(path)
    return model


def _pickle(path: Path) -> Any:
    return pickle.loads(path.read_bytes())  # noqa: S301 only with --trust-model


def _need_trust(what: str, *, trust: bool) -> None:
    if not trust:
        refuse(
            f"{what}, which can run any code when it is read. If you trust where it comes from, "
            f"give --trust-model; otherwise {INSTEAD}"
        )
    note(f"warning: {what}: reading it runs code that came with it")


def _from_mlflow(uri: str) -> Any:
    """The model by its own library, which gives probabilities; any other as a function."""
    models = need("mlflow.models", extra="mlflow")
    flavours = models.get_model_info(uri).flavors
    for flavour in ("sklearn", "lightgbm", "xgboost", "catboost"):
        if flavour in flavours:
            model = need(f"mlflow.{flavour}", extra="mlflow").load_model(uri)
            if hasattr(model, "predict_proba"):
                return model
    return need("mlflow.pyfunc", extra="mlflow").load_model(uri).predict


def tell_names(f: Any, table: Any) -> None:
    """Say which of a model's columns the table writes otherwise."""
    from fairpatch.inputs.base import BaseModel

    renamed = BaseModel(f).renamed(list(table.columns))
    if renamed:
        pairs = ", ".join(f"{its!r} is {own!r}" for its, own in list(renamed.items())[:5])
        more = f" and {len(renamed) - 5} more" if len(renamed) > 5 else ""
        note(f"the base model writes names in its own way; taken one to one: {pairs}{more}")


def file_hash(source: str | None) -> str | None:
    """SHA-256 of the base model's file; None where it is no file."""
    path = None if source is None else Path(source)
    return hashlib.sha256(path.read_bytes()).hexdigest() if path and path.is_file() else None


def with_model_hash(patch: "Patch", source: str | None) -> "Patch":
    """The patch with the hash of the base model's file in its fingerprint."""
    known = {"model_sha256": file_hash(source)}
    if known["model_sha256"] is None or patch.fingerprint is None:
        return patch
    return patch.model_copy(update={"fingerprint": patch.fingerprint.model_copy(update=known)})


class LightGbmFile:
    """A binary classifier that LightGBM has written as text: nothing is run when it is read."""

    classes_ = (0, 1)

    def __init__(self, path: Path) -> None:
        lightgbm = need("lightgbm", extra="boosted")
        try:
            self.booster_ = lightgbm.Booster(model_file=str(path))
        except lightgbm.basic.LightGBMError as error:
            refuse(f"{path} is not a model that LightGBM has written as text ({error})")
        self.feature_names_in_ = self.booster_.feature_name()
        self.n_features_in_ = len(self.feature_names_in_)

    def raw(self, X: Any) -> Any:
        """Log-odds."""
        return self.booster_.predict(X, raw_score=True)

    def predict_proba(self, X: Any) -> Any:
        """Probabilities of the two classes."""
        import numpy as np

        p = np.asarray(self.booster_.predict(X))
        return np.column_stack([1 - p, p])


class _OnnxScores:
    """Probabilities of an ONNX graph that takes one input a column, or one matrix."""

    def __init__(self, path: Path) -> None:
        self.session = need("onnxruntime", extra="onnx").InferenceSession(
            str(path), providers=["CPUExecutionProvider"]
        )

    def __call__(self, X: Any) -> Any:
        import numpy as np

        kinds = {
            "tensor(float)": np.float32,
            "tensor(double)": np.float64,
            "tensor(string)": object,
        }
        inputs = self.session.get_inputs()
        if len(inputs) == 1 and inputs[0].name not in list(X.columns):
            feed = {inputs[0].name: np.asarray(X, kinds[inputs[0].type])}
        else:
            feed = {i.name: np.asarray(X[i.name], kinds[i.type])[:, None] for i in inputs}
        outputs = self.session.run(None, feed)[-1]
        if isinstance(outputs, list):  # skl2onnx's ZipMap: one dictionary a row
            return np.array([list(row.values())[-1] for row in outputs], np.float64)
        outputs = np.asarray(outputs, np.float64)
        return outputs[:, -1] if outputs.ndim == 2 else outputs


PICKLES = (".pkl", ".pickle", ".joblib")
_READERS: dict[str, Callable[[Path], Any]] = {
    ".skops": _skops,
    ".onnx": _OnnxScores,
    ".txt": LightGbmFile,
    ".json": _xgboost,
    ".ubj": _xgboost,
    ".pkl": _pickle,
    ".pickle": _pickle,
    ".joblib": lambda path: need("joblib", extra="cli").load(path),
}


# The people of a run: its table with every column in its role, its model, and its patch.


def relation_of(options: "Config") -> Any:
    """The table, with the sensitive features from a table of their own where there is one."""
    table = tables.relation(options.data, options.csv)
    if options.sensitive_table is None:
        return table
    key = options.join or options.columns.key
    if key is None:
        refuse("--sensitive-table needs the column that both tables share: --join COLUMN")
    given = (options.data, options.sensitive_table, key, options.sensitive, options.csv)
    table = tables.joined(table, *given)
    first = sql_name(options.sensitive[0])
    ((rows, known),) = table.aggregate(f"count(*), count({first})").fetchall()
    note(f"{options.sensitive_table} tells {options.sensitive[0]!r} of {known:,} of {rows:,} rows")
    return table


def table_of(options: "Config", *, learns: bool = True, table: Any = None) -> Any:
    """The table where it lies, without what nobody reads: ignored and index columns.

    Where nothing is learned from it, it need not have what the patch was kept from. ``table`` is
    its relation, where that is at hand.
    """
    table = relation_of(options) if table is None else table
    tables.need_columns(table, options.named if learns else options.needed, options.data)
    index = [n for n in tables.index_columns(options.data) if n not in options.named]
    wanted = (options.label, *options.sensitive, options.score, *options.categories)
    twice = [n for n in options.ignore if n in wanted]
    if twice:
        refuse(f"column {twice[0]!r} is ignored and used: take it out of one of the two")
    roles = options.columns  # a column that has a role is read for that, wherever else it is named
    named = (roles.key, roles.date, roles.person, roles.weight)
    unread = [n for n in (*options.ignore, *index) if n in table.columns and n not in named]
    return tables.without(table, unread)


def notice(options: "Config", people: Any) -> None:
    """Say of columns what ``init`` would have said, where the configuration says otherwise.

    ``people`` is a frame, or a table where it lies.
    """
    from fairpatch.cli.profile import MANY_CODES, SEEN, profile
    from fairpatch.inputs.vocabulary import is_protected

    some = people.head(SEEN) if hasattr(people, "iloc") else tables.in_memory(people.limit(SEEN))
    roles = {*options.named, *columns_read_by(options)}
    found = profile(some, [], score=options.score)
    for name, why in {**found.ignore, **found.exclude}.items():
        if name not in roles and name not in options.columns.columns and not is_protected(name):
            note(f"take care: the patch may read {name!r}, which is {why}. Or else: --exclude")
    for name in found.categories:
        if name not in roles:
            note(f"take care: {name!r} looks like a code, no quantity. If so: --category")
    for name in options.categories:
        values = some[name].nunique()
        if values > MANY_CODES:
            note(
                f"take care: {name!r} is a category of {values:,} values; points for so many are "
                f"points for a few people each. If it is a quantity: --category -{name}"
            )


def columns_read_by(options: "Config") -> list[str]:
    """Columns that a target compares people within, or locks by."""
    within = options.target.model_dump().get("within") or []
    return [within] if isinstance(within, str) else list(within)


def frame_of(options: "Config", *, learns: bool = True) -> Any:
    """The same in memory."""
    return tables.in_memory(table_of(options, learns=learns))


def patched_model(
    options: "Config", patch: "Patch", used: "UsedRows | None" = None
) -> "PatchedModel":
    """The run's base model with a patch, and the rows that it learned from."""
    from fairpatch.inputs.base import BaseModel
    from fairpatch.patched import PatchedModel

    base = BaseModel(base_model(options), decision=patch.decision)
    return PatchedModel(base, patch, used=used)


def enforce_if_unlike(comparison: "Comparison", if_unlike: str) -> None:
    """Say how a table differs from the one of the fit, and stop where that is too much."""
    from typing import get_args

    from fairpatch._tools.verdict import Verdict
    from fairpatch.identity.compare import INSTEAD_SHELL, IfUnlike

    if if_unlike not in get_args(IfUnlike):
        refuse(f"--if-unlike must be one of {', '.join(get_args(IfUnlike))}; got {if_unlike!r}")
    if if_unlike == "ignore" or not comparison.findings:
        return
    if comparison.refused and if_unlike == "refuse":
        complain(f"{comparison}. {INSTEAD_SHELL}")
        leave(Verdict.OTHER_MODEL)
    for finding in comparison.findings:
        note(f"take care: {finding}")
