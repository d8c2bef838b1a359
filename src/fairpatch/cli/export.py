"""Export a patch: as an ONNX graph, or as an MLflow model; alone, or with its base model inside."""

from pathlib import Path
from typing import Annotated

import typer

from fairpatch.cli import data as tables
from fairpatch.cli.options import Data, IfUnlike, Model, PatchFile, Reasons, TrustModel
from fairpatch.cli.people import heed
from fairpatch.cli.run_folder import model_of, options_of, patch_path
from fairpatch.cli.say import refuse, say


def run(
    patch: PatchFile,
    out: Annotated[Path, typer.Argument(help="file.onnx, or a new folder for an MLflow model")],
    model: Model = None,
    data: Data = None,
    trust_model: TrustModel = None,
    reasons: Reasons = False,
    if_unlike: IfUnlike = "refuse",
) -> None:
    """Write it. Types of columns come from the run's data, or from --data."""
    from fairpatch.base import BaseModel
    from fairpatch.cli.base_model import read_model
    from fairpatch.identity.compare import compare_model
    from fairpatch.patch import load
    from fairpatch.patched import PatchedModel

    loaded = load(patch_path(patch))
    as_graph = out.suffix == ".onnx"
    if not as_graph and (out.suffix or out.exists()):
        refuse(f"{out}: expected a name that ends in .onnx, or a new folder for an MLflow model")
    g = None
    model = model_of(patch, None, model)
    if model is not None:
        f = read_model(model, trust=bool(trust_model))
        g = PatchedModel(BaseModel(f, decision=loaded.decision), loaded)
    X = None
    if g is not None or not as_graph:
        if data is None and not patch.is_dir():
            refuse("give some rows with --data: their columns' types are needed")
        X = tables.some_rows(data or options_of(patch).data)
    if g is not None:
        heed(compare_model(loaded, g.base, X), if_unlike)
    if as_graph:
        from fairpatch.engines.onnx import merged_graph, patch_graph, save_graph

        graph = (
            patch_graph(loaded, with_reason=reasons)
            if g is None
            else merged_graph(g, X, with_reason=reasons)
        )
        say(f"wrote {save_graph(graph, out)}")
        return
    from fairpatch.engines.mlflow import save_model

    save_model(g or loaded, X, out, with_reason=reasons)
    say(f"wrote {out}: serve it with: mlflow models serve -m {out} --env-manager local")
