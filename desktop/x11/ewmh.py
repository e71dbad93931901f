"""Properties and client messages of EWMH and ICCCM, by which clients talk to a window manager.

Sources: Extended Window Manager Hints 1.5 (https://specifications.freedesktop.org/wm-spec/) and
Inter-Client Communication Conventions Manual 2.0.
"""

from dataclasses import dataclass
from typing import Any

import xcffib
import xcffib.xproto

from deskhand.desktop.geometry import Region, Size, whole

from .connection import screen_of

# Lengths of GetProperty in units of four bytes: windows of a list, and characters of a title.
_MOST_CARDINALS = 1024
_LONGEST_TITLE = 256
# xcffib's bindings are generated and carry no useful types.
_messages: Any = xcffib.xproto
_ANY = xcffib.xproto.GetPropertyType.Any
_MASKS = xcffib.xproto.EventMask
_FOCUS_NONE = xcffib.xproto.InputFocus._None
# Source indication of pagers: a window manager obeys them where it may ignore applications.
_SOURCE_PAGER = 2
# IconicState of WM_STATE (ICCCM, 4.1.3.1).
_ICONIC = 3
_REMOVE, _ADD = 0, 1
# Gravity NorthWest, and the bits for x, y, width and height (_NET_MOVERESIZE_WINDOW).
_NORTH_WEST_ALL_FIELDS = 1 | 0b1111 << 8
_NOT_LISTED = ("_NET_WM_WINDOW_TYPE_DOCK", "_NET_WM_WINDOW_TYPE_DESKTOP")
_MAXIMIZED = ("_NET_WM_STATE_MAXIMIZED_VERT", "_NET_WM_STATE_MAXIMIZED_HORZ")


@dataclass(frozen=True)
class ClientWindow:
    """One window of an application, in native pixels with its frame."""

    id: int
    title: str
    name: str
    """Class, the second part of WM_CLASS."""
    pid: int | None
    region: Region
    focused: bool
    maximized: bool
    minimized: bool
    dialog: bool


