"""Draw the sample review: ``python docs/review_picture.py``. Needs Chromium, as its tests do.

``review.png`` is its first screen; ``start/review-read.png`` has numbers where the validator's page
says what to read.
"""

import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright
from sample_review import write

HERE = Path(__file__).parent
READ = ("h1", ".lead", ".light", "#card", "#who", "#outcomes", "#menu", "#findings")
"""What to read, in the order of the numbers on start/validator.md."""
NUMBER = """(at, number) => {
  const box = at.getBoundingClientRect(), badge = document.createElement("b");
  badge.textContent = number;
  badge.style.cssText = `position:absolute;left:${box.left + window.scrollX - 28}px;
    top:${box.top + window.scrollY - 4}px;width:24px;height:24px;border-radius:12px;z-index:9;
    background:#b3261e;color:#fff;font:bold 15px/24px sans-serif;text-align:center`;
  document.body.append(badge);
}"""


def main() -> None:
    """Write the page, open it, take its pictures."""
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        page = Path(scratch) / "review.html"
        write(page)
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu"]
        )
        view = browser.new_page(viewport={"width": 1000, "height": 830}, device_scale_factor=1)
        view.goto(page.as_uri())
        view.screenshot(path=HERE / "review.png")
        _with_numbers(view)
        browser.close()


def _with_numbers(view: Any) -> None:
    view.add_style_tag(content="body { padding-left: 36px } .grid { column-gap: 36px }")
    for number, what in enumerate(READ, 1):
        view.evaluate(
            f"([what, number]) => ({NUMBER})(document.querySelector(what), number)", [what, number]
        )
    end = view.evaluate("document.querySelector('#sheet').getBoundingClientRect().bottom")
    view.set_viewport_size({"width": 1000, "height": int(end) + 12})
    view.screenshot(path=HERE / "start" / "review-read.png")


if __name__ == "__main__":
    main()
