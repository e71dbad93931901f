"""Eyes and hands on a screen that exists already, through mss and PyAutoGUI.

PyAutoGUI finds its display while it is imported, by ``DISPLAY`` and ``XAUTHORITY``: both must be
set before this module is loaded, which is why only the process's entry loads it, and late.
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
    # A TypeError is what comes of its own handling of a broken pipe.
    _lost += (_xlib.DisplayError, _xlib.ConnectionClosedError, TypeError)
try:
    pyautogui: Any = importlib.import_module("pyautogui")
except _lost as error:
    # Its Xlib knows fewer kinds of cookies than others do.
    raise DisplayGone("to attach to", f"PyAutoGUI cannot use it: {error}") from error

# On X, mss asserts that there is an answer, and there is none once the server has gone.
_UNSEEN = (ScreenShotError, AssertionError, OSError)
# Its connection to the X server hangs when two threads use it at once.
_one_at_a_time = threading.Lock()
# Nor does a call return that comes after one which found the server gone.
_gone = threading.Event()
_BUTTONS = {1: "left", 2: "middle", 3: "right"}
_WHEEL = {4: (0, 1), 5: (0, -1), 6: (-1, 0), 7: (1, 0)}
# A notch in the units of each platform's own call.
_NOTCH = 120 if sys.platform == "win32" else 1
# On X, PyAutoGUI presses Shift together with a key that has "<" without it, and ">" comes out.
_SHIFTED = {"<": ","} if sys.platform.startswith("linux") else {}


class MssScreen:
    """Takes pictures of the first monitor. A context manager."""

    def __init__(self) -> None:
        _see_every_visual()
        try:
            self._mss: Any = mss.MSS()
            self._monitor = self._mss.monitors[1]
            shot = self._mss.grab(self._monitor)
        except (ScreenShotError, IndexError) as error:
            raise DisplayGone("to attach to", str(error)) from error
        self._size = Size(shot.width, shot.height)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        with suppress(*_UNSEEN):
            self._mss.close()

    @property
    def size(self) -> Size:
        """In pixels."""
        return self._size

    def grab(self) -> NDArray[np.uint8]:
        """The pixels now, ``(height, width, 4)`` in B, G, R, X.

        Raises:
            DisplayGone: If there is no screen any more, or it has another size.
        """
        try:
            shot = self._mss.grab(self._monitor)
        except _UNSEEN as error:
            _gone.set()
            raise DisplayGone("attached to", repr(error)) from error
        return np.frombuffer(shot.raw, np.uint8).reshape(shot.height, shot.width, 4)

    def pointer(self) -> Point:
        """Where the pointer is."""
        return _position(self._size)


class PyAutoGuiInput:
    """Presses keys and buttons, and knows which of them are down."""

    def __init__(self, size: Size, acted: Callable[[], None] = lambda: None) -> None:
        pyautogui.PAUSE = 0
        # A corner is a place like any other.
        pyautogui.FAILSAFE = False
        self._size = size
        self._acted = acted
        self._keys: list[str] = []
        self._buttons: list[int] = []

    def perform(self, strokes: Sequence[InputEvent]) -> None:
        """Do all strokes.

        Raises:
            UntypableText: If a symbol has no key; nothing has been done then.
            ActionFailed: If the display does not go along.
        """
        for stroke in strokes:
            if isinstance(stroke, Tap | KeyPress) and key_name(stroke.keysym) is None:
                raise UntypableText(hex(stroke.keysym))
        try:
            with _alone():
                for stroke in strokes:
                    self._do(stroke)
        except pyautogui.PyAutoGUIException as error:
            raise ActionFailed("The display refused the input.", repr(error)) from error
        self._acted()

    def release_all(self) -> None:
        """Let go of everything that is down."""
        with _alone():
            for key in reversed(self._keys):
                pyautogui.keyUp(key, _pause=False)
            for button in reversed(self._buttons):
                pyautogui.mouseUp(button=_BUTTONS[button], _pause=False)
        self._keys.clear()
        self._buttons.clear()

    def position(self) -> Point:
        """Where the pointer is."""
        return _position(self._size)

    def _do(self, stroke: InputEvent) -> None:
        match stroke:
            case PointerMotion(to):
                across, down = _scale(self._size)
                pyautogui.moveTo(round(to.x / across), round(to.y / down), _pause=False)
            case ButtonPress(button) if button in _WHEEL:
                across, up = _WHEEL[button]
                turn = pyautogui.hscroll if across else pyautogui.scroll
                turn((across or up) * _NOTCH, _pause=False)
            case ButtonPress(button) if button in _BUTTONS:
                pyautogui.mouseDown(button=_BUTTONS[button], _pause=False)
                self._buttons.append(button)
            case ButtonRelease(button) if button in _BUTTONS:
                pyautogui.mouseUp(button=_BUTTONS[button], _pause=False)
                self._buttons = [held for held in self._buttons if held != button]
            case KeyPress(keysym) | KeyRelease(keysym) | Tap(keysym):
                self._key(stroke, key_name(keysym))

    def _key(self, stroke: InputEvent, key: str | None) -> None:
        if key is None:
            return
        if isinstance(stroke, KeyPress):
            pyautogui.keyDown(key, _pause=False)
            self._keys.append(key)
        elif isinstance(stroke, KeyRelease):
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
        where = pyautogui.position()
    return Point(round(where.x * across), round(where.y * down))


def _scale(size: Size) -> tuple[float, float]:
    """Pixels for each of the units in which the pointer is moved; not 1 on a dense screen."""
    own = pyautogui.size()
    return size.width / own.width, size.height / own.height


def _see_every_visual() -> None:
    """Make mss find the screen's visual on Xvnc, which lists depth 24 twice.

    mss 10.2 looks at the first entry of a depth only.
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
