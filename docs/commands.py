"""The page of all commands, written from the code whenever the site is built."""

from pathlib import Path
from typing import Any

import typer

from fairpatch.cli.main import app

HEAD = """# Commands

Every command and every option, written from the code. `fairpatch COMMAND --help` prints the same.
Exit codes are in [](start/engineer.md).
"""


def write(path: Path) -> None:
    """The page, where it is not already so: Sphinx reads again what was written."""
    text = "\n".join([HEAD, *_pages("fairpatch", typer.main.get_command(app))])
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def _pages(words: str, group: Any) -> list[str]:
    found = []
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            found += _pages(f"{words} {name}", command)
        else:
            found.append(_page(f"{words} {name}", command))
    return found


def _page(words: str, command: Any) -> str:
    given = [p for p in command.params if p.param_type_name == "argument"]
    chosen = [p for p in command.params if p.param_type_name == "option" and not p.hidden]
    usage = " ".join([words, *(p.name.upper() for p in given)])
    rows = [f"| `{p.name.upper()}` | {_cell(p)} |" for p in given]
    rows += [f"| {', '.join(f'`{o}`' for o in p.opts)} | {_cell(p)} |" for p in chosen]
    table = ["| Option | What it does |", "|---|---|", *rows] if rows else []
    help_text = " ".join((command.help or "").split())
    return "\n".join([f"## {usage}", "", help_text, "", *table, ""])


def _cell(parameter: Any) -> str:
    text = (parameter.help or "").replace("|", "\\|")
    default = parameter.default
    shown = default is not None and default is not False and not callable(default)
    return f"{text} (default: `{default}`)" if shown and default not in ([], ()) else text
