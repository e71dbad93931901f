"""A computer for software agents, and a window on it for people.

The names below are loaded on first use (PEP 562), so that ``import deskhand`` costs next to nothing
and a desktop service, which needs none of them, never loads its own client.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .desktop.errors import DesktopBusy as DesktopBusy
    from .desktop.errors import DesktopError as DesktopError
    from .desktop.errors import DesktopOccupied as DesktopOccupied
    from .desktop.errors import DesktopRefused as DesktopRefused
    from .desktop.errors import DesktopUnavailable as DesktopUnavailable
    from .desktop.errors import NotOnDesktop as NotOnDesktop
    from .desktop.remote import Desktop as AsyncDesktop
    from .desktop.remote_sync import Desktop as Desktop
    from .desktop.results import Done as Done
    from .desktop.results import Picture as Picture

    __version__: str

_ERRORS = (
    *("DesktopBusy", "DesktopError", "DesktopOccupied", "DesktopRefused", "DesktopUnavailable"),
    "NotOnDesktop",
)
_EXPORTS = {
    "AsyncDesktop": ("remote", "Desktop"),
    "Desktop": ("remote_sync", "Desktop"),
    "Done": ("results", "Done"),
    "Picture": ("results", "Picture"),
    **{name: ("errors", name) for name in _ERRORS},
}

__all__ = [
    "AsyncDesktop",
    "Desktop",
    "DesktopBusy",
    "DesktopError",
    "DesktopOccupied",
    "DesktopRefused",
    "DesktopUnavailable",
    "Done",
    "NotOnDesktop",
    "Picture",
    "__version__",
]


def __getattr__(name: str) -> object:
    """Load an exported name and keep it."""
    if name == "__version__":
        # Imported here because it takes 35 ms, which every start of a desktop service would pay.
        value: object = import_module("importlib.metadata").version("deskhand")
    elif name in _EXPORTS:
        module, attribute = _EXPORTS[name]
        value = getattr(import_module(f"deskhand.desktop.{module}"), attribute)
    else:
        raise AttributeError(f"module 'deskhand' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return what can be imported, loaded or not."""
    return sorted({*globals(), *__all__})
