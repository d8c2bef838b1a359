"""What pages quote is what the code says: messages, commands, options, figures."""

import importlib.util
import json
import re
import shlex
from pathlib import Path

import typer

from fairpatch.cli.main import app

ROOT = Path(__file__).parents[1]
SOURCE = "".join(
    # strings that go on in the next line are one
    re.sub(r'"\s*\n\s*f?"', "", path.read_text(encoding="utf-8"))
    for path in (ROOT / "src" / "fairpatch").rglob("*.py")
)


def test_every_message_of_the_troubleshooting_page_is_one_of_ours():
    page = (ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
    said = [cell for row in page.splitlines() if row.startswith("| `")
            for cell in re.findall(r"`([^`]+)`", row.split("|")[1])]  # fmt: skip
    assert len(said) > 12
    assert [words for words in said if words not in SOURCE] == []


def commands_of(text):
    """Commands in blocks, and in code within a line, as words."""
    blocks = "\n".join(re.findall(r"^```(?:bash|)\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    found = re.findall(r"^(?:\$ )?(fairpatch [a-z]+ .*)$", blocks, re.MULTILINE)
    for line in found + re.findall(r"`(fairpatch [a-z]+ [^`]+)`", text):
        try:
            yield shlex.split(line, comments=True)
        except ValueError:  # half a command, in a sentence
            continue


def options_of(words):
    """The options that a command has; None where there is no such command."""
    command = typer.main.get_command(app).commands.get(words[1])
    if hasattr(command, "commands"):
        command = command.commands.get(words[2])
    if command is None:
        return None
    return {o for p in command.params for o in (*p.opts, *p.secondary_opts)} | {"--help"}


def test_every_command_and_option_that_a_page_names_exists():
    wrong, docs = [], ROOT / "docs"
    for page in [ROOT / "README.md", *docs.glob("[!c]*.md"), *docs.glob("[ghs]*/*.md")]:
        for words in commands_of(page.read_text(encoding="utf-8")):
            known = options_of(words)
            asked = [word.partition("=")[0] for word in words if re.match(r"--[a-z]", word)]
            if known is None or not known.issuperset(asked):
                wrong.append((page.name, " ".join(words)))
    assert wrong == []


def test_the_notebook_is_the_readme():
    spec = importlib.util.spec_from_file_location("notebook", ROOT / "docs" / "notebook.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    kept = (ROOT / "docs" / "start" / "fairpatch.ipynb").read_text(encoding="utf-8")
    assert kept == module.notebook(), "python docs/notebook.py"
    code = ["".join(c["source"]) for c in json.loads(kept)["cells"] if c["cell_type"] == "code"]
    compile("\n".join(code[1:]), "notebook", "exec")
    assert len(code) > 4
