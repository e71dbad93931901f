"""A computer for software agents, and a window on it for people.

The names below are loaded on first use (PEP 562), so that ``import deskhand`` costs next to nothing
and a desktop service, which needs none of them, never loads its own client.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .desktop.remote import Desktop as AsyncDesktop
    from .desktop.remote_sync import Desktop as Desktop
    from .desktop.results import Done as Done
    from .desktop.results import Picture as Picture
    from .tools.client.client import Client as AsyncClient
    from .tools.client.client_sync import Client as Client
    from .tools.client.errors import ClientError as ClientError
    from .tools.client.errors import ConditionNotMet as ConditionNotMet
    from .tools.client.errors import DeskhandError as DeskhandError
    from .tools.client.errors import DesktopBusy as DesktopBusy
    from .tools.client.errors import DesktopError as DesktopError
    from .tools.client.errors import DesktopOccupied as DesktopOccupied
    from .tools.client.errors import DesktopRefused as DesktopRefused
    from .tools.client.errors import DesktopUnavailable as DesktopUnavailable
    from .tools.client.errors import EmptyPicture as EmptyPicture
    from .tools.client.errors import ExpectationFailed as ExpectationFailed
    from .tools.client.errors import InvalidAction as InvalidAction
    from .tools.client.errors import NoControlPlane as NoControlPlane
    from .tools.client.errors import NoRecording as NoRecording
    from .tools.client.errors import NotOnDesktop as NotOnDesktop
    from .tools.client.errors import RunNotStarted as RunNotStarted
    from .tools.client.errors import RunTimeout as RunTimeout
    from .tools.client.expectations import expect as async_expect
    from .tools.client.expectations_sync import expect as expect
    from .tools.client.run import Run as AsyncRun
    from .tools.client.run_sync import Run as Run

    __version__: str

_ERRORS = (
    *("ClientError", "ConditionNotMet", "DeskhandError", "DesktopBusy", "DesktopError"),
    *("DesktopOccupied", "DesktopRefused", "DesktopUnavailable", "EmptyPicture"),
    *("ExpectationFailed", "InvalidAction", "NoControlPlane", "NoRecording", "NotOnDesktop"),
    *("RunNotStarted", "RunTimeout"),
)
_EXPORTS = {
    "AsyncClient": ("tools.client.client", "Client"),
    "AsyncDesktop": ("desktop.remote", "Desktop"),
    "AsyncRun": ("tools.client.run", "Run"),
    "Client": ("tools.client.client_sync", "Client"),
    "Desktop": ("desktop.remote_sync", "Desktop"),
    "Done": ("desktop.results", "Done"),
    "Picture": ("desktop.results", "Picture"),
    "async_expect": ("tools.client.expectations", "expect"),
    "expect": ("tools.client.expectations_sync", "expect"),
    "Run": ("tools.client.run_sync", "Run"),
    **{name: ("tools.client.errors", name) for name in _ERRORS},
}

__all__ = [
    "AsyncClient",
    "AsyncDesktop",
    "AsyncRun",
    "Client",
    "ClientError",
    "ConditionNotMet",
    "DeskhandError",
    "Desktop",
    "DesktopBusy",
    "DesktopError",
    "DesktopOccupied",
    "DesktopRefused",
    "DesktopUnavailable",
    "Done",
    "EmptyPicture",
    "ExpectationFailed",
    "InvalidAction",
    "NoControlPlane",
    "NoRecording",
    "NotOnDesktop",
    "Picture",
    "Run",
    "RunNotStarted",
    "RunTimeout",
    "__version__",
    "async_expect",
    "expect",
]


def __getattr__(name: str) -> object:
    """Load an exported name and keep it."""
    if name == "__version__":
        # Imported here because it takes 35 ms, which every start of a desktop service would pay.
        value: object = import_module("importlib.metadata").version("deskhand")
    elif name in _EXPORTS:
        module, attribute = _EXPORTS[name]
        value = getattr(import_module(f"deskhand.{module}"), attribute)
    else:
        raise AttributeError(f"module 'deskhand' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return what can be imported, loaded or not."""
    return sorted({*globals(), *__all__})
