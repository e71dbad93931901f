"""The seats before one desktop: who sits there, and what of their words passes just now."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from typing import NamedTuple, Protocol

from deskhand.vncbridge.auth.policy import Principal
from deskhand.vncbridge.auth.scopes import desktop_role
from deskhand.vncbridge.websocket.client_stream import CloseReason

from .messages import ClientMessage, ClientParser, Held, MessageKind
from .permissions import Role, is_press, min_role, passes

MOST_WATCHERS = 64
PRIVATE = CloseReason(4001, "A person has this desktop in private.")
"""A code of our own, RFC 6455 section 7.4.2: come back when control was given back."""
WHEEL = 0b01111000
"""Buttons 4 to 7: each notch is one, and none is a click."""


class Control(Protocol):
    """Who may act on the desktop."""

    def joined(self, key: str) -> None:
        """Note a connection of that page or program."""

    def parted(self, key: str) -> None:
        """Note its end."""

    def holds_control(self, key: str) -> bool:
        """Whether it is in control."""

    def may_see(self, key: str) -> bool:
        """Whether it may see the screen now."""

    def begins(self, key: str, name: str) -> bool:
        """Let a program take what nobody has by acting; return whether it is in control now."""

    def used(self, key: str, *, keys: int, clicks: int) -> None:
        """Count what the one in control did."""


class NoLease:
    """For a desktop that everybody drives who may."""

    def joined(self, key: str) -> None:
        """Nothing to note."""

    def parted(self, key: str) -> None:
        """Nothing to note."""

    def holds_control(self, key: str) -> bool:
        """Always."""
        return True

    def may_see(self, key: str) -> bool:
        """Always."""
        return True

    def begins(self, key: str, name: str) -> bool:
        """Always."""
        return True

    def used(self, key: str, *, keys: int, clicks: int) -> None:
        """Nothing to count."""


class ViewerIdentity(NamedTuple):
    """Somebody who wants to watch."""

    role: Role
    name: str
    key: str
    asks: bool
    """Whether it takes control by a button of its own, and not by acting."""


_numbers = count(1)


def viewer_identity(
    query: Mapping[str, str], principal: Principal | None, desktop: str
) -> ViewerIdentity:
    """Read who comes to a desktop from an address's parameters and the credential shown with it."""
    scopes = ("admin",) if principal is None else principal.scopes
    granted: Role = "view" if desktop_role(scopes, desktop) == "view" else "control"
    role = min_role(granted, query.get("role", "control"))
    name = "".join(c for c in query.get("name", "") if c.isprintable())[:60].strip()
    viewer = query.get("viewer", "")
    if role == "view":
        # Never the key of somebody in control, whatever the address says.
        key = f"watcher:{next(_numbers)}"
    elif viewer:
        key = f"viewer:{viewer[:64]}"
    elif name:
        key = f"name:{name}"
    else:
        key = f"connection:{next(_numbers)}"
    known = principal.name if principal is not None else "Somebody"
    return ViewerIdentity(role, name or known, key, asks=bool(viewer))


class ViewerSession:
    """One watcher's place; the words of its client go through `heard`."""

    def __init__(
        self, who: ViewerIdentity, control: Control, write: Callable[[bytes], None]
    ) -> None:
        self.who = who
        self.banished = asyncio.Event()
        self._control = control
        self._write = write
        self._stream = ClientParser()
        self._held = Held()
        self._buttons = 0

    @property
    def midway(self) -> bool:
        """Whether more has to come before anything makes sense."""
        return self._stream.midway

    def heard(self, data: bytes) -> None:
        """Pass on what may pass.

        Raises:
            ProtocolBroken: If it cannot be understood.
        """
        said = [m.raw for m in self._stream.feed(data) if self._passes(m)]
        if said:
            self._write(b"".join(said))

    def settle(self) -> None:
        """Let a change of control take effect."""
        if not self._control.holds_control(self.who.key):
            self.let_go()
        if not self._control.may_see(self.who.key):
            self.banished.set()

    def let_go(self) -> None:
        """Release what the client holds down."""
        released = self._held.release()
        self._buttons = 0
        if released:
            self._write(released)

    def _passes(self, message: ClientMessage) -> bool:
        role = self.who.role
        if not passes(message, role):
            return False
        if message.kind not in (MessageKind.KEY, MessageKind.POINTER):
            return True
        key = self.who.key
        if not self._control.holds_control(key):
            may_begin = is_press(message) and not self.who.asks
            if not (may_begin and self._control.begins(key, self.who.name)):
                return False
        self._held.note(message)
        self._count(message)
        return True

    def _count(self, message: ClientMessage) -> None:
        clicks = 0
        if message.kind is MessageKind.POINTER:
            clicks = (message.buttons & ~self._buttons & ~WHEEL).bit_count()
            self._buttons = message.buttons
        self._control.used(self.who.key, keys=int(message.down), clicks=clicks)


class Viewers:
    """Who watches one desktop now."""

    def __init__(self, most: int = MOST_WATCHERS, control: Control | None = None) -> None:
        self._most = most
        self._count = 0
        self._seats: set[ViewerSession] = set()
        self.control = control or NoLease()

    @property
    def count(self) -> int:
        """How many are connected."""
        return self._count

    @property
    def most(self) -> int:
        """How many may be."""
        return self._most

    @contextmanager
    def one_more(self) -> Iterator[None]:
        """Count a watcher while the body runs."""
        self._count += 1
        try:
            yield
        finally:
            self._count -= 1

    @contextmanager
    def seat(self, who: ViewerIdentity, write: Callable[[bytes], None]) -> Iterator[ViewerSession]:
        """Give a watcher a seat while the body runs; nothing stays pressed after it."""
        seat = ViewerSession(who, self.control, write)
        self._seats.add(seat)
        self.control.joined(who.key)
        try:
            yield seat
        finally:
            seat.let_go()
            self._seats.discard(seat)
            self.control.parted(who.key)

    def settle(self) -> None:
        """Let a change of control take effect on everybody."""
        for seat in tuple(self._seats):
            seat.settle()
