"""Export a patch as ONNX, on a score input: one graph that runs wherever onnxruntime does."""

from pathlib import Path
from typing import Annotated

import typer

from fairpatch.cli.options import PatchFile
from fairpatch.cli.run_folder import patch_path
from fairpatch.cli.say import say


def run(
    patch: PatchFile,
    out: Annotated[Path, typer.Argument(help="the .onnx file to write")],
) -> None:
    """Write the graph."""
    from fairpatch.engines.onnx import patch_graph, save_graph
    from fairpatch.patch import load

    say(f"wrote {save_graph(patch_graph(load(patch_path(patch))), out)}")
