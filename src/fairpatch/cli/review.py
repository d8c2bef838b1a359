"""Review a run's patch on other rows, best those that nothing else has seen."""

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from fairpatch.cli import data as tables
from fairpatch.cli.fit import about_run
from fairpatch.cli.ledger import record
from fairpatch.cli.options import (
    Data,
    FailOn,
    IfUnlike,
    Life,
    PublicKey,
    SensitiveTable,
    ShowSmallCounts,
    TrustModel,
)
from fairpatch.cli.people import enforce_if_unlike, frame_of, patched_model
from fairpatch.cli.run_folder import MOST_OF_A_REVIEW, checked, manifest, options_of, used_of
from fairpatch.cli.say import say
from fairpatch.cli.sign import who_signed
from fairpatch.cli.verdicts import check_fail_on, leave_if_found


def run(
    folder: Annotated[Path, typer.Argument(help="a run's folder")],
    data: Data = None,
    sensitive_table: SensitiveTable = None,
    out: Annotated[Path, typer.Option(help="the page to write")] = Path("review.html"),
    if_unlike: IfUnlike = "refuse",
    trust_model: TrustModel = None,
    show_small_counts: ShowSmallCounts = False,
    key: PublicKey = None,
    amount: Annotated[
        str | None, typer.Option(help="column of what is at risk, for the credit impact")
    ] = None,
    fail_on: FailOn = None,
    life: Life = None,
) -> None:
    """Write a review pack: the page, and beside it its data and model card."""
    from fairpatch._tools.files import read_strictly
    from fairpatch.choose.fit import certify_rows
    from fairpatch.patch import load
    from fairpatch.report.review import amounts_of, review_rows
    from fairpatch.report.signed import Signed, history_of
    from fairpatch.report.verdict_section import CertificateSection

    check_fail_on(fail_on)
    patch, certificate, earlier = checked(folder, "patch.json", "certificate.json", "review.json")
    options = options_of(
        folder, data=data, sensitive_table=sensitive_table, trust_model=trust_model
    )
    signed = who_signed(folder, key)
    model = patched_model(options, load(patch), used_of(folder))
    own = tables.fingerprint(options.data) == manifest(folder).data_sha256
    frame, said = frame_of(options, learns=False), ""
    if not own:
        said, frame, *_ = model.that_count(frame, options.label, options.sensitive)
    rows = model.rows(frame, options.label, options.sensitive)
    enforce_if_unlike(model.compare(rows.X, rows.f), if_unlike)
    target = options.asked
    judged: Any = None
    if own:  # the run's own rows: only its fit knows which of them are fresh
        earlier_certificate = read_strictly(certificate, "a certificate")
        judged = (
            None
            if earlier_certificate is None
            else CertificateSection.model_validate(earlier_certificate)
        )
    else:
        judged = certify_rows(rows, model.patch, target).remarking(said)
    about = about_run(options, folder).model_copy(
        update={"command": f"fairpatch review {shlex.quote(str(folder))}", "data": options.data}
    )
    made = review_rows(
        model, rows, target=target, exclude=options.exclude, refits=0,
        show_small_counts=show_small_counts, about=about,
        judged=judged, amount=amounts_of(frame, amount, len(rows)),
    )  # fmt: skip
    last = out.with_suffix(".json")
    past = _past(last if last.is_file() else earlier)
    made = made.with_earlier(history_of(past, model.patch))
    made = made.replace(signed=None if signed is None else Signed(**signed))
    made.to_html(out)
    made.to_json(out.with_suffix(".json"))
    made.to_model_card(out.with_suffix(".md"))
    record(folder, life, "reviewed", data=options.data, page=str(out))
    say(f"{made}\nwrote {out}, {out.with_suffix('.json')} and {out.with_suffix('.md')}")
    leave_if_found(made.summary.findings, fail_on)


def _past(path: Path) -> Any:
    """The data of an earlier review; nothing where the file is something else."""
    from fairpatch._tools.files import read_strictly

    try:
        return read_strictly(path, "a review", MOST_OF_A_REVIEW)
    except ValueError:
        return None
