"""One X selection: asked for, owned, and handed over, on a connection of the caller's."""

import io
import select
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import xcffib
import xcffib.xproto

from deskhand.desktop.errors import ClipboardFailed

from .connection import screen_of

Kind = Literal["text/plain", "image/png"]

LARGEST = 32 * 1024 * 1024
"""Bytes of a content that is taken over."""

# The bindings are generated and have no types worth the name.
_events: Any = xcffib.xproto
_CHUNK = 128 * 1024
_MOST_TRANSFERS = 16
_ANSWER_SECONDS = 3.0
_ANY = xcffib.xproto.GetPropertyType.Any
_CHANGE_PROPERTY = 18
"""Opcode of the core protocol."""
_NAME = "CLIPBOARD"
_LATIN = "STRING"
_TARGETS: dict[Kind, tuple[str, ...]] = {
    "text/plain": ("UTF8_STRING", "text/plain;charset=utf-8", "text/plain", _LATIN),
    "image/png": ("image/png",),
}


@dataclass(frozen=True)
class Content:
    """What was copied: a text in UTF-8, or a PNG file."""

    kind: Kind
    data: bytes


@dataclass
class _Transfer:
    """A content on its way in pieces, because it is too large for one property."""

    type: int
    data: bytes
    sent: int = 0


