"""Optional packages: imported where they are used, with a message that says what to install."""

from importlib import import_module
from typing import Any


def need(module: str, *, extra: str) -> Any:
    """Import ``module``, or say which extra brings it."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ImportError(
            f"this needs the package {package!r}, which is not installed. "
            f"Install it with: pip install 'fairpatch[{extra}]'"
        ) from error
