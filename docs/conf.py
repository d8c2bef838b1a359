"""The site: Sphinx, pydata theme, Markdown through MyST, examples run by sphinx-gallery."""

import os
import sys
import tomllib
import warnings
from pathlib import Path

from sphinx_gallery.sorting import FileNameSortKey

from fairpatch import __version__

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
BUILD = HERE.parent / "build"
SETTINGS = tomllib.loads((HERE.parent / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
REPOSITORY = SETTINGS["hatch"]["metadata"]["hooks"]["custom"]["repository"]
COLAB = REPOSITORY.replace("github.com", "colab.research.google.com/github")
SHARED = HERE.parents[1] / "shared" / "data"
if SHARED.is_dir():
    os.environ.setdefault("FAIRPATCH_DATA", str(SHARED))
if "FAIRPATCH_DATA" in os.environ:  # examples run in folders of their own
    os.environ["FAIRPATCH_DATA"] = str(Path(os.environ["FAIRPATCH_DATA"]).resolve())

project, author, release = "fairpatch", "The fairpatch developers", __version__
copyright = "2026, the fairpatch developers"  # noqa: A001 Sphinx asks for this name
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_gallery.gen_gallery",
]
html_theme = "pydata_sphinx_theme"
html_title = "fairpatch"
html_static_path = ["_static"]
html_css_files = ["fairpatch.css"]
html_favicon = LOGO = "_static/logo.svg"
html_extra_path = [str(BUILD / "extra")]
html_theme_options = {
    "logo": {"image_light": LOGO, "image_dark": LOGO, "text": "fairpatch"},
    "navbar_align": "left",
    "show_prev_next": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "icon_links": [{"name": "Source", "url": REPOSITORY, "icon": "fa-brands fa-github"}],
    "secondary_sidebar_items": ["page-toc"],
}
html_sidebars = {"index": [], "install": []}
# what stays in the repository: why it is as it is, and raw output; pages link to it by repo:
exclude_patterns = [
    "_build", "examples", "sg_execution_times.rst", "decisions", "figures/*", "install-sizes.md",
    "reproduction/page.md",
]  # fmt: skip
myst_url_schemes = {
    "http": None, "https": None, "mailto": None,
    "repo": f"{REPOSITORY}/blob/main/{{{{path}}}}#{{{{fragment}}}}",
    "colab": f"{COLAB}/blob/main/{{{{path}}}}",
}  # fmt: skip
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
suppress_warnings = ["config.cache"]
nitpicky = False
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
python_maximum_signature_line_length = 88
autosummary_generate = False  # a table on one page, not a page for each name
autodoc_member_order = "bysource"

# Examples on real data are left out where there is none, and the page says so.
# Without the data only what is generated is run; in a check, not what the tests run anyway.
RUN = r"\.py$" if os.environ.get("FAIRPATCH_DATA") else "generated"
if os.environ.get("FAIRPATCH_GALLERY") == "untested":
    RUN = r"plot_.*" + RUN
sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "default_thumb_file": str(HERE / "review.png"),  # of examples that draw nothing
    "gallery_dirs": "gallery",
    "filename_pattern": RUN,
    "within_subsection_order": FileNameSortKey,
    "abort_on_example_error": True,
    "remove_config_comments": True,
    "show_memory": False,
    "min_reported_time": 1_000,
    "matplotlib_animations": False,
}
warnings.filterwarnings("ignore", message="Matplotlib is currently using agg")


def setup(app):
    """Write the sample review; leave out what scikit-learn adds for metadata routing."""
    sample = BUILD / "extra" / "sample-review.html"
    sources = [HERE / "sample_review.py", *(HERE.parent / "src").rglob("*.*")]
    newest = max(path.stat().st_mtime for path in sources if "__pycache__" not in path.parts)
    if not sample.exists() or sample.stat().st_mtime < newest:  # it fits a patch: once a change
        from sample_review import write  # noqa: PLC0415 it fits a patch

        write(sample)

    import commands  # noqa: PLC0415 it lies beside this file

    commands.write(HERE / "commands.md")

    def skip(_, __, name, ___, skip, ____):
        return skip or (name.startswith("set_") and name.endswith("_request"))

    app.connect("autodoc-skip-member", skip)