class Selection:
    """The CLIPBOARD selection as one client of the display sees it; not for several threads."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._core = connection.core
        self._atoms: dict[str, int] = {}
        self._transfers: dict[tuple[int, int], _Transfer] = {}
        self.owned: Content | None = None
        """What we hand over to others; None when somebody else owns the selection."""
        screen = screen_of(connection)
        self._window = connection.generate_id()
        self._core.CreateWindow(
            *(0, self._window, screen.root, -1, -1, 1, 1, 0),
            xcffib.xproto.WindowClass.InputOnly,
            screen.root_visual,
            xcffib.xproto.CW.EventMask,
            [xcffib.xproto.EventMask.PropertyChange],
        )

    def own(self, content: Content) -> None:
        """Hand this over from now on.

        Raises:
            ClipboardFailed: If another program took the selection at the same moment.
        """
        self.owned = content
        self._core.SetSelectionOwner(self._window, self._atom(_NAME), 0)
        if self._owner() != self._window:
            self.owned = None
            raise ClipboardFailed("another program copied at the same moment")

    def disown(self) -> None:
        """Leave the clipboard empty, if it is ours."""
        if self.owned is not None and self._owner() == self._window:
            self._core.SetSelectionOwner(0, self._atom(_NAME), 0)
            self._connection.flush()
        self.owned = None

    def read(self, kinds: tuple[Kind, ...]) -> Content | None:
        """What was copied, in the first of these forms that it has; None if in none.

        Raises:
            ClipboardFailed: If its owner does not hand it over.
        """
        self.handle_pending()
        if self.owned is not None:
            return self.owned if self.owned.kind in kinds else None
        if self._owner() == 0:
            return None
        deadline = time.monotonic() + _ANSWER_SECONDS
        offered = self._offered(deadline)
        for kind in kinds:
            for target in _TARGETS[kind]:
                if self._atom(target) in offered:
                    found = self._converted(target, deadline)
                    if found is not None:
                        return Content(kind, _text(found, target) if kind != "image/png" else found)
        return None

    def handle_pending(self) -> None:
        """Answer everybody who has asked us meanwhile."""
        while (event := self._next()) is not None:
            self._serve(event)

    def _offered(self, deadline: float) -> set[int]:
        raw = self._converted("TARGETS", deadline)
        if raw is None:
            return {self._atom("UTF8_STRING")}
        return {int.from_bytes(raw[i : i + 4], "little") for i in range(0, len(raw) - 3, 4)}

    def _converted(self, target: str, deadline: float) -> bytes | None:
        place = self._atom("DESKHAND_SELECTION")
        self._core.ConvertSelection(self._window, self._atom(_NAME), self._atom(target), place, 0)
        answer = self._await(
            lambda event: (
                isinstance(event, _events.SelectionNotifyEvent)
                and event.target == self._atom(target)
            ),
            deadline,
        )
        if answer.property == 0:
            return None
        kind, data = self._take(place)
        return self._pieces(place, deadline) if kind == self._atom("INCR") else data

    def _pieces(self, place: int, deadline: float) -> bytes:
        whole = bytearray()
        while True:
            self._await(
                lambda event: (
                    isinstance(event, _events.PropertyNotifyEvent)
                    and (event.window, event.atom, event.state) == (self._window, place, 0)
                ),
                deadline + _ANSWER_SECONDS,
            )
            _, piece = self._take(place)
            if not piece:
                return bytes(whole)
            whole += piece
            if len(whole) > LARGEST:
                raise ClipboardFailed(f"it is larger than {LARGEST} bytes")

    def _take(self, place: int) -> tuple[int, bytes]:
        found = self._core.GetProperty(True, self._window, place, _ANY, 0, LARGEST // 4).reply()
        return found.type, found.value.raw

    def _await(self, wanted: Callable[[Any], bool], deadline: float) -> Any:
        while True:
            event = self._next()
            if event is None:
                left = deadline - time.monotonic()
                descriptor = self._connection.get_file_descriptor()
                if left <= 0 or not select.select([descriptor], [], [], left)[0]:
                    raise ClipboardFailed("the program that copied does not hand it over")
            elif wanted(event):
                return event
            else:
                self._serve(event)

    def _next(self) -> Any:
        while True:
            try:
                self._connection.flush()
                return self._connection.poll_for_event()
            except xcffib.ProtocolException:
                # One who asked us has gone before it got its answer.
                continue

    def _serve(self, event: Any) -> None:
        if isinstance(event, _events.SelectionRequestEvent):
            self._answer(event)
        elif isinstance(event, _events.SelectionClearEvent):
            self.owned = None
        elif isinstance(event, _events.PropertyNotifyEvent) and event.state == 1:
            self._go_on((event.window, event.atom))

    def _answer(self, request: Any) -> None:
        place = request.property or request.target
        given = self._given(request.target)
        if given is None:
            place = 0
        else:
            self._hand_over(request.requestor, place, *given)
        told = _events.SelectionNotifyEvent.synthetic(
            request.time, request.requestor, request.selection, request.target, place
        )
        self._core.SendEvent(False, request.requestor, 0, told.pack())

    def _given(self, target: int) -> tuple[int, int, bytes] | None:
        """Type, bits of an item and bytes of what is asked for."""
        if self.owned is None:
            return None
        names = _TARGETS[self.owned.kind]
        if target == self._atom("TARGETS"):
            atoms = [self._atom(name) for name in ("TARGETS", *names)]
            return self._atom("ATOM"), 32, b"".join(a.to_bytes(4, "little") for a in atoms)
        for name in names:
            if target == self._atom(name):
                data = self.owned.data
                if name == _LATIN:
                    data = data.decode().encode("latin-1", "replace")
                return target, 8, data
        return None

    def _hand_over(self, window: int, place: int, kind: int, bits: int, data: bytes) -> None:
        if len(data) <= _CHUNK:
            self._write(window, place, kind, bits, data)
            return
        mask = [xcffib.xproto.EventMask.PropertyChange]
        self._core.ChangeWindowAttributes(window, xcffib.xproto.CW.EventMask, mask)
        # Nobody tells of those who have gone before they had it all.
        if len(self._transfers) >= _MOST_TRANSFERS:
            del self._transfers[next(iter(self._transfers))]
        self._transfers[window, place] = _Transfer(kind, data)
        self._write(window, place, self._atom("INCR"), 32, len(data).to_bytes(4, "little"))

    def _go_on(self, where: tuple[int, int]) -> None:
        transfer = self._transfers.get(where)
        if transfer is None:
            return
        piece = transfer.data[transfer.sent : transfer.sent + _CHUNK]
        self._write(*where, transfer.type, 8, piece)
        transfer.sent += len(piece)
        if not piece:
            del self._transfers[where]

    def _write(self, window: int, place: int, kind: int, bits: int, data: bytes) -> None:
        # The binding packs byte by byte, which takes a fifth of a second for each piece.
        request = io.BytesIO()
        head = (xcffib.xproto.PropMode.Replace, window, place, kind, bits, len(data) * 8 // bits)
        request.write(struct.pack("=xB2xIIIB3xI", *head))
        request.write(data)
        self._core.send_request(_CHANGE_PROPERTY, request)

    def _owner(self) -> int:
        owner: int = self._core.GetSelectionOwner(self._atom(_NAME)).reply().owner
        return owner

    def _atom(self, name: str) -> int:
        if name not in self._atoms:
            self._atoms[name] = self._core.InternAtom(False, len(name), name).reply().atom
        return self._atoms[name]


def _text(data: bytes, target: str) -> bytes:
    """The same in UTF-8, whatever the program that copied takes for that."""
    return data.decode("latin-1" if target == _LATIN else "utf-8", "replace").encode()
