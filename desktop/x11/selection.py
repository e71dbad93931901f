"""Selections, such as the clipboard: conversion, ownership and transfer, incremental ones included.

Copying makes this client the *selection owner*; the content stays here until another client
requests a *conversion* to one of the targets offered. Contents larger than a chunk are sent with
the INCR protocol: the owner writes one chunk at a time and waits until the requestor has deleted
the property. Source: ICCCM 2.0, chapter 2.

Two clients that request from each other would deadlock if waiting blocked: hence each wait for an
event also answers requests of other clients.
"""

import io
import select
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import xcffib
import xcffib.xfixes
import xcffib.xproto

from deskhand.desktop.errors import ClipboardFailed

from .connection import screen_of

Kind = Literal["text/plain", "image/png"]

LARGEST = 32 * 1024 * 1024
"""Bytes of the largest content that is read or owned."""

# xcffib's bindings are generated and carry no useful types.
_events: Any = xcffib.xproto
_CHUNK = 128 * 1024
# Bounds the memory for requestors that never finish a transfer.
_MOST_TRANSFERS = 16
_REPLY_SECONDS = 3.0
_ANY = xcffib.xproto.GetPropertyType.Any
_CHANGE_PROPERTY = 18
"""Opcode of the core protocol."""
CLIPBOARD, PRIMARY = "CLIPBOARD", "PRIMARY"
"""Names of selections (ICCCM, 2.6.1)."""
_PROPERTY = "DESKHAND_SELECTION"
_LATIN = "STRING"
_TARGETS: dict[Kind, tuple[str, ...]] = {
    "text/plain": ("UTF8_STRING", "text/plain;charset=utf-8", "text/plain", _LATIN),
    "image/png": ("image/png",),
}


@dataclass(frozen=True)
class Content:
    """Content of the clipboard: a text in UTF-8 or a PNG file."""

    kind: Kind
    data: bytes


@dataclass
class _Transfer:
    """An INCR transfer in progress."""

    type: int
    data: bytes
    sent: int = 0


