"""Windows as the window manager tells of them: EWMH and ICCCM properties and messages."""

from dataclasses import dataclass
from typing import Any

import xcffib
import xcffib.xproto

from deskhand.desktop.geometry import Region, Size, whole

from .connection import screen_of

# Both in units of four bytes: as many windows, and a title of which more would help nobody.
_LONGEST_WORDS = 1024
_LONGEST_TITLE = 256
# The bindings are generated and have no types worth the name.
_messages: Any = xcffib.xproto
_ANY = xcffib.xproto.GetPropertyType.Any
_MASKS = xcffib.xproto.EventMask
_FROM_A_PAGER = 2
_ICONIC = 3
_REMOVE, _ADD = 0, 1
_NORTH_WEST_AND_ALL_FOUR = 1 | 0b1111 << 8
_NOT_LISTED = ("_NET_WM_WINDOW_TYPE_DOCK", "_NET_WM_WINDOW_TYPE_DESKTOP")
_MAXIMIZED = ("_NET_WM_STATE_MAXIMIZED_VERT", "_NET_WM_STATE_MAXIMIZED_HORZ")


@dataclass(frozen=True)
class ClientWindow:
    """One window of an application, in native pixels with its frame."""

    id: int
    title: str
    name: str
    """Its class, the second part of WM_CLASS."""
    pid: int | None
    region: Region
    focused: bool
    maximized: bool
    minimized: bool
    dialog: bool


class WindowManager:
    """Questions and wishes to the window manager, over a connection of the caller's."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._core = connection.core
        screen = screen_of(connection)
        self.root: int = screen.root
        self.screen = whole(Size(screen.width_in_pixels, screen.height_in_pixels))
        self._atoms: dict[str, int] = {}

    def atom(self, name: str) -> int:
        """The number of a name."""
        if name not in self._atoms:
            self._atoms[name] = self._core.InternAtom(False, len(name), name).reply().atom
        return self._atoms[name]

    def listed(self) -> list[int]:
        """Windows of applications, the oldest first; panels are none."""
        found = self._words(self.root, "_NET_CLIENT_LIST")
        hidden = {self.atom(name) for name in _NOT_LISTED}
        return [window for window in found if not hidden & set(self._types(window))]

    def active(self) -> int:
        """The window that has the keyboard; 0 if none."""
        return next(iter(self._words(self.root, "_NET_ACTIVE_WINDOW")), 0)

    def title(self, window: int) -> str:
        """What a window calls itself; empty if it is gone."""
        # The second is what the window manager makes of a name in an encoding of old.
        for name in ("_NET_WM_NAME", "_NET_WM_VISIBLE_NAME"):
            title = self._bytes(window, name, _LONGEST_TITLE).decode("utf-8", "replace")
            if title:
                return title
        return self._bytes(window, "WM_NAME", _LONGEST_TITLE).decode("latin-1")

    def margins(self) -> tuple[Region, ...]:
        """The parts of the screen that belong to panels."""
        area = self._words(self.root, "_NET_WORKAREA")
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
        """What is known about a window; None if there is no such window any more."""
        try:
            return self._window(identifier)
        except (xcffib.xproto.WindowError, xcffib.xproto.DrawableError):
            return None

    def listen(self, window: int, mask: int) -> None:
        """Have events of a window sent to us; none if it is gone."""
        try:
            attributes = self._core.ChangeWindowAttributesChecked(
                window, xcffib.xproto.CW.EventMask, [mask]
            )
            attributes.check()
        except xcffib.xproto.WindowError:
            pass

    def focus(self, window: int) -> None:
        """Raise it, shown again if it was minimized, and give it the keyboard."""
        self._tell(window, "_NET_ACTIVE_WINDOW", _FROM_A_PAGER, 0, 0)

    def close(self, window: int) -> None:
        """Ask it to close, as its close button does."""
        self._tell(window, "_NET_CLOSE_WINDOW", 0, _FROM_A_PAGER)

    def minimize(self, window: int) -> None:
        """Take it off the screen."""
        self._tell(window, "WM_CHANGE_STATE", _ICONIC)

    def maximize(self, window: int, on: bool = True) -> None:
        """Make it fill the screen, or no longer."""
        atoms = (self.atom(name) for name in _MAXIMIZED)
        self._tell(window, "_NET_WM_STATE", _ADD if on else _REMOVE, *atoms, _FROM_A_PAGER)

    def place(self, window: int, region: Region) -> None:
        """Give it, with its frame, that place."""
        left, right, top, bottom = self._frame(window)
        width = max(1, region.size.width - left - right)
        height = max(1, region.size.height - top - bottom)
        flags = _NORTH_WEST_AND_ALL_FOUR | _FROM_A_PAGER << 12
        self._tell(window, "_NET_MOVERESIZE_WINDOW", flags, region.left, region.top, width, height)

    def _window(self, identifier: int) -> ClientWindow:
        names = self._bytes(identifier, "WM_CLASS").decode("latin-1").split("\0")
        states = set(self._words(identifier, "_NET_WM_STATE"))
        return ClientWindow(
            id=identifier,
            title=self.title(identifier),
            name=names[1] if len(names) > 1 else names[0],
            pid=next(iter(self._words(identifier, "_NET_WM_PID")), None),
            region=self._region(identifier),
            focused=identifier == self.active(),
            maximized={self.atom(name) for name in _MAXIMIZED} <= states,
            minimized=next(iter(self._words(identifier, "WM_STATE")), 0) == _ICONIC,
            dialog=self._is_dialog(identifier),
        )

    def _is_dialog(self, window: int) -> bool:
        types = self._types(window)
        if types:
            return self.atom("_NET_WM_WINDOW_TYPE_DIALOG") in types
        return bool(self._words(window, "WM_TRANSIENT_FOR"))

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
        found = self._words(window, "_NET_FRAME_EXTENTS")
        if len(found) != 4:
            return 0, 0, 0, 0
        return found[0], found[1], found[2], found[3]

    def _types(self, window: int) -> list[int]:
        return self._words(window, "_NET_WM_WINDOW_TYPE")

    def _words(self, window: int, name: str) -> list[int]:
        raw = self._bytes(window, name)
        return [int.from_bytes(raw[i : i + 4], "little") for i in range(0, len(raw) - 3, 4)]

    def _bytes(self, window: int, name: str, most: int = _LONGEST_WORDS) -> bytes:
        try:
            asked = self._core.GetProperty(False, window, self.atom(name), _ANY, 0, most)
            raw: bytes = asked.reply().value.raw
        except xcffib.xproto.WindowError:
            return b""
        return raw

    def _tell(self, window: int, message: str, *data: int) -> None:
        words = [*data, *[0] * (5 - len(data))]
        event = _messages.ClientMessageEvent.synthetic(
            32,
            window,
            self.atom(message),
            _messages.ClientMessageData.synthetic([word & 0xFFFFFFFF for word in words], "5I"),
        )
        mask = _MASKS.SubstructureNotify | _MASKS.SubstructureRedirect
        self._core.SendEvent(False, self.root, mask, event.pack())
        self._connection.flush()
