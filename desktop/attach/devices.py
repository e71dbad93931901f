"""Capture and input on a screen that exists already, through mss and PyAutoGUI.

PyAutoGUI connects to its display while it is imported, by ``DISPLAY`` and ``XAUTHORITY``: both must
be set before this module is loaded, so only the entry of the process loads it, and late.
"""

import importlib
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Any, Self

import mss
import numpy as np
from mss.exception import ScreenShotError
from numpy.typing import NDArray

from deskhand.desktop.errors import ActionFailed, DisplayGone, UntypableText
from deskhand.desktop.geometry import Point, Size
from deskhand.desktop.input.events import (
    ButtonPress,
    ButtonRelease,
    InputEvent,
    KeyPress,
    KeyRelease,
    PointerMotion,
    Tap,
)

from .keys import key_name

xcb: Any = None
_lost: tuple[type[Exception], ...] = (OSError, KeyError)
if sys.platform.startswith("linux"):
    xcb = importlib.import_module("mss.linux.xcb")
    _xlib = importlib.import_module("Xlib.error")
    # python-xlib's own handling of a broken pipe raises a TypeError.
    _lost += (_xlib.DisplayError, _xlib.ConnectionClosedError, TypeError)
try:
    pyautogui: Any = importlib.import_module("pyautogui")
except _lost as error:
    # python-xlib supports fewer authorization protocols than libX11, so this display may work for
    # other programs.
    raise DisplayGone("to attach to", f"PyAutoGUI cannot use it: {error}") from error

# On X, mss asserts that there is a reply, and there is none once the server is gone.
_GRAB_ERRORS = (ScreenShotError, AssertionError, OSError)
# PyAutoGUI's connection to the X server hangs when two threads use it at once.
_one_at_a_time = threading.Lock()
# After a call has found the server gone, every later call would hang.
_gone = threading.Event()
_BUTTONS = {1: "left", 2: "middle", 3: "right"}
# X11 buttons 4 to 7 are the wheel: up, down, left, right.
_WHEEL = {4: (0, 1), 5: (0, -1), 6: (-1, 0), 7: (1, 0)}
# One notch of the wheel in the units of each platform (Windows: WHEEL_DELTA).
_NOTCH = 120 if sys.platform == "win32" else 1
# On X, PyAutoGUI presses Shift for "<" although one key has "<" without Shift, and types ">".
_SHIFTED = {"<": ","} if sys.platform.startswith("linux") else {}


class MssScreen:
    """Captures the first monitor; a context manager."""

    def __init__(self) -> None:
        _prefer_root_visual()
        try:
            self._mss: Any = mss.MSS()
            # Entry 0 is the bounding box of all monitors.
            self._monitor = self._mss.monitors[1]
            image = self._mss.grab(self._monitor)
        except (ScreenShotError, IndexError) as error:
            raise DisplayGone("to attach to", str(error)) from error
        self._size = Size(image.width, image.height)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        # mss asserts or raises when the connection is gone already.
        with suppress(*_GRAB_ERRORS):
            self._mss.close()

    @property
    def size(self) -> Size:
        """Size in pixels."""
        return self._size

    def grab(self) -> NDArray[np.uint8]:
        """Capture the pixels, ``(height, width, 4)`` in B, G, R, X.

        Raises:
            DisplayGone: If the screen is gone or has another size.
        """
        try:
            image = self._mss.grab(self._monitor)
        except _GRAB_ERRORS as error:
            _gone.set()
            raise DisplayGone("attached to", repr(error)) from error
        return np.frombuffer(image.raw, np.uint8).reshape(image.height, image.width, 4)

    def pointer(self) -> Point:
        """Return the position of the pointer."""
        return _position(self._size)