class Selection:
    """A selection, by default the clipboard, for one client of the display. Not thread-safe."""

    def __init__(self, connection: Any, name: str = CLIPBOARD) -> None:
        self._connection = connection
        self._name = name
        self._watched: dict[int, str] = {}
        self._core = connection.core
        self._atoms: dict[str, int] = {}
        self._transfers: dict[tuple[int, int], _Transfer] = {}
        self.owned: Content | None = None
        """Content that this client owns; None while another client owns the selection."""
        self.taken: set[str] = set()
        """The selections of `watch_owners` that other clients have come to own."""
        screen = screen_of(connection)
        self.window = connection.generate_id()
        """Window by which this client owns the selection."""
        self._core.CreateWindow(
            *(0, self.window, screen.root, -1, -1, 1, 1, 0),
            xcffib.xproto.WindowClass.InputOnly,
            screen.root_visual,
            xcffib.xproto.CW.EventMask,
            [xcffib.xproto.EventMask.PropertyChange],
        )

    def own(self, content: Content) -> None:
        """Become the selection owner with this content.

        Raises:
            ClipboardFailed: If another program took the selection at the same moment.
        """
        self.owned = content
        self._core.SetSelectionOwner(self.window, self._atom(self._name), 0)
        # SetSelectionOwner reports no failure; only the owner that the server names is certain.
        if self._owner() != self.window:
            self.owned = None
            raise ClipboardFailed("another program copied at the same moment")

    def watch_owners(self, *names: str) -> None:
        """Note in ``taken`` when another client owns one of these selections (XFIXES)."""
        fixes = self._connection(xcffib.xfixes.key)
        fixes.QueryVersion(2, 0).reply()
        mask = xcffib.xfixes.SelectionEventMask.SetSelectionOwner
        for name in names:
            self._watched[self._atom(name)] = name
            fixes.SelectSelectionInput(self.window, self._atom(name), mask)

    def disown(self) -> None:
        """Give up ownership, which leaves the clipboard empty; does nothing for a non-owner."""
        if self.owned is not None and self._owner() == self.window:
            self._core.SetSelectionOwner(0, self._atom(self._name), 0)
            self._connection.flush()
        self.owned = None

    def empty(self, *names: str) -> None:
        """Take these selections away from their owners, whichever clients these are."""
        for name in names:
            self._core.SetSelectionOwner(0, self._atom(name), 0)
        self.sync()

    def sync(self) -> None:
        """Return when the server has processed all requests before."""
        self._core.GetInputFocus().reply()

    def close(self) -> None:
        """Destroy the window, and with it what was watched."""
        self._core.DestroyWindow(self.window)
        self._connection.flush()

    def read(self, kinds: tuple[Kind, ...]) -> Content | None:
        """Return the content in the first of these types that is offered; None if none is.

        Raises:
            ClipboardFailed: If the selection owner does not answer in time.
        """
        self.handle_pending()
        if self.owned is not None:
            return self.owned if self.owned.kind in kinds else None
        if self._owner() == 0:
            return None
        deadline = time.monotonic() + _REPLY_SECONDS
        offered = self._offered(deadline)
        for kind in kinds:
            for target in _TARGETS[kind]:
                if self._atom(target) in offered:
                    found = self._converted(target, deadline)
                    if found is not None:
                        return Content(kind, _text(found, target) if kind != "image/png" else found)
        return None

    def handle_pending(self) -> None:
        """Answer all pending requests of other clients."""
        while (event := self._next()) is not None:
            self._serve(event)

    def _offered(self, deadline: float) -> set[int]:
        raw = self._converted("TARGETS", deadline)
        if raw is None:
            # An owner must offer TARGETS (ICCCM, 2.6.2). From one that does not a text is
            # requested.
            return {self._atom("UTF8_STRING")}
        return {int.from_bytes(raw[i : i + 4], "little") for i in range(0, len(raw) - 3, 4)}

    def _converted(self, target: str, deadline: float) -> bytes | None:
        property_atom = self._atom(_PROPERTY)
        self._core.ConvertSelection(
            self.window, self._atom(self._name), self._atom(target), property_atom, 0
        )
        answer = self._wait_for(
            lambda event: (
                isinstance(event, _events.SelectionNotifyEvent)
                and (event.requestor, event.target) == (self.window, self._atom(target))
            ),
            deadline,
        )
        if answer.property == 0:
            return None
        kind, data = self._read_property(property_atom)
        return (
            self._read_incrementally(property_atom, deadline)
            if kind == self._atom("INCR")
            else data
        )

    def _read_incrementally(self, property_atom: int, deadline: float) -> bytes:
        whole = bytearray()
        while True:
            self._wait_for(
                lambda event: (
                    isinstance(event, _events.PropertyNotifyEvent)
                    and (event.window, event.atom, event.state) == (self.window, property_atom, 0)
                ),
                deadline + _REPLY_SECONDS,
            )
            _, chunk = self._read_property(property_atom)
            if not chunk:
                return bytes(whole)
            whole += chunk
            if len(whole) > LARGEST:
                raise ClipboardFailed(f"it is larger than {LARGEST} bytes")

    def _read_property(self, property_atom: int) -> tuple[int, bytes]:
        # Reading deletes the property: in an INCR transfer the owner waits for that to send the
        # next chunk.
        found = self._core.GetProperty(
            True, self.window, property_atom, _ANY, 0, LARGEST // 4
        ).reply()
        return found.type, found.value.raw

    def _wait_for(self, matches: Callable[[Any], bool], deadline: float) -> Any:
        while True:
            event = self._next()
            if event is None:
                left = deadline - time.monotonic()
                descriptor = self._connection.get_file_descriptor()
                if left <= 0 or not select.select([descriptor], [], [], left)[0]:
                    raise ClipboardFailed("the program that copied does not hand it over")
            elif matches(event):
                return event
            else:
                self._serve(event)

    def _next(self) -> Any:
        while True:
            try:
                self._connection.flush()
                return self._connection.poll_for_event()
            except xcffib.Error:
                # A requestor was destroyed before it received its answer (BadWindow).
                continue

    def _serve(self, event: Any) -> None:
        if isinstance(event, _events.SelectionRequestEvent):
            self._answer(event)
        elif isinstance(event, _events.SelectionClearEvent):
            self.owned = None
        elif isinstance(event, xcffib.xfixes.SelectionNotifyEvent):
            name = self._watched[event.selection]
            self.taken.discard(name)
            if event.owner not in (0, self.window):
                self.taken.add(name)
        elif isinstance(event, _events.PropertyNotifyEvent) and event.state == 1:
            self._send_next_chunk((event.window, event.atom))

    def _answer(self, request: Any) -> None:
        # Obsolete clients name no property; the target's atom takes its place (ICCCM, 2.2).
        property_atom = request.property or request.target
        converted = self._converted_for(request.target)
        if converted is None:
            property_atom = 0
        else:
            self._send_content(request.requestor, property_atom, *converted)
        notify = _events.SelectionNotifyEvent.synthetic(
            request.time, request.requestor, request.selection, request.target, property_atom
        )
        self._core.SendEvent(False, request.requestor, 0, notify.pack())

    def _converted_for(self, target: int) -> tuple[int, int, bytes] | None:
        """Return type, bits of an item and bytes for a target; None if it is not offered."""
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

    def _send_content(
        self, window: int, property_atom: int, kind: int, bits: int, data: bytes
    ) -> None:
        if len(data) <= _CHUNK:
            self._write(window, property_atom, kind, bits, data)
            return
        mask = [xcffib.xproto.EventMask.PropertyChange]
        self._core.ChangeWindowAttributes(window, xcffib.xproto.CW.EventMask, mask)
        # No event reports a requestor that vanished during a transfer: the oldest is dropped.
        if len(self._transfers) >= _MOST_TRANSFERS:
            del self._transfers[next(iter(self._transfers))]
        self._transfers[window, property_atom] = _Transfer(kind, data)
        self._write(window, property_atom, self._atom("INCR"), 32, len(data).to_bytes(4, "little"))

    def _send_next_chunk(self, key: tuple[int, int]) -> None:
        transfer = self._transfers.get(key)
        if transfer is None:
            return
        chunk = transfer.data[transfer.sent : transfer.sent + _CHUNK]
        self._write(*key, transfer.type, 8, chunk)
        transfer.sent += len(chunk)
        if not chunk:
            del self._transfers[key]

    def _write(self, window: int, property_atom: int, kind: int, bits: int, data: bytes) -> None:
        # xcffib packs a list byte by byte, which takes 0.2 s for each chunk.
        request = io.BytesIO()
        head = (
            xcffib.xproto.PropMode.Replace,
            window,
            property_atom,
            kind,
            bits,
            len(data) * 8 // bits,
        )
        request.write(struct.pack("=xB2xIIIB3xI", *head))
        request.write(data)
        self._core.send_request(_CHANGE_PROPERTY, request)

    def _owner(self) -> int:
        owner: int = self._core.GetSelectionOwner(self._atom(self._name)).reply().owner
        return owner

    def _atom(self, name: str) -> int:
        if name not in self._atoms:
            self._atoms[name] = self._core.InternAtom(False, len(name), name).reply().atom
        return self._atoms[name]


def _text(data: bytes, target: str) -> bytes:
    """Return the text in UTF-8; bytes invalid in the target's encoding are replaced."""
    return data.decode("latin-1" if target == _LATIN else "utf-8", "replace").encode()
