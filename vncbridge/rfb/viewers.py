"""The viewers of one desktop: who they are, and which of their messages are passed on.

A viewer has one of three roles (`permissions`). Input of a viewer with the role ``control`` reaches
the desktop while the lease gives that viewer control. One with the role ``agent`` is a program that
acts as a chat does: while no person and no other chat is in control. `Control` is the lease as seen
from here: the desktop's lease implements it, and `Viewers.apply_control_change` is called after
every change. Then each session whose viewer lost control releases all keys and buttons that it
holds down, and each session that may not see the screen any more (a person took the desktop in
private) is revoked, which ends its stream.

A program that is in control shares the clipboard with the desktop (`clipboard`). The page of the
live view, which names itself in ``viewer``, has the routes of the clipboard instead.

A key that follows a click or a shortcut waits until that has moved the focus: a window manager
holds clicks back meanwhile, and a browser asks its pages, but keys are not held back by either.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from typing import NamedTuple, Protocol

from deskhand.vncbridge.auth.policy import Principal
from deskhand.vncbridge.auth.scopes import desktop_role
from deskhand.vncbridge.websocket.client_stream import CloseReason

from .clipboard import SharedClipboard, ViewerClipboard
from .messages import EXTENDED_DESKTOP_SIZE, ClientMessage, ClientParser, Held, MessageKind
from .permissions import Role, is_press, passes, permitted_role

MOST_WATCHERS = 64
PRIVATE = CloseReason(4001, "A person has this desktop in private.")
"""A private close code, RFC 6455 section 7.4.2: the viewer reconnects when control is released."""
WHEEL = 0b01111000
"""The mask of buttons 4 to 7: each notch of a wheel is a press of one, and none is a click."""

AwaitFocus = Callable[[], Awaitable[None]]
"""Waits until the input that was sent to the RFB server has moved the keyboard focus."""


async def await_nothing() -> None:
    """Return at once, for a server whose clicks move no focus."""


class Control(Protocol):
    """The lease of the desktop: decides which viewers may act and see."""

    def joined(self, key: str) -> None:
        """Record a connection of the page or program with this key."""

    def parted(self, key: str) -> None:
        """Record the end of a connection."""

    def holds_control(self, key: str) -> bool:
        """Return whether the viewer is in control."""

    def may_see(self, key: str) -> bool:
        """Return whether the viewer may see the screen now."""

    def may_type(self) -> bool:
        """Return whether keys of the viewer in control may be passed on now."""

    def begins(self, key: str, name: str) -> bool:
        """Give control to a viewer that acts while the lease is free; return whether it has it."""

    def used(self, key: str, *, keys: int, clicks: int) -> None:
        """Count the input of the viewer in control."""

    def agent_acts(self, key: str) -> bool:
        """Give control to a program that acts as an agent; return whether it has it."""

    def agent_holds(self, key: str) -> bool:
        """Return whether that agent is in control."""

    def agent_parted(self, key: str) -> None:
        """End the control of that agent."""


class NoLease:
    """The lease of a desktop without one: every viewer is in control."""

    def joined(self, key: str) -> None:
        """Do nothing: connections are not recorded."""

    def parted(self, key: str) -> None:
        """Do nothing: connections are not recorded."""

    def holds_control(self, key: str) -> bool:
        """Return True."""
        return True

    def may_see(self, key: str) -> bool:
        """Return True."""
        return True

    def may_type(self) -> bool:
        """Return True."""
        return True

    def begins(self, key: str, name: str) -> bool:
        """Return True."""
        return True

    def used(self, key: str, *, keys: int, clicks: int) -> None:
        """Do nothing: input is not counted."""

    def agent_acts(self, key: str) -> bool:
        """Return True."""
        return True

    def agent_holds(self, key: str) -> bool:
        """Return True."""
        return True

    def agent_parted(self, key: str) -> None:
        """Do nothing: agents hold nothing."""


class ViewerIdentity(NamedTuple):
    """A viewer, as its request identifies it."""

    role: Role
    name: str
    key: str
    asks: bool
    """True if the page requests control explicitly, so that acting does not take it."""


_numbers = count(1)


def viewer_identity(
    query: Mapping[str, str], principal: Principal | None, desktop: str
) -> ViewerIdentity:
    """Return the identity of a viewer, from the URL's parameters and its credential."""
    scopes = ("admin",) if principal is None else principal.scopes
    # The URL can only lower the role that the credential grants.
    granted: Role = "view" if desktop_role(scopes, desktop) == "view" else "control"
    role = permitted_role(granted, query.get("role", "control"))
    # The name is shown to other people, so control characters and excess length are removed.
    name = "".join(c for c in query.get("name", "") if c.isprintable())[:60].strip()
    viewer = query.get("viewer", "")
    if role == "view":
        # The viewer must not get the key of one in control by naming it in its URL.
        key = f"watcher:{next(_numbers)}"
    elif role == "agent":
        # Like the id of a chat; each connection acts for itself.
        key = f"vnc-agent:{next(_numbers)}"
    elif viewer:
        key = f"viewer:{viewer[:64]}"
    elif name:
        key = f"name:{name}"
    else:
        key = f"connection:{next(_numbers)}"
    known = principal.name if principal is not None else "A viewer"
    return ViewerIdentity(role, name or known, key, asks=bool(viewer))


