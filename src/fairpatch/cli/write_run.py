"""Write a run's folder: every file whole, the manifest last."""

from pathlib import Path
from typing import TYPE_CHECKING

from fairpatch.cli import data as tables

if TYPE_CHECKING:
    from fairpatch.cli.config import Config
    from fairpatch.patch import Patch
    from fairpatch.report.review import Review


def write_run(
    out: Path, options: "Config", patch: "Patch", review: "Review", *, verdict: str | None,
    people: int,
) -> None:  # fmt: skip
    """The folder is unfinished until its manifest is there."""
    from fairpatch.cli import config as configs
    from fairpatch.cli import run_folder
    from fairpatch.cli.signature import SIGNATURE, SIGNER
    from fairpatch.files.atomic import write_whole
    from fairpatch.files.strict_json import dumps_safely
    from fairpatch.patch import save

    out.mkdir(parents=True, exist_ok=True)
    earlier = ("refused.html", "refused.json", run_folder.REFIT)  # of an earlier try
    for sealed in (run_folder.MANIFEST, SIGNATURE, SIGNER, *earlier):
        (out / sealed).unlink(missing_ok=True)
    save(patch, out / "patch.json")
    menu = review.to_dict()["menu"]
    write_whole(out / "menu.json", dumps_safely(menu))
    write_whole(out / "config.yaml", configs.write(options).rstrip("\n"))
    review.to_html(out / "review.html")
    review.to_json(out / "review.json")
    review.to_model_card(out / "model_card.md")
    write_whole(out / "certificate.json", dumps_safely(review.to_dict()["certificate"]))
    about = {"data": options.data, "data_sha256": tables.fingerprint(options.data)}
    run_folder.seal(out, {**about, "rows": people, "certificate": verdict})
