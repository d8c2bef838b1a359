"""fairpatch: from a table of scores to a certified patch, and on to production.

Exit codes: 0 certified, 1 error, 2 wrong usage, 3 not met, 4 shown not to hold, 5 inconclusive,
6 looks like another model, 7 the review found what --fail-on names.
"""

import errno
import os
import re
import shlex
import sys
import warnings
from pathlib import Path
from typing import Annotated

import typer

from fairpatch import __version__
from fairpatch._tools.hints import speak_shell
from fairpatch._tools.verdict import FitWarning, exit_codes
from fairpatch.cli import (
    alternatives,
    apply,
    audit,
    certify,
    deploy,
    edit,
    fit,
    init,
    ledger,
    monitor,
    refit,
    review,
    show,
    sign,
    verify,
)
from fairpatch.cli.say import complain, note, results_only, say

app = typer.Typer(
    name="fairpatch",
    epilog=f"Exit codes: 1 error, 2 usage; of a verdict: {exit_codes()}; 7 of --fail-on.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback(invoke_without_command=True)
def version(
    show: Annotated[bool, typer.Option("--version", help="print the version")] = False,
) -> None:
    """Make a model that people trust meet a fairness target by changing few of its decisions."""
    if show:
        say(__version__)
        raise typer.Exit


VERBS = (
    init, audit, fit, show, edit, review, sign, verify, apply, deploy, certify, monitor, refit,
    ledger,
)  # fmt: skip
for module in VERBS:
    name = module.__name__.rpartition(".")[2]
    app.command(name, help=(module.__doc__ or "").strip())(module.run)
app.add_typer(alternatives.app, name="alternatives")


SIGNING, VERIFYING = (
    ("sign", "ledger", "certify", "monitor", "refit"), ("verify", "review", "alternatives")
)  # fmt: skip
KEYS = {
    **{(verb, "--key"): "--private-key" for verb in SIGNING},
    **{(verb, "--name"): "--signer" for verb in SIGNING},
    **{(verb, "--key"): "--public-key" for verb in VERIFYING},
}
"""What options of a command were called in 0.1: a key was a file, and a column."""


def renamed(words: list[str]) -> list[str]:
    """A command as it is called today, from its name in 0.1: those answer for one release more.

    >>> " ".join(renamed(["sql", "run", "--check"]))
    'deploy run --to check'
    >>> " ".join(renamed(["export", "run", "patch.onnx"]))
    'deploy run patch.onnx --to onnx'
    >>> " ".join(renamed(["fit", "--no-exclude", "age"]))
    'fit --exclude -age'
    >>> " ".join(renamed(["sign", "run", "--key", "a.pem", "--name", "Jo"]))
    'sign run --private-key a.pem --signer Jo'
    """
    words = [KEYS.get((words[0], word), word) for word in words]
    verb, *rest = words or [""]
    if verb == "sql":
        to = next((flag[2:] for flag in rest if flag in ("--check", "--test")), "sql")
        return ["deploy", *(word for word in rest if word != f"--{to}"), "--to", to]
    if verb == "export":
        to = "onnx" if any(word.endswith(".onnx") for word in rest[1:2]) else "mlflow"
        return ["deploy", *rest, "--to", to]
    if verb == "reproduce":
        return ["verify", *rest, "--again"]
    if verb == "diff":
        return ["show", *rest]
    lists = ("--no-sensitive", "--no-exclude", "--no-ignore", "--no-category")
    return [
        f"--{word[5:]}" if word in lists else f"-{word}" if before in lists else word
        for before, word in zip(["", *words], words, strict=False)
    ]


_FAILED = {
    errno.ENOSPC: "could not be written: the disk is full. What was there before is as it was",
    errno.EDQUOT: "could not be written: your disk quota is used up",
    errno.EROFS: "could not be written: the folder is read-only. Choose another place",
    errno.EACCES: "could not be read or written: permission denied. Choose another place",
    errno.EMFILE: "could not be opened: too many files are open (ulimit -n)",
    errno.EISDIR: "is a folder, and a file is needed",
    errno.ENOTDIR: "could not be written: a part of that path is a file, no folder",
    errno.ENAMETOOLONG: "could not be written: the name is too long",
}
"""What a system's error numbers mean, with what to do."""


def _shown(name: object) -> str:
    """A file by its name; one in the making by that of its folder."""
    if not isinstance(name, str):
        return "a file"
    return str(Path(name).parent) if name.endswith(".unfinished") else name


def _in_short(error: Exception) -> str:
    """The text of an error; of DuckDB's about text files, without its advice on its own options."""
    text = str(error)
    if isinstance(error, MemoryError):
        return (
            "there is not enough memory. Fewer rows to learn from: max_rows; or a key, so that the "
            "table stays in its engine: --key"
        )
    if isinstance(error, OSError) and error.errno in _FAILED:
        return f"{_shown(error.filename)} {_FAILED[error.errno]}"
    if "No magic bytes found" in text or "Footer length error" in text:
        name = text.rpartition("file ")[2].strip("' ")
        return (
            f"{name} is no Parquet file, or was cut off: write it again, or give it its own ending"
        )
    if "No space left on device" in text:  # as DuckDB says it
        return f"a file {_FAILED[errno.ENOSPC]}"
    if type(error).__module__.startswith(("duckdb", "_duckdb")) and "CSV" in text:
        first = " ".join(line.strip() for line in text.splitlines()[:2])
        first = re.sub(r"[^\"\s]*fairpatch-[^/\"\s]*/\d+/", "", first)  # rewritten in UTF-8
        return (
            f"{first}\nSay how the file is written: csv: {{delimiter: ';', decimal: ',', encoding: "
            "cp1252} in the configuration; fairpatch init finds most of it"
        )
    return text


def main() -> None:
    """Run a verb; what the user can mend is said in a line, not in a traceback."""
    results_only()
    speak_shell()
    warnings.simplefilter("ignore", FitWarning)  # told with the certificate, in words of our own
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")  # nothing leaves this machine
    os.environ.setdefault("DO_NOT_TRACK", "true")
    given, sys.argv[1:] = sys.argv[1:], renamed(sys.argv[1:])
    if given != sys.argv[1:]:
        note(f"this is now: fairpatch {shlex.join(sys.argv[1:])}")
    try:
        app()
    except Exception as error:
        if os.environ.get("FAIRPATCH_TRACEBACK"):
            raise
        text = error.args[0] if isinstance(error, KeyError) and error.args else _in_short(error)
        complain(f"{text}\n(FAIRPATCH_TRACEBACK=1 shows where)")
        sys.exit(getattr(error, "exit_code", 1))
    except KeyboardInterrupt:
        complain("stopped. What was finished is complete; run the same command again to go on.")
        sys.exit(130)
