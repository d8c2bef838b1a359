"""Draw review.png, the first screen of the sample review: ``python docs/review_picture.py``.

Needs Chromium, as the tests of the review do.
"""

import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright
from sample_review import write

HERE = Path(__file__).parent


def main() -> None:
    """Write the page, open it, take its picture."""
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        page = Path(scratch) / "review.html"
        write(page)
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu"]
        )
        view = browser.new_page(viewport={"width": 1000, "height": 830}, device_scale_factor=1)
        view.goto(page.as_uri())
        view.screenshot(path=HERE / "review.png")
        browser.close()


if __name__ == "__main__":
    main()
