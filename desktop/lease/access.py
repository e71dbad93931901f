"""Access of agents to the screen and its input devices, as the computer checks it."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Protocol

from deskhand.desktop.actions.catalog import CursorPosition, Screenshot, Wait
from deskhand.desktop.actions.requests import ActionRequest, BatchRequest


class AccessControl(Protocol):
    """Grants or refuses access; `deskhand.desktop.lease.runtime.LeaseRuntime` outside of tests."""

    def acting(self, chat: str) -> AbstractContextManager[None]:
        """Hold the right to act while the body runs; ``chat`` is empty for an agent without one.

        Raises:
            HumanInControl: While a person is in control.
            HeldByChat: While another chat acts, and for a while after.
        """

    def check_act(self, chat: str) -> None:
        """Check that an agent may go on acting. Raises as ``acting``."""

    def check_view(self) -> None:
        """Check that agents may see the screen.

        Raises:
            HumanInControl: While a person is in control in private.
        """

    def holds_control(self, key: str) -> bool:
        """Return whether that page or program is in control."""


class UnrestrictedAccess:
    """Access control that refuses nothing, for a desktop without a lease."""

    @contextmanager
    def acting(self, chat: str) -> Iterator[None]:
        """Grant the right to act."""
        yield

    def check_act(self, chat: str) -> None:
        """Grant the right to act."""

    def check_view(self) -> None:
        """Grant the right to see the screen."""

    def holds_control(self, key: str) -> bool:
        """Return False: control exists only with a lease."""
        return False


def acting(access: AccessControl, viewer: str | None, chat: str) -> AbstractContextManager[None]:
    """Hold the right to act, which the page of a viewer in control has already.

    Raises the same as `AccessControl.acting`.
    """
    if access.holds_control(control_key(None, viewer)):
        return nullcontext()
    return access.acting(chat)


def is_read_only(request: ActionRequest | BatchRequest) -> bool:
    """Return whether a request changes nothing, so that it needs no right to act."""
    # A batch with one action that needs the right to act needs it as a whole.
    actions = request.actions if isinstance(request, BatchRequest) else (request,)
    return all(isinstance(one.action, Screenshot | CursorPosition | Wait) for one in actions)


def control_key(name: str | None, viewer: str | None) -> str:
    """Return the key of a page or program; the lease compares holders by it."""
    # The prefixes keep a person's name from being taken for the key of a viewer's page.
    return f"viewer:{viewer}" if viewer else f"name:{name or ''}"
