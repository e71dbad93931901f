"""Pointer and keyboard input through the XTEST extension.

A keysym that the keyboard map has is typed with its own keycode and modifiers. A foreign keysym is
first bound to a spare keycode (`keymap.Bindings`), with ChangeKeyboardMapping. The difficulty is
that clients translate keycodes later, with the map of that moment. The invariants:

* A spare keycode is rebound only after the client with the focus has processed the events that
  used its previous keysym: a pause since its last use, then `ClientIdle.wait_for_keys`.
* Events that use a new binding are sent only after that client has reloaded its map.
* Events are split into batches whose foreign keysyms fit on the spare keycodes together.
* The keyboard map is read again after every MappingNotify, as people and viewers change it too.

Xvnc adds keysyms of its viewers to its own XInput keyboard. The server reports the map of the
device used last; the code below makes the XTEST device, or the viewers' keyboard, that one.
"""

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
from deskhand.desktop.x11.client_processes import ClientProcesses
from deskhand.desktop.x11.connection import LOST, connect, screen_of

from .client_idle import ClientIdle
from .events import (
    AwaitDrag,
    AwaitDrop,
    ButtonPress,
    ButtonRelease,
    InputEvent,
    KeyPress,
    KeyRelease,
    Pause,
    PointerEvent,
    PointerMotion,
    Tap,
)
from .focus_moves import FocusMoves
from .keymap import CAPS_LOCK, LEVEL3_SHIFT, SHIFT, Bindings, Keymap, NoRoom, runs
from .keys import MODIFIERS, character_of_keysym, is_small_letter
from .modifiers import Modifiers
from .pointer_delivery import MOTION, DragDelivery

_KEY_PRESS, _KEY_RELEASE = 2, 3
_BUTTON_PRESS, _BUTTON_RELEASE = 4, 5
# Offset from the first event code of XInput (XIproto.h, XI_DeviceKeyRelease).
_XI_KEY_RELEASE = 2


