"""``python -m fairpatch``: the command line, and what to install where it is not there."""

import sys
from importlib.util import find_spec

NEEDED = ("typer", "yaml", "duckdb", "pandas", "jinja2")


def main() -> None:
    """Run the command line, or say in a line what it needs."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        sys.stderr.write(
            f"error: the command line needs packages that are not installed: {', '.join(missing)}. "
            "Install them with: pip install 'fairpatch[cli]'\n"
        )
        sys.exit(1)
    from fairpatch.cli.main import main as run  # noqa: PLC0415 it imports what may be missing

    run()


if __name__ == "__main__":
    main()
