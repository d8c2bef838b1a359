"""The README's example as a notebook: ``python docs/notebook.py`` writes start/fairpatch.ipynb.

It opens in Colab and in Jupyter. Cells are the README's own blocks, which the tests run; what they
print is left out, so that whoever opens it runs it.
"""

import json
import re
from pathlib import Path

HERE = Path(__file__).parent
INSTALL = '%pip install --quiet "fairpatch[cli]"'


def cells(readme: str) -> list[dict]:
    """Text and code, in their order, from the example to the review."""
    text = readme.partition("<!-- example -->")[2].partition("## Where to go next")[0]
    found = [("code", INSTALL)]
    for i, part in enumerate(re.split(r"```python\n(.*?)```\n", text, flags=re.DOTALL)):
        if i % 2:
            lines = [line[4:] for line in part.splitlines() if line.startswith((">>> ", "... "))]
            found.append(("code", "\n".join(lines)))
        elif part.replace("<!-- end -->", "").strip():
            found.append(("markdown", part.replace("<!-- end -->", "").strip()))
    found.append(("code", "review"))  # a notebook shows its first screen
    return [_cell(i, kind, source) for i, (kind, source) in enumerate(found)]


def _cell(number: int, kind: str, source: str) -> dict:
    own = {"cell_type": kind, "id": f"cell-{number}", "metadata": {}}
    own["source"] = source.splitlines(keepends=True)
    return {**own, "execution_count": None, "outputs": []} if kind == "code" else own


def notebook() -> str:
    """As Jupyter writes it."""
    readme = (HERE.parent / "README.md").read_text(encoding="utf-8")
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    whole = {"cells": cells(readme), "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    (HERE / "start" / "fairpatch.ipynb").write_text(notebook(), encoding="utf-8")
