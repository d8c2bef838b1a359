"""What the package index shows, from one setting in pyproject.toml.

On the index the README's relative links would lead nowhere, so they become addresses of the
repository.
"""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


class FairpatchMetadata(MetadataHookInterface):
    """Project addresses, and the README with absolute links."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        """Fill in what pyproject.toml calls dynamic."""
        home = self.config["repository"]
        metadata["urls"] = {
            "Documentation": self.config["site"],
            "Source": home,
            "Issues": f"{home}/issues",
            "Changelog": f"{home}/blob/main/CHANGELOG.md",
            "Paper": "https://openreview.net/forum?id=B9fdU4qjpD",
        }
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": absolute(text, home)}


def absolute(text: str, home: str) -> str:
    """Markdown whose links and pictures lead to the repository."""
    text = re.sub(r"(!\[[^\]]*\]\()(?![a-z]+:)([^)#]+)", rf"\1{home}/raw/main/\2", text)
    return re.sub(r"((?<!!)\[[^\]]*\]\()(?![a-z]+:|#)([^)]+)", rf"\1{home}/blob/main/\2", text)
