"""Whether an agent may act or look just now."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

from deskhand.desktop.actions.catalog import CursorPosition, Screenshot, Wait
from deskhand.desktop.actions.requests import ActionRequest, BatchRequest


class AccessControl(Protocol):
    """What grants it; `deskhand.desktop.lease.runtime.Leasing` outside of tests."""

    def acting(self, chat: str) -> AbstractContextManager[None]:
        """Let an agent act while the body runs; empty for one that names no chat.

        Raises:
            HumanInControl: While a person is in control.
            HeldByChat: While another chat acts, and for a while after.
        """

    def admit(self, chat: str) -> None:
        """Let it go on. Raises as ``acting``."""

    def look(self) -> None:
        """Let somebody see the screen.

        Raises:
            HumanInControl: While a person has it in private.
        """

    def drives(self, key: str) -> bool:
        """Whether that page or program is in control."""


class UnrestrictedAccess:
    """Where everybody may do everything."""

    @contextmanager
    def acting(self, chat: str) -> Iterator[None]:
        """Let it."""
        yield

    def admit(self, chat: str) -> None:
        """Let it."""

    def look(self) -> None:
        """Let it."""

    def drives(self, key: str) -> bool:
        """Nobody is."""
        return False


def only_looks(request: ActionRequest | BatchRequest) -> bool:
    """Return whether a request changes nothing, so that anybody may make it."""
    asked = request.actions if isinstance(request, BatchRequest) else (request,)
    return all(isinstance(one.action, Screenshot | CursorPosition | Wait) for one in asked)


def key_of(name: str | None, viewer: str | None) -> str:
    """Return what tells one page or program from another."""
    return f"viewer:{viewer}" if viewer else f"name:{name or ''}"