class WindowManager:
    """Queries and requests to the window manager, on a connection that the caller owns."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._core = connection.core
        screen = screen_of(connection)
        self.root: int = screen.root
        self.screen = whole(Size(screen.width_in_pixels, screen.height_in_pixels))
        self._atoms: dict[str, int] = {}

    def atom(self, name: str) -> int:
        """Return the atom of a name."""
        if name not in self._atoms:
            self._atoms[name] = self._core.InternAtom(False, len(name), name).reply().atom
        return self._atoms[name]

    def listed(self) -> list[int]:
        """Return the windows of applications without panels, the oldest first."""
        found = self._cardinals(self.root, "_NET_CLIENT_LIST")
        hidden = {self.atom(name) for name in _NOT_LISTED}
        return [window for window in found if not hidden & set(self._types(window))]

    def active(self) -> int:
        """Return the active window; 0 if none."""
        return next(iter(self._cardinals(self.root, "_NET_ACTIVE_WINDOW")), 0)

    def keys_reach_a_client(self) -> bool:
        """Return False if the input focus is on nothing, the root or the manager's own window."""
        focus = self._core.GetInputFocus().reply().focus
        # Openbox gives the focus to the window of _NET_SUPPORTING_WM_CHECK while no other has it.
        managers = self._cardinals(self.root, "_NET_SUPPORTING_WM_CHECK")
        return focus not in (_FOCUS_NONE, self.root, *managers)

    def title(self, window: int) -> str:
        """Return the title of a window; empty if the window does not exist."""
        # The window manager converts a WM_NAME in COMPOUND_TEXT to _NET_WM_VISIBLE_NAME.
        for name in ("_NET_WM_NAME", "_NET_WM_VISIBLE_NAME"):
            title = self._bytes(window, name, _LONGEST_TITLE).decode("utf-8", "replace")
            if title:
                return title
        return self._bytes(window, "WM_NAME", _LONGEST_TITLE).decode("latin-1")

    def margins(self) -> tuple[Region, ...]:
        """Return the parts of the screen that panels reserve, outside of _NET_WORKAREA."""
        area = self._cardinals(self.root, "_NET_WORKAREA")
        if len(area) < 4:
            return ()
        x, y, width, height = area[:4]
        screen = self.screen
        sides = (
            Region(screen.left, screen.top, screen.right, y),
            Region(screen.left, y + height, screen.right, screen.bottom),
            Region(screen.left, screen.top, x, screen.bottom),
            Region(x + width, screen.top, screen.right, screen.bottom),
        )
        return tuple(side for side in sides if not side.is_empty)

    def window(self, identifier: int) -> ClientWindow | None:
        """Return the properties of a window; None if it does not exist any more."""
        try:
            return self._window(identifier)
        except (xcffib.xproto.WindowError, xcffib.xproto.DrawableError):
            return None

    def listen(self, window: int, mask: int) -> None:
        """Select events of a window; does nothing if the window does not exist."""
        try:
            attributes = self._core.ChangeWindowAttributesChecked(
                window, xcffib.xproto.CW.EventMask, [mask]
            )
            attributes.check()
        except xcffib.xproto.WindowError:
            pass

    def answers_frames(self) -> bool:
        """Return whether a window manager runs that answers `ask_frame`."""
        if self.atom("_NET_REQUEST_FRAME_EXTENTS") not in self._cardinals(
            self.root, "_NET_SUPPORTED"
        ):
            return False
        # The window ends with the window manager, while the properties of the root window stay.
        found = self._cardinals(self.root, "_NET_SUPPORTING_WM_CHECK")
        return bool(found and self._cardinals(found[0], "_NET_SUPPORTING_WM_CHECK") == found)

    def ask_frame(self, window: int) -> None:
        """Ask for the property _NET_FRAME_EXTENTS of a window that is not mapped."""
        self._send_message(window, "_NET_REQUEST_FRAME_EXTENTS")

    def focus(self, window: int) -> None:
        """Activate a window: restore it from an icon, raise and focus it."""
        self._send_message(window, "_NET_ACTIVE_WINDOW", _SOURCE_PAGER, 0, 0)

    def close(self, window: int) -> None:
        """Ask a window to close, as its close button does."""
        self._send_message(window, "_NET_CLOSE_WINDOW", 0, _SOURCE_PAGER)

    def minimize(self, window: int) -> None:
        """Iconify a window."""
        self._send_message(window, "WM_CHANGE_STATE", _ICONIC)

    def maximize(self, window: int, on: bool = True) -> None:
        """Set or clear both maximized states of a window."""
        atoms = (self.atom(name) for name in _MAXIMIZED)
        self._send_message(window, "_NET_WM_STATE", _ADD if on else _REMOVE, *atoms, _SOURCE_PAGER)

    def place(self, window: int, region: Region) -> None:
        """Move and resize a window so that its frame fills the region."""
        left, right, top, bottom = self._frame(window)
        width = max(1, region.size.width - left - right)
        height = max(1, region.size.height - top - bottom)
        flags = _NORTH_WEST_ALL_FIELDS | _SOURCE_PAGER << 12
        self._send_message(
            window, "_NET_MOVERESIZE_WINDOW", flags, region.left, region.top, width, height
        )

    def _window(self, identifier: int) -> ClientWindow:
        names = self._bytes(identifier, "WM_CLASS").decode("latin-1").split("\0")
        states = set(self._cardinals(identifier, "_NET_WM_STATE"))
        return ClientWindow(
            id=identifier,
            title=self.title(identifier),
            name=names[1] if len(names) > 1 else names[0],
            pid=next(iter(self._cardinals(identifier, "_NET_WM_PID")), None),
            region=self._region(identifier),
            focused=identifier == self.active(),
            maximized={self.atom(name) for name in _MAXIMIZED} <= states,
            minimized=next(iter(self._cardinals(identifier, "WM_STATE")), 0) == _ICONIC,
            dialog=self._is_dialog(identifier),
        )

    def _is_dialog(self, window: int) -> bool:
        types = self._types(window)
        if types:
            return self.atom("_NET_WM_WINDOW_TYPE_DIALOG") in types
        return bool(self._cardinals(window, "WM_TRANSIENT_FOR"))

    def _region(self, window: int) -> Region:
        shape = self._core.GetGeometry(window).reply()
        at = self._core.TranslateCoordinates(window, self.root, 0, 0).reply()
        left, right, top, bottom = self._frame(window)
        return Region(
            at.dst_x - left,
            at.dst_y - top,
            at.dst_x + shape.width + right,
            at.dst_y + shape.height + bottom,
        )

    def _frame(self, window: int) -> tuple[int, int, int, int]:
        found = self._cardinals(window, "_NET_FRAME_EXTENTS")
        if len(found) != 4:
            return 0, 0, 0, 0
        return found[0], found[1], found[2], found[3]

    def _types(self, window: int) -> list[int]:
        return self._cardinals(window, "_NET_WM_WINDOW_TYPE")

    def _cardinals(self, window: int, name: str) -> list[int]:
        raw = self._bytes(window, name)
        return [int.from_bytes(raw[i : i + 4], "little") for i in range(0, len(raw) - 3, 4)]

    def _bytes(self, window: int, name: str, most: int = _MOST_CARDINALS) -> bytes:
        try:
            cookie = self._core.GetProperty(False, window, self.atom(name), _ANY, 0, most)
            raw: bytes = cookie.reply().value.raw
        except xcffib.xproto.WindowError:
            return b""
        return raw

    def _send_message(self, window: int, message: str, *data: int) -> None:
        items = [*data, *[0] * (5 - len(data))]
        event = _messages.ClientMessageEvent.synthetic(
            32,
            window,
            self.atom(message),
            _messages.ClientMessageData.synthetic([item & 0xFFFFFFFF for item in items], "5I"),
        )
        # Requests to a window manager are sent to the root window with these two masks (EWMH).
        # EWMH demands these masks: only the window manager selects SubstructureRedirect on the
        # root.
        mask = _MASKS.SubstructureNotify | _MASKS.SubstructureRedirect
        self._core.SendEvent(False, self.root, mask, event.pack())
        self._connection.flush()
