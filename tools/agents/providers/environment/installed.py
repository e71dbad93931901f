"""Installed clients of providers."""

from importlib.util import find_spec


def has_client(library: str) -> bool:
    """Return if a package is installed, without importing it."""
    try:
        return find_spec(library) is not None
    # A package above it is missing.
    except ModuleNotFoundError:
        return False