class XTestInput:
    """Injects input events, and tracks which keys and buttons are down.

    ``on_input`` is called after the events were sent, for example with the framebuffer's
    ``glance``; ``processes`` are those of clients behind a filter. Methods may be called from any
    thread; they run one at a time.
    """

    def __init__(
        self,
        display: str,
        xauthority: Path,
        on_input: Callable[[], None] = lambda: None,
        processes: ClientProcesses | None = None,
    ) -> None:
        self._display = display
        self._xauthority = xauthority
        self._on_input = on_input
        self._processes = processes
        self._lock = threading.Lock()
        self._connection: Any = None
        self._focus: FocusMoves
        self._drags: DragDelivery
        self._followers: list[FocusMoves | DragDelivery] = []
        self._bindings = Bindings()
        self._keymap = Keymap(8, 1, [])
        self._keys, self._buttons = dict[int, int](), list[int]()
        self._rfb_keyboard: tuple[int, int] | None = None

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
        """Connect and read the keyboard map.

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
        """Release everything and disconnect; twice is fine, also on a lost connection."""
        with self._lock:
            connection, self._connection = self._connection, None
            if connection is None:
                return
            for follower in self._followers:
                follower.close()
            try:
                self._send_releases()
                # The round trip ensures that the server has processed the releases before the
                # connection ends.
                connection.core.GetInputFocus().reply()
            except LOST:
                pass
            finally:
                connection.disconnect()

    def perform(self, events: Sequence[InputEvent]) -> None:
        """Inject all events, and return when server and window manager have processed them.

        So a key that follows a click, by this way or another, does not overtake it.

        Raises:
            UntypableText: If a keysym finds no keycode; the events before it were sent.
            DisplayGone: When the server or the connection is lost.
        """
        with self._requests():
            for batch, foreign in self._batches(events):
                self._bind(foreign)
                modifiers = self._modifiers()
                for input_event in batch:
                    if isinstance(input_event, Tap | KeyPress):
                        self._focus.wait(modifiers.command)
                    self._inject(input_event, modifiers)
                self._sync()
                self._bindings.used(foreign, time.monotonic())
            self._focus.deliver_clicks()
        self._on_input()

    def release_all(self) -> None:
        """Release every key and button that ``perform`` left down, before a viewer takes over."""
        with self._requests():
            self._send_releases()
            if self._rfb_keyboard is not None:
                # Xvnc loses the first keysym that it adds to a device that was not used last.
                kind, device = self._rfb_keyboard
                self._xtest.FakeInput(kind, self._codes[0], 0, 0, 0, 0, device)
            self._sync()
        self._on_input()

    def await_focus(self) -> None:
        """Wait until the input of viewers, which was sent before, has moved the keyboard focus."""
        with self._requests():
            self._focus.wait_for_viewer()

    def position(self) -> Point:
        """Return the position of the pointer."""
        with self._requests():
            pointer = self._connection.core.QueryPointer(self._root).reply()
            return Point(pointer.root_x, pointer.root_y)

    def holds_button(self) -> bool:
        """Return True while a button that ``perform`` pressed is down."""
        return bool(self._buttons)

    def _prepare(self) -> None:
        self._xtest = self._connection(xcffib.xtest.key)
        self._client = ClientIdle(self._connection, self._processes)
        place = self._display, self._xauthority
        self._focus = FocusMoves(self._connection, self._client, *place)
        self._followers.append(self._focus)
        self._drags = DragDelivery(*place, self._processes)
        self._followers.append(self._drags)
        setup = self._connection.get_setup()
        self._root = screen_of(self._connection).root
        self._codes = (setup.min_keycode, setup.max_keycode - setup.min_keycode + 1)
        self._rfb_keyboard = _find_rfb_keyboard(self._connection)
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
        self, events: Sequence[InputEvent]
    ) -> Iterator[tuple[Sequence[InputEvent], dict[int, None]]]:
        """Split events so that the foreign keysyms of each batch fit on the spare keycodes."""
        self._refresh_keymap()
        start, foreign = 0, dict[int, None]()
        for index, input_event in enumerate(events):
            if not isinstance(input_event, Tap | KeyPress) or self._keymap_has(input_event.keysym):
                continue
            if input_event.keysym not in foreign and len(foreign) >= self._capacity():
                yield events[start:index], foreign
                start, foreign = index, {}
            foreign[input_event.keysym] = None
        yield events[start:], foreign

    def _capacity(self) -> int:
        # Keys that are held down keep their keycodes. At least 1: `bind` refuses what does
        # not fit (NoRoom).
        return max(1, self._bindings.capacity - len(self._keys))

    def _keymap_has(self, keysym: int) -> bool:
        key = self._keymap.find(keysym)
        # The map also contains our own bindings, which may be replaced at any time.
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
            raise UntypableText("".join(map(character_of_keysym, keysyms))) from error
        if not changes:
            return
        if not carrying.isdisjoint(changes):
            time.sleep(max(0.0, ready - time.monotonic()))
            self._client.wait_for_keys()
        width = self._keymap.width
        for first, run in runs(changes):
            rows = [keysym for keysym in run for _ in range(width)]
            self._connection.core.ChangeKeyboardMapping(len(run), first, width, rows)
        self._read_keymap()
        # Chromium reloads its map in a separate task, some time after MappingNotify.
        self._client.wait_for_keys()

    def _refresh_keymap(self) -> None:
        if self._mapping_changed():
            # The client translates keys of a person's viewer with the map before this change.
            self._client.wait_for_keys()
            self._read_keymap()

    def _mapping_changed(self) -> bool:
        """Return True if the keyboard map has changed since it was read."""
        changed = False
        while (event := self._connection.poll_for_event()) is not None:
            changed = changed or isinstance(event, xcffib.xproto.MappingNotifyEvent)
        return changed

    def _read_keymap(self) -> None:
        core = self._connection.core
        # GetKeyboardMapping returns the map of the device used last, and a viewer's keysyms exist
        # on the viewers' device only. Releasing a key that is not down has no other effect than
        # to make the XTEST device the last one used.
        self._fake(_KEY_RELEASE, self._codes[0])
        self._sync()
        self._mapping_changed()
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

    def _modifiers(self) -> Modifiers:
        return Modifiers.of(self._connection.core.QueryPointer(self._root).reply().mask)

    def _inject(self, input_event: InputEvent, modifiers: Modifiers) -> None:
        match input_event:
            case KeyPress(keysym):
                self._key_down(keysym, modifiers)
            case KeyRelease(keysym):
                self._key_up(keysym, modifiers)
            case Tap(keysym):
                self._tap(keysym, modifiers)
            case Pause():
                raise TypeError("pauses are the caller's")
            case _:
                self._point(input_event)

    def _point(self, event: PointerEvent) -> None:
        if self._buttons:
            self._sync()
        match event:
            case PointerMotion(to):
                self._drags.move(to, held=bool(self._buttons))
                self._fake(MOTION, 0, to.x, to.y)
            case ButtonPress(button):
                if not self._buttons:
                    self._drags.press()
                self._fake(_BUTTON_PRESS, button)
                self._focus.pressed(button)
                self._buttons.append(button)
            case ButtonRelease(button):
                self._fake(_BUTTON_RELEASE, button)
                self._buttons = [held for held in self._buttons if held != button]
            case AwaitDrag():
                self._drags.wait_taken()
            case AwaitDrop():
                self._drags.wait_answered()

    def _key_down(self, keysym: int, modifiers: Modifiers) -> None:
        code = self._code(keysym)
        self._fake(_KEY_PRESS, code)
        self._keys[keysym] = code
        modifiers.note(keysym, True)
        if keysym not in MODIFIERS:
            self._focus.struck(keysym, modifiers.command)

    def _key_up(self, keysym: int, modifiers: Modifiers) -> None:
        # The keycode of the press is released, even if the map has another one for the keysym by
        # now.
        code = self._keys.pop(keysym, None)
        if code is None:
            key = self._keymap.find(keysym)
            if key is None:
                return
            code = key.code
        self._fake(_KEY_RELEASE, code)
        modifiers.note(keysym, False)

    def _tap(self, keysym: int, modifiers: Modifiers) -> None:
        self._focus.struck(keysym, modifiers.command)
        bound = self._bindings.find(keysym)
        if bound is not None:
            self._tap_bound(bound, keysym, modifiers)
            return
        key = self._keymap.find(keysym)
        if key is None:
            raise UntypableText(character_of_keysym(keysym))
        shift = key.shift
        if modifiers.capitals and self._keymap.inverts_with_lock(keysym):
            shift = not shift
        pressed: list[int] = []
        if key.level3 and not modifiers.level3:
            pressed.append(self._code(LEVEL3_SHIFT))
        if shift and not modifiers.shift:
            pressed.append(self._code(SHIFT))
        for modifier in pressed:
            self._fake(_KEY_PRESS, modifier)
        self._strike(key.code)
        for modifier in reversed(pressed):
            self._fake(_KEY_RELEASE, modifier)
        if keysym == CAPS_LOCK:
            modifiers.lock = not modifiers.lock

    def _tap_bound(self, code: int, keysym: int, modifiers: Modifiers) -> None:
        # The key type of a spare keycode does not consume Lock, so clients turn its letter into a
        # capital. Caps Lock is therefore off while a small letter is typed.
        caps_lock = self._keymap.find(CAPS_LOCK)
        if not modifiers.lock or caps_lock is None or not is_small_letter(keysym):
            self._strike(code)
            return
        for struck in (caps_lock.code, code, caps_lock.code):
            self._strike(struck)

    def _strike(self, code: int) -> None:
        self._fake(_KEY_PRESS, code)
        self._fake(_KEY_RELEASE, code)

    def _code(self, keysym: int) -> int:
        bound = self._bindings.find(keysym)
        if bound is not None:
            return bound
        key = self._keymap.find(keysym)
        if key is None:
            raise UntypableText(character_of_keysym(keysym))
        return key.code

    def _send_releases(self) -> None:
        for button in reversed(self._buttons):
            self._fake(_BUTTON_RELEASE, button)
        for code in reversed(self._keys.values()):
            self._fake(_KEY_RELEASE, code)
        self._buttons.clear()
        self._keys.clear()

    def _fake(self, kind: int, detail: int, x: int = 0, y: int = 0) -> None:
        self._xtest.FakeInput(kind, detail, 0, self._root if kind == MOTION else 0, x, y, 0)

    def _sync(self) -> None:
        # A reply shows that the server has processed all requests before it.
        self._connection.core.GetInputFocus().reply()


def _find_rfb_keyboard(connection: Any) -> tuple[int, int] | None:
    """Return event code and device of a key release on the viewers' keyboard, if there is one."""
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
