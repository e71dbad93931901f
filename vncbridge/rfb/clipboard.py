"""The clipboard between the desktop and one viewer, whose client speaks plain or extended cut text.

- *Viewer to desktop*: the newest text that the client offers waits until its viewer is in control,
  and is then copied before the next key or click is passed on. A program that copies on the desktop
  meanwhile is newer, so the offer ends.
- *Desktop to viewer*: when a program copies while the viewer is in control, a client of Extended
  Clipboard is notified and requests the text; any other client gets it as a cut text.

The messages for the client wait in `ViewerClipboard.insert` for the end of a message of its server.
"""

import asyncio
from collections.abc import Callable
from typing import Protocol

from . import cut_text
from .cut_text import DEFAULT, LONGEST, ClipboardAction
from .messages import EXTENDED_CLIPBOARD, ClientMessage, MessageKind
from .server_messages import ServerParser


class SharedClipboard(Protocol):
    """The text of a desktop's clipboard."""

    async def copy(self, text: str) -> None:
        """Copy a text; does nothing if that is not possible now."""

    async def text(self) -> str | None:
        """Return the text; None if there is none, or it cannot be read now."""


class ViewerClipboard:
    """Exchanges the clipboard with one client. ``in_control`` tells if its viewer may have it."""

    def __init__(self, clipboard: SharedClipboard, in_control: Callable[[], bool]) -> None:
        self._clipboard = clipboard
        self._in_control = in_control
        self._server = ServerParser()
        self._extended = False
        self._actions = DEFAULT
        self._offer: str | None = None
        self._wanted = False
        # One message of each kind, so that a client that reads nothing costs little.
        self._waiting: dict[str, bytes] = {}
        self._wake = asyncio.Event()

    @property
    def offers(self) -> bool:
        """True while a text of the client waits to be copied."""
        return self._offer is not None

    def receive(self, message: ClientMessage) -> None:
        """Process a message of the client; those of other kinds are only noted.

        Raises:
            ProtocolBroken: If a cut text is malformed.
        """
        self._server.note(message)
        if message.kind is MessageKind.ENCODINGS:
            offered = EXTENDED_CLIPBOARD in message.encodings
            if offered and not self._extended:
                self._send("capabilities", cut_text.capabilities())
            self._extended = offered
        elif message.kind is MessageKind.CUT_TEXT and message.raw:
            self._receive_cut_text(cut_text.parsed(message.raw))

    def _receive_cut_text(self, received: cut_text.CutText) -> None:
        actions = received.actions
        if ClipboardAction.CAPS in actions:
            self._actions = actions
        elif ClipboardAction.NOTIFY in actions:
            self._offer = None
            if received.has_text:
                self._send("request", cut_text.request())
        elif ClipboardAction.PEEK in actions and self._in_control():
            self._send("notice", cut_text.notice())
        elif ClipboardAction.REQUEST in actions:
            self._want()
        elif received.text is not None:
            self._offer = received.text

    async def copy_offer(self) -> None:
        """Copy the text that the client offers."""
        offer, self._offer = self._offer, None
        if offer is not None:
            await self._clipboard.copy(offer)

    def copied(self) -> None:
        """Tell the client that a program on the desktop has copied."""
        self._offer = None
        if not self._in_control():
            return
        if self._extended and ClipboardAction.NOTIFY in self._actions:
            self._send("notice", cut_text.notice())
        else:
            self._want()

    def _want(self) -> None:
        self._wanted = True
        self._wake.set()

    def _send(self, kind: str, message: bytes) -> None:
        self._waiting[kind] = message
        self._wake.set()

    async def wait(self) -> None:
        """Wait until there is something for the client; read the text that it wants."""
        await self._wake.wait()
        self._wake.clear()
        if not self._wanted:
            return
        self._wanted = False
        text = await self._clipboard.text() if self._in_control() else None
        # Control may have ended while the text was read.
        if text is not None and len(text) <= LONGEST and self._in_control():
            make = cut_text.provided if self._extended else cut_text.plain
            self._waiting["text"] = make(text)

    def insert(self, data: bytes) -> bytes:
        """Return the server's next bytes, with what waits for the client between two messages."""
        end = self._server.feed(data)
        if end is None or not self._waiting:
            return data
        return data[:end] + self._taken() + data[end:]

    def idle(self) -> bytes:
        """Return what waits for the client if the server's last message is complete."""
        return self._taken() if self._server.between_messages else b""

    def _taken(self) -> bytes:
        waiting = b"".join(self._waiting.values())
        self._waiting.clear()
        return waiting
