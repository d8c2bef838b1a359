"""A session's text as a moving picture: lines appear as they do in a terminal, and scroll up.

An SVG of text with CSS animations: no script, selectable, a few kilobytes. Long waits are cut.
"""

from html import escape

ROWS, COLUMNS = 24, 100
LINE, WIDTH = 18, 8.43
"""Height of a line and width of a letter, in pixels."""
TYPED, SHOWN, STAGE, READ = 1.0, 0.07, 0.7, 2.5
"""Seconds: for a command to be typed, a line to appear, a stage of a fit, and a pause to read."""


def moving_picture(text: str, stages: tuple[str, ...]) -> str:
    """The SVG."""
    lines = [
        line[i : i + COLUMNS]
        for line in text.splitlines()
        for i in range(0, max(len(line), 1), COLUMNS)
    ]
    times, now = [], 0.5
    for line in lines:
        if line.startswith("$ "):
            now += READ if times else 0.0
            times.append(now)
            now += TYPED
        else:
            now += STAGE if line.startswith(stages) else SHOWN
            times.append(now)
    whole = now + 2 * READ
    shown = "\n".join(
        f'<text y="{(i + 1) * LINE}" class="{"c" if line.startswith("$ ") else "o"}" '
        f'style="animation-delay:{t:.2f}s">{escape(line)}</text>'
        for i, (line, t) in enumerate(zip(lines, times, strict=True))
        if line
    )
    # what is above the last rows has scrolled away; one step a line
    steps = "".join(
        f"{100 * t / whole:.3f}%{{transform:translateY({-(i + 1 - ROWS) * LINE}px)}}"
        for i, t in enumerate(times)
        if i + 1 > ROWS
    )
    last = -max(0, len(lines) - ROWS) * LINE
    width, height = COLUMNS * WIDTH + 24, (ROWS + 1) * LINE + 12
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}">
<style>
text{{font:14px ui-monospace,"DejaVu Sans Mono",Menlo,Consolas,monospace;white-space:pre;opacity:0;
animation:in .01s linear forwards}}
.c{{fill:#8fd19e;font-weight:bold}} .o{{fill:#e6e6e6}}
@keyframes in{{to{{opacity:1}}}}
@keyframes up{{0%{{transform:none}}{steps}100%{{transform:translateY({last}px)}}}}
.up{{animation:up {whole:.2f}s step-end forwards}}
</style>
<rect width="100%" height="100%" rx="8" fill="#1b1f24"/>
<svg x="12" y="6" width="{width - 24:.0f}" height="{ROWS * LINE + 6}"><g class="up">
{shown}
</g></svg>
</svg>
"""
