"""Permission to act on the screen or to view it now."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

from deskhand.desktop.actions.catalog import CursorPosition, Screenshot, Wait
from deskhand.desktop.actions.requests import ActionRequest, BatchRequest


class AccessControl(Protocol):
    """Grants permissions; in production a `lease.runtime.LeaseRuntime`."""

    def acting(self, chat: str) -> AbstractContextManager[None]:
        """Hold the right to act while the body runs; ``chat`` is empty for a caller without a chat.

        Raises:
            HumanInControl: While a person is in control.
            HeldByChat: While another chat acts, and for a while after.
        """

    def check_act(self, chat: str) -> None:
        """Check that the chat may still act. Raises as ``acting``."""

    def check_view(self) -> None:
        """Check that agents may view the screen.

        Raises:
            HumanInControl: While a person has control in privacy mode.
        """

    def holds_control(self, key: str) -> bool:
        """Return whether that page or program is in control."""


class UnrestrictedAccess:
    """Access control of a computer without a lease: it permits everything."""

    @contextmanager
    def acting(self, chat: str) -> Iterator[None]:
        """Permit it."""
        yield

    def check_act(self, chat: str) -> None:
        """Permit it."""

    def check_view(self) -> None:
        """Permit it."""

    def holds_control(self, key: str) -> bool:
        """Return that it is not."""
        return False


def only_looks(request: ActionRequest | BatchRequest) -> bool:
    """Return whether a request changes nothing, so that it needs no right to act."""
    asked = request.actions if isinstance(request, BatchRequest) else (request,)
    return all(isinstance(one.action, Screenshot | CursorPosition | Wait) for one in asked)


def key_of(name: str | None, viewer: str | None) -> str:
    """Return the key that distinguishes one page or program from another."""
    return f"viewer:{viewer}" if viewer else f"name:{name or ''}"
