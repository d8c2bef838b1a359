"""Draw the house from its imports: ``python docs/house.py`` writes house.svg.

Every room of src/fairpatch stands on its floor, as [tool.importlinter] has them: a room may import
what is below it. A room is as wide as its code is long; the number is how many rooms use it.
"""

import tomllib
from html import escape
from importlib import import_module
from pathlib import Path

import grimp

HERE = Path(__file__).parent
SOURCE = HERE.parent / "src" / "fairpatch"
WIDTH, FLOOR, GAP = 920, 58, 10


def floors() -> list[list[str]]:
    """The rooms of each floor, from the top."""
    settings = tomllib.loads((HERE.parent / "pyproject.toml").read_text(encoding="utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    return [[room.strip() for room in layer.split("|")] for layer in layers]


def lines(room: str) -> int:
    """Lines of Python in it."""
    place = SOURCE / room
    files = place.rglob("*.py") if place.is_dir() else [place.with_suffix(".py")]
    return sum(len(f.read_text(encoding="utf-8").splitlines()) for f in files)


def words(room: str) -> str:
    """What it says of itself, in its first sentence."""
    told = import_module(f"fairpatch.{room}").__doc__ or ""
    return told.replace("`", "").split("\n")[0].split(". ")[0].rstrip(".")


def used() -> dict[str, int]:
    """How many other rooms import each room."""
    graph = grimp.build_graph("fairpatch")
    rooms = [room for floor in floors() for room in floor]
    for room in rooms:
        graph.squash_module(f"fairpatch.{room}")
    names = {f"fairpatch.{room}" for room in rooms}
    return {
        room: len(graph.find_modules_that_directly_import(f"fairpatch.{room}") & names)
        for room in rooms
    }


def picture() -> str:
    """The SVG."""
    users, drawn = used(), []
    for i, floor in enumerate(floors()):
        y, x, sizes = i * FLOOR, 0.0, [lines(room) ** 0.5 for room in floor]
        room_for = WIDTH - GAP * (len(floor) - 1)
        for room, size in zip(floor, sizes, strict=True):
            width = room_for * size / sum(sizes)
            most = int((width - 16) / 6.3)
            about = words(room)
            about = about if len(about) <= most else about[: most - 1].rstrip() + "…"
            by = f"{users[room]} room" + ("s" if users[room] != 1 else "")
            head = f"{room}  ·  {lines(room):,} lines, used by {by}"
            if len(head) > (width - 16) / 7.6:
                head = f"{room}  ·  {lines(room):,}"
            drawn.append(
                f'<rect x="{x:.0f}" y="{y}" width="{width:.0f}" height="{FLOOR - 8}" rx="4"/>'
                f'<text class="h" x="{x + 8:.0f}" y="{y + 20}">{escape(head)}</text>'
                f'<text x="{x + 8:.0f}" y="{y + 39}">{escape(about)}</text>'
            )
            x += width + GAP
    height = len(floors()) * FLOOR
    inside = "\n".join(drawn)
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}">
<style>rect{{fill:#eef3f8;stroke:#7a94ad}}
text{{font:12px system-ui,sans-serif;fill:#333}}
.h{{font-weight:600;font-size:13px;fill:#123}}</style>
{inside}
</svg>
"""


if __name__ == "__main__":
    (HERE / "house.svg").write_text(picture(), encoding="utf-8")