class PyAutoGuiInput:
    """Presses keys and buttons, and keeps track of those that are down."""

    def __init__(self, size: Size, acted: Callable[[], None] = lambda: None) -> None:
        # PyAutoGUI waits 0.1 s after each call by default.
        pyautogui.PAUSE = 0
        # PyAutoGUI's fail-safe raises while the pointer is in a corner, a valid position here.
        pyautogui.FAILSAFE = False
        self._size = size
        self._acted = acted
        self._keys: list[str] = []
        self._buttons: list[int] = []

    def perform(self, events: Sequence[InputEvent]) -> None:
        """Perform all events in order.

        Raises:
            UntypableText: If a keysym has no key; no event has been performed then.
            ActionFailed: If the display rejects an event.
        """
        for event in events:
            # Checked before the first event, so that a text is typed completely or not at all.
            if isinstance(event, Tap | KeyPress) and key_name(event.keysym) is None:
                raise UntypableText(hex(event.keysym))
        try:
            with _alone():
                for event in events:
                    self._do(event)
        except pyautogui.PyAutoGUIException as error:
            raise ActionFailed("The display refused the input.", repr(error)) from error
        self._acted()

    def release_all(self) -> None:
        """Release all keys and buttons that are down."""
        with _alone():
            # In reverse order, so that modifiers are released last.
            for key in reversed(self._keys):
                pyautogui.keyUp(key, _pause=False)
            for button in reversed(self._buttons):
                pyautogui.mouseUp(button=_BUTTONS[button], _pause=False)
        self._keys.clear()
        self._buttons.clear()

    def position(self) -> Point:
        """Return the position of the pointer."""
        return _position(self._size)

    def holds_button(self) -> bool:
        """Return True while a button that ``perform`` pressed is down."""
        return bool(self._buttons)

    def _do(self, event: InputEvent) -> None:
        match event:
            case PointerMotion(to):
                across, down = _scale(self._size)
                pyautogui.moveTo(round(to.x / across), round(to.y / down), _pause=False)
            case ButtonPress(button) if button in _WHEEL:
                across, up = _WHEEL[button]
                # Scroll events of PyAutoGUI are signed: up and right are positive.
                turn = pyautogui.hscroll if across else pyautogui.scroll
                turn((across or up) * _NOTCH, _pause=False)
            case ButtonPress(button) if button in _BUTTONS:
                pyautogui.mouseDown(button=_BUTTONS[button], _pause=False)
                self._buttons.append(button)
            case ButtonRelease(button) if button in _BUTTONS:
                pyautogui.mouseUp(button=_BUTTONS[button], _pause=False)
                self._buttons = [held for held in self._buttons if held != button]
            case KeyPress(keysym) | KeyRelease(keysym) | Tap(keysym):
                self._key(event, key_name(keysym))

    def _key(self, event: InputEvent, key: str | None) -> None:
        if key is None:
            return
        if isinstance(event, KeyPress):
            pyautogui.keyDown(key, _pause=False)
            self._keys.append(key)
        elif isinstance(event, KeyRelease):
            pyautogui.keyUp(key, _pause=False)
            self._keys = [held for held in self._keys if held != key]
        elif key in _SHIFTED:
            pyautogui.keyDown("shift", _pause=False)
            pyautogui.press(_SHIFTED[key], _pause=False)
            pyautogui.keyUp("shift", _pause=False)
        else:
            pyautogui.press(key, _pause=False)


@contextmanager
def _alone() -> Iterator[None]:
    with _one_at_a_time:
        if _gone.is_set():
            raise DisplayGone("attached to")
        try:
            yield
        except _lost as error:
            _gone.set()
            raise DisplayGone("attached to", repr(error)) from error


def _position(size: Size) -> Point:
    with _alone():
        across, down = _scale(size)
        position = pyautogui.position()
    return Point(round(position.x * across), round(position.y * down))


def _scale(size: Size) -> tuple[float, float]:
    """Return the pixels for each unit of PyAutoGUI's positions; not 1 on a high-density screen."""
    own = pyautogui.size()
    return size.width / own.width, size.height / own.height


def _prefer_root_visual() -> None:
    """Make mss find the root visual on Xvnc, which lists depth 24 twice.

    mss 10.2 reads only the first entry of a depth.
    """
    if xcb is None or hasattr(xcb, "deskhand_order"):
        return
    order = xcb.screen_allowed_depths

    def with_the_root_visual_first(screen: Any) -> Any:
        def elsewhere(depth: Any) -> bool:
            return screen.root_visual not in {v.visual_id for v in xcb.depth_visuals(depth)}

        return sorted(order(screen), key=elsewhere)

    xcb.screen_allowed_depths = with_the_root_visual_first
    xcb.deskhand_order = order
