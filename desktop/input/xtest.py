"""Hands: pointer and keyboard through the XTEST extension on one kept connection."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import xcffib
import xcffib.xinput
import xcffib.xproto
import xcffib.xtest

from deskhand.desktop.errors import ActionFailed, DisplayGone, UntypableText
from deskhand.desktop.geometry import Point
from deskhand.desktop.x11.connection import LOST, connect, screen_of

from .client_idle import Listener
from .events import (
    ButtonPress,
    ButtonRelease,
    InputEvent,
    KeyPress,
    KeyRelease,
    Pause,
    PointerMotion,
    Tap,
)
from .keymap import CAPS_LOCK, LEVEL3_SHIFT, SHIFT, Bindings, Keymap, NoRoom, runs

_KEY_PRESS, _KEY_RELEASE = 2, 3
_BUTTON_PRESS, _BUTTON_RELEASE = 4, 5
_MOTION = 6
# After the first event of XInput (XIproto.h, XI_DeviceKeyRelease).
_XI_KEY_RELEASE = 2
_UNICODE = 0x0100_0000


class XTestInput:
    """Presses keys and buttons, and knows which of them are down.

    ``acted`` is called after every performance: the framebuffer's ``glance`` belongs there.
    Methods may be called from any thread; they run one at a time.
    """

    def __init__(
        self, display: str, xauthority: Path, acted: Callable[[], None] = lambda: None
    ) -> None:
        self._display = display
        self._xauthority = xauthority
        self._acted = acted
        self._lock = threading.Lock()
        self._connection: Any = None
        self._bindings = Bindings()
        self._keymap = Keymap(8, 1, [])
        self._keys: dict[int, int] = {}
        self._buttons: list[int] = []
        self._viewers: tuple[int, int] | None = None

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    def open(self) -> None:
        """Connect and read the keyboard's map.

        Raises:
            DisplayGone: If there is no such display.
        """
        self._connection = connect(self._display, self._xauthority)
        try:
            with self._requests():
                self._prepare()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Release everything and disconnect; twice is fine, and so is a display that is gone."""
        with self._lock:
            connection, self._connection = self._connection, None
            if connection is None:
                return
            try:
                self._send_releases()
                connection.core.GetInputFocus().reply()
            except LOST:
                pass
            finally:
                connection.disconnect()

    def perform(self, strokes: Sequence[InputEvent]) -> None:
        """Do all strokes, and return when the server has taken them.

        Raises:
            UntypableText: If a symbol finds no key; what came before it has been done.
            DisplayGone: When the server or the connection is lost.
        """
        with self._requests():
            for batch, foreign in self._batches(strokes):
                self._bind(foreign)
                modifiers = self._modifiers()
                for stroke in batch:
                    self._do(stroke, modifiers)
                self._sync()
                self._bindings.used(foreign, time.monotonic())
        self._acted()

    def release_all(self) -> None:
        """Let go of every key and button that ``perform`` left down, for others to take over."""
        with self._requests():
            self._send_releases()
            if self._viewers is not None:
                # Whose device is not the last one used loses the first letter that it adds.
                kind, device = self._viewers
                self._test.FakeInput(kind, self._codes[0], 0, 0, 0, 0, device)
            self._sync()
        self._acted()

    def position(self) -> Point:
        """Where the pointer is."""
        with self._requests():
            where = self._connection.core.QueryPointer(self._root).reply()
            return Point(where.root_x, where.root_y)

    def _prepare(self) -> None:
        self._test = self._connection(xcffib.xtest.key)
        self._listener = Listener(self._connection)
        setup = self._connection.get_setup()
        self._root = screen_of(self._connection).root
        self._codes = (setup.min_keycode, setup.max_keycode - setup.min_keycode + 1)
        self._viewers = _viewers_keyboard(self._connection)
        self._read_keymap()

    @contextmanager
    def _requests(self) -> Iterator[None]:
        with self._lock:
            if self._connection is None:
                raise DisplayGone(self._display, "closed")
            try:
                yield
            except LOST as error:
                raise DisplayGone(self._display, "connection lost") from error
            except xcffib.XcffibException as error:
                raise ActionFailed("The display refused the input.", repr(error)) from error

    def _batches(
        self, strokes: Sequence[InputEvent]
    ) -> Iterator[tuple[Sequence[InputEvent], dict[int, None]]]:
        """Cut so that the foreign symbols of each part fit on the spare keys at a time."""
        self._notice_changes()
        start, foreign = 0, dict[int, None]()
        for index, stroke in enumerate(strokes):
            if not isinstance(stroke, Tap | KeyPress) or self._keymap_has(stroke.keysym):
                continue
            if stroke.keysym not in foreign and len(foreign) >= self._room():
                yield strokes[start:index], foreign
                start, foreign = index, {}
            foreign[stroke.keysym] = None
        yield strokes[start:], foreign

    def _room(self) -> int:
        return max(1, self._bindings.capacity - len(self._keys))

    def _keymap_has(self, keysym: int) -> bool:
        key = self._keymap.find(keysym)
        # What we bound ourselves is in the map too, but may be given away any time.
        return key is not None and self._bindings.find(keysym) is None

    def _bind(self, keysyms: dict[int, None]) -> None:
        if not keysyms:
            return
        carrying = self._bindings.codes
        try:
            changes, ready = self._bindings.bind(
                keysyms, time.monotonic(), tuple(self._keys.values())
            )
        except NoRoom as error:
            raise UntypableText("".join(map(_character, keysyms))) from error
        if not changes:
            return
        if not carrying.isdisjoint(changes):
            time.sleep(max(0.0, ready - time.monotonic()))
            self._listener.rest()
        width = self._keymap.width
        for first, run in runs(changes):
            rows = [keysym for keysym in run for _ in range(width)]
            self._connection.core.ChangeKeyboardMapping(len(run), first, width, rows)
        self._read_keymap()
        # Chromium reads the new map in a task of its own, some time after it was told.
        self._listener.rest()

    def _notice_changes(self) -> None:
        if self._was_told():
            # Who reads what a person typed needs the map of that moment.
            self._listener.rest()
            self._read_keymap()

    def _was_told(self) -> bool:
        """Whether the keyboard's map changed since it was read."""
        told = False
        while (event := self._connection.poll_for_event()) is not None:
            told = told or isinstance(event, xcffib.xproto.MappingNotifyEvent)
        return told

    def _read_keymap(self) -> None:
        core = self._connection.core
        # The map is that of the device used last, and a viewer's letters are on the viewer's only.
        # A release of what is not down does nothing but make ours the last.
        self._fake(_KEY_RELEASE, self._codes[0])
        self._sync()
        self._was_told()
        mapping = core.GetKeyboardMapping(*self._codes)
        modifiers = core.GetModifierMapping().reply()
        found = mapping.reply()
        self._keymap = Keymap(
            self._codes[0],
            found.keysyms_per_keycode,
            list(found.keysyms),
            set(modifiers.keycodes) - {0},
        )
        self._bindings.adopt(self._keymap)

    def _modifiers(self) -> "_Modifiers":
        mask = self._connection.core.QueryPointer(self._root).reply().mask
        masks = xcffib.xproto.KeyButMask
        return _Modifiers(
            bool(mask & masks.Shift), bool(mask & masks.Mod5), bool(mask & masks.Lock)
        )

    def _do(self, stroke: InputEvent, modifiers: "_Modifiers") -> None:
        match stroke:
            case PointerMotion(to):
                self._fake(_MOTION, 0, to.x, to.y)
            case ButtonPress(button):
                self._fake(_BUTTON_PRESS, button)
                self._buttons.append(button)
            case ButtonRelease(button):
                self._fake(_BUTTON_RELEASE, button)
                self._buttons = [held for held in self._buttons if held != button]
            case KeyPress(keysym):
                self._key_down(keysym, modifiers)
            case KeyRelease(keysym):
                self._key_up(keysym, modifiers)
            case Tap(keysym):
                self._tap(keysym, modifiers)
            case Pause():
                raise TypeError("pauses are the caller's")

    def _key_down(self, keysym: int, modifiers: "_Modifiers") -> None:
        code = self._code(keysym)
        self._fake(_KEY_PRESS, code)
        self._keys[keysym] = code
        modifiers.note(keysym, True)

    def _key_up(self, keysym: int, modifiers: "_Modifiers") -> None:
        code = self._keys.pop(keysym, None)
        if code is None:
            key = self._keymap.find(keysym)
            if key is None:
                return
            code = key.code
        self._fake(_KEY_RELEASE, code)
        modifiers.note(keysym, False)

    def _tap(self, keysym: int, modifiers: "_Modifiers") -> None:
        around: list[int] = []
        code = self._bindings.find(keysym)
        if code is None:
            key = self._keymap.find(keysym)
            if key is None:
                raise UntypableText(_character(keysym))
            code = key.code
            shift = key.shift
            if modifiers.lock and self._keymap.inverts_with_lock(keysym):
                shift = not shift
            if key.level3 and not modifiers.level3:
                around.append(self._code(LEVEL3_SHIFT))
            if shift and not modifiers.shift:
                around.append(self._code(SHIFT))
        for modifier in around:
            self._fake(_KEY_PRESS, modifier)
        self._fake(_KEY_PRESS, code)
        self._fake(_KEY_RELEASE, code)
        for modifier in reversed(around):
            self._fake(_KEY_RELEASE, modifier)
        if keysym == CAPS_LOCK:
            modifiers.lock = not modifiers.lock

    def _code(self, keysym: int) -> int:
        bound = self._bindings.find(keysym)
        if bound is not None:
            return bound
        key = self._keymap.find(keysym)
        if key is None:
            raise UntypableText(_character(keysym))
        return key.code

    def _send_releases(self) -> None:
        for button in reversed(self._buttons):
            self._fake(_BUTTON_RELEASE, button)
        for code in reversed(self._keys.values()):
            self._fake(_KEY_RELEASE, code)
        self._buttons.clear()
        self._keys.clear()

    def _fake(self, kind: int, detail: int, x: int = 0, y: int = 0) -> None:
        self._test.FakeInput(kind, detail, 0, self._root if kind == _MOTION else 0, x, y, 0)

    def _sync(self) -> None:
        self._connection.core.GetInputFocus().reply()


class _Modifiers:
    """What is down while a batch runs, so that nothing is pressed twice or let go too early."""

    def __init__(self, shift: bool, level3: bool, lock: bool) -> None:
        self.shift = shift
        self.level3 = level3
        self.lock = lock

    def note(self, keysym: int, down: bool) -> None:
        if keysym in (SHIFT, SHIFT + 1):
            self.shift = down
        elif keysym == LEVEL3_SHIFT:
            self.level3 = down


def _viewers_keyboard(connection: Any) -> tuple[int, int] | None:
    """The kind of event that releases a key of the viewers' keyboard, and its device, if any."""
    name = b"XInputExtension"
    extension = connection.core.QueryExtension(len(name), name).reply()
    if not extension.present:
        return None
    devices = connection(xcffib.xinput.key)
    devices.XIQueryVersion(2, 0).reply()
    for found in devices.XIQueryDevice(xcffib.xinput.Device.All).reply().infos:
        if found.name.to_string() == "TigerVNC keyboard":
            return extension.first_event + _XI_KEY_RELEASE, found.deviceid
    return None


def _character(keysym: int) -> str:
    return chr(keysym - _UNICODE if keysym >= _UNICODE else keysym)