class ViewerSession:
    """One viewer's connection: filters the messages of its client.

    ``write`` sends bytes to the RFB server.
    """

    def __init__(
        self,
        identity: ViewerIdentity,
        control: Control,
        write: Callable[[bytes], None],
        await_focus: AwaitFocus = await_nothing,
        clipboard: SharedClipboard | None = None,
    ) -> None:
        self.identity = identity
        self.revoked = asyncio.Event()
        self._control = control
        self._write = write
        self._await_focus = await_focus
        self._parser = ClientParser()
        self._held = Held()
        self._buttons = 0
        self._moves_focus = False
        self._encodings: frozenset[int] = frozenset()
        shares = clipboard is not None and identity.role != "view" and not identity.asks
        self.clipboard = ViewerClipboard(clipboard, self._holds) if clipboard and shares else None
        """None for a viewer that does not share the clipboard."""

    @property
    def mid_message(self) -> bool:
        """True while the handshake or a message is incomplete."""
        return self._parser.mid_message

    async def receive(self, data: bytes) -> None:
        """Parse the client's bytes and write the messages that are permitted.

        Raises:
            ProtocolBroken: If the bytes are not RFB.
        """
        permitted = bytearray()

        def flush() -> None:
            if permitted:
                self._write(bytes(permitted))
                permitted.clear()

        for message in self._parser.feed(data):
            # A shortcut repeats while its modifier is down.
            if message.down and self._moves_focus and not self._held.command:
                flush()
                self._moves_focus = False
                await self._await_focus()
            if self.clipboard is not None:
                self.clipboard.receive(message)
                if self.clipboard.offers and self._may_copy(message):
                    flush()
                    await self.clipboard.copy_offer()
            if self._passes(message):
                permitted += message.raw
        flush()

    def apply_control_change(self) -> None:
        """Release the input of a viewer without control; revoke one that may not see the screen."""
        if not self._holds():
            self.release_input()
        if not self._control.may_see(self.identity.key):
            self.revoked.set()

    def release_input(self) -> None:
        """Release all keys and buttons that the client holds down."""
        released = self._held.release()
        self._buttons = 0
        if released:
            self._write(released)

    def _holds(self) -> bool:
        control = self._control
        holds = control.agent_holds if self.identity.role == "agent" else control.holds_control
        return holds(self.identity.key)

    def _may_copy(self, message: ClientMessage) -> bool:
        """Return whether the viewer is in control, or begins to be by this message."""
        return self._holds() or (is_press(message) and self._acts(message))

    def _acts(self, message: ClientMessage) -> bool:
        """Give control to a viewer that may have it by this message; return whether it has it."""
        return self._agent_acts() if self.identity.role == "agent" else self._person_acts(message)

    def _passes(self, message: ClientMessage) -> bool:
        role = self.identity.role
        if not passes(message, role):
            return False
        if message.kind is MessageKind.ENCODINGS:
            self._encodings = message.encodings
        if message.kind is MessageKind.RESIZE:
            # The server ends the stream of a client that would not understand its answer.
            return EXTENDED_DESKTOP_SIZE in self._encodings
        if message.kind not in (MessageKind.KEY, MessageKind.POINTER):
            return True
        if not self._acts(message):
            return False
        if message.kind is MessageKind.KEY and message.down and not self._control.may_type():
            return False
        self._held.note(message)
        clicks = self._clicks(message)
        if clicks or (message.down and self._held.command):
            self._moves_focus = True
        if role == "control":
            self._control.used(self.identity.key, keys=int(message.down), clicks=clicks)
        return True

    def _person_acts(self, message: ClientMessage) -> bool:
        key = self.identity.key
        if self._control.holds_control(key):
            return True
        may_begin = is_press(message) and not self.identity.asks
        return may_begin and self._control.begins(key, self.identity.name)

    def _agent_acts(self) -> bool:
        return self._control.agent_acts(self.identity.key)

    def _clicks(self, message: ClientMessage) -> int:
        if message.kind is not MessageKind.POINTER:
            return 0
        # Only buttons that go down count: a drag repeats its button in every message.
        clicks = (message.buttons & ~self._buttons & ~WHEEL).bit_count()
        self._buttons = message.buttons
        return clicks


class Viewers:
    """The viewers that are connected to one desktop."""

    def __init__(
        self,
        most: int = MOST_WATCHERS,
        control: Control | None = None,
        clipboard: SharedClipboard | None = None,
    ) -> None:
        self._most = most
        self._clipboard = clipboard
        self._count = 0
        self._sessions: set[ViewerSession] = set()
        self.control = control or NoLease()

    @property
    def count(self) -> int:
        """Viewers that are connected."""
        return self._count

    @property
    def most(self) -> int:
        """Viewers that may be connected at once."""
        return self._most

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count a viewer while the body runs."""
        self._count += 1
        try:
            yield
        finally:
            self._count -= 1

    @contextmanager
    def session(
        self,
        identity: ViewerIdentity,
        write: Callable[[bytes], None],
        await_focus: AwaitFocus = await_nothing,
    ) -> Iterator[ViewerSession]:
        """Open a session while the body runs; after it no key or button stays pressed."""
        session = ViewerSession(identity, self.control, write, await_focus, self._clipboard)
        self._sessions.add(session)
        self.control.joined(identity.key)
        try:
            yield session
        finally:
            session.release_input()
            self._sessions.discard(session)
            self.control.parted(identity.key)
            if identity.role == "agent":
                self.control.agent_parted(identity.key)

    def apply_control_change(self) -> None:
        """Release input of sessions without control; revoke those that may not see the screen."""
        for session in tuple(self._sessions):
            session.apply_control_change()

    def copied(self) -> None:
        """Tell the viewer in control that a program on the desktop has copied."""
        for session in tuple(self._sessions):
            if session.clipboard is not None:
                session.clipboard.copied()
