import os
import socket
import string
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
import xcffib.xproto

from deskhand.desktop.display.child_processes import ChildCommand, ChildProcess
from deskhand.desktop.geometry import Point, Region
from deskhand.desktop.input.events import (
    ButtonPress,
    ButtonRelease,
    InputEvent,
    KeyPress,
    KeyRelease,
    PointerMotion,
    Tap,
)
from deskhand.desktop.input.keys import keysyms_of_text
from deskhand.desktop.input.xtest import XTestInput
from tests.system.displays import PATIENCE, Display, Window, display, mapping_window
from tests.system.services import until
from tests.vncbridge.rfb.client_messages import HELLO, PIXEL, key

pytestmark = pytest.mark.x11

CONTROL, SHIFT, CAPS_LOCK = 0xFFE3, 0xFFE1, 0xFFE5
WORLD = "é ü ß ñ € 日本語 Ж ł 한글 שלום ไทย 😀 ∑ e\u0301"
MANY = "".join(chr(0x4E00 + 7 * number) for number in range(300))


def typed(text: str) -> list[InputEvent]:
    return [Tap(keysym) for keysym in keysyms_of_text(text)]


@contextmanager
def input_on(running: Display) -> Iterator[XTestInput]:
    with XTestInput(running.server.display, running.server.xauthority) as input_device:
        yield input_device


@dataclass
class Terminal:
    """An xterm in which ``cat`` writes what is typed to a file."""

    input_device: XTestInput
    child: ChildProcess
    out: Path

    def finish(self) -> str:
        """End ``cat`` as a person would, and return what it got."""
        self.input_device.perform([KeyPress(CONTROL), Tap(ord("d")), KeyRelease(CONTROL)])
        assert self.child.exited.wait(PATIENCE)
        return self.out.read_text("utf-8")


@contextmanager
def terminal(running: Display) -> Iterator[Terminal]:
    ready, out = running.folder / "ready", running.folder / "out"
    os.mkfifo(ready)
    order = ChildCommand(
        ("xterm", "-geometry", "80x24+0+0", "-e", f"exec > {out}; echo > {ready}; exec cat"),
        running.environment,
        running.folder / "logs" / "xterm.log",
    )
    with input_on(running) as input_device:
        input_device.perform([PointerMotion(Point(200, 150))])
        with mapping_window(running.server):
            child = running.spawner.spawn(order)
            ready.read_text()
        yield Terminal(input_device, child, out)


def test_every_printable_ascii_character_arrives(tmp_path: Path) -> None:
    text = string.digits + string.ascii_letters + string.punctuation + " end\n"
    with display(tmp_path) as running, terminal(running) as xterm:
        xterm.input_device.perform(typed(text))
        assert xterm.finish() == text


def test_any_script_arrives(tmp_path: Path) -> None:
    with display(tmp_path) as running, terminal(running) as xterm:
        xterm.input_device.perform(typed(WORLD + "\n"))
        assert xterm.finish() == WORLD + "\n"


def test_more_foreign_characters_than_spare_keys_arrive(tmp_path: Path) -> None:
    with display(tmp_path) as running, terminal(running) as xterm:
        xterm.input_device.perform(typed(MANY[:150] + "\n" + MANY[150:] + "\n"))
        assert xterm.finish().replace("\n", "") == MANY


def test_another_layout_is_noticed(tmp_path: Path) -> None:
    with display(tmp_path) as running, terminal(running) as xterm:
        xterm.input_device.perform(typed("z日@\n"))
        # Until it has read them, the terminal would take the keys for those of the new layout.
        until(lambda: xterm.out.read_text("utf-8"), "the first line")
        subprocess.run(["setxkbmap", "de"], env=running.environment, check=True, timeout=PATIENCE)
        xterm.input_device.perform(typed("zyß@{日本\n"))
        assert xterm.finish() == "z日@\nzyß@{日本\n"


def test_caps_lock_does_not_change_what_is_typed(tmp_path: Path) -> None:
    with display(tmp_path) as running, terminal(running) as xterm:
        xterm.input_device.perform([Tap(CAPS_LOCK), *typed("abC 12!\n")])
        xterm.input_device.perform([Tap(CAPS_LOCK), *typed("abC\n")])
        assert xterm.finish() == "abC 12!\nabC\n"


def test_caps_lock_does_not_change_foreign_letters(tmp_path: Path) -> None:
    with display(tmp_path) as running, terminal(running) as xterm:
        xterm.input_device.perform([Tap(CAPS_LOCK), *typed("aéÉжß日C\n")])
        xterm.input_device.perform(typed("éb\n"))
        xterm.input_device.perform([Tap(CAPS_LOCK), *typed("éb\n")])
        assert xterm.finish() == "aéÉжß日C\néb\néb\n"


def test_caps_lock_does_not_add_shift_to_a_shortcut(tmp_path: Path) -> None:
    shortcut = (KeyPress(CONTROL), Tap(ord("c")), KeyRelease(CONTROL))
    with (
        display(tmp_path) as running,
        Window(running.server, Region(0, 0, 9, 9), 0) as window,
        input_on(running) as input_device,
    ):
        input_device.perform([PointerMotion(Point(5, 5)), Tap(CAPS_LOCK), *shortcut, Tap(ord("1"))])
        pressed = [window.event() for _ in ("Caps Lock", "Control", "c", "1")]
        masks = xcffib.xproto.KeyButMask
        assert pressed[2].state & masks.Control
        assert pressed[3].state & (masks.Control | masks.Lock | masks.Shift) == masks.Lock


def test_a_held_shift_is_neither_doubled_nor_released(tmp_path: Path) -> None:
    with display(tmp_path) as running, terminal(running) as xterm:
        xterm.input_device.perform([KeyPress(SHIFT), *typed("aB"), *typed("c"), KeyRelease(SHIFT)])
        xterm.input_device.perform(typed("d\n"))
        assert xterm.finish() == "ABCd\n"


def test_clicks_arrive_where_they_are_aimed(tmp_path: Path) -> None:
    with (
        display(tmp_path) as running,
        Window(running.server, Region(50, 60, 250, 260), 0xFFFFFF) as window,
        input_on(running) as input_device,
    ):
        for button, point in ((1, Point(50, 60)), (3, Point(249, 259)), (8, Point(100, 100))):
            input_device.perform([PointerMotion(point), ButtonPress(button), ButtonRelease(button)])
            pressed, released = window.event(), window.event()
            assert isinstance(pressed, xcffib.xproto.ButtonPressEvent)
            assert isinstance(released, xcffib.xproto.ButtonReleaseEvent)
            assert (pressed.detail, pressed.root_x, pressed.root_y) == (button, *point)


def test_release_all_releases_every_key_and_button(tmp_path: Path) -> None:
    with (
        display(tmp_path) as running,
        Window(running.server, Region(0, 0, 9, 9), 0) as window,
        input_on(running) as input_device,
    ):
        input_device.perform(
            [PointerMotion(Point(500, 500)), KeyPress(SHIFT), KeyPress(CONTROL), ButtonPress(1)]
        )
        assert window.modifiers()
        input_device.release_all()
        assert window.modifiers() == 0


def test_a_person_who_takes_over_types_the_first_letter_too(tmp_path: Path) -> None:
    with display(tmp_path) as running, terminal(running) as xterm:
        xterm.input_device.perform(typed("abc"))
        xterm.input_device.release_all()
        with socket.socket(socket.AF_UNIX) as viewer:
            viewer.settimeout(PATIENCE)
            viewer.connect(str(running.server.rfb_socket))
            viewer.sendall(HELLO)
            greeting = b""
            while b"Deskhand" not in greeting:
                greeting += viewer.recv(4096)
            for keysym in keysyms_of_text("日é\n"):
                viewer.sendall(key(keysym) + key(keysym, down=False) + PIXEL)
                # The server obeys in order: with the picture it has struck the key.
                assert viewer.recv(4096)
            until(lambda: xterm.out.read_text("utf-8"), "the person's line")
        xterm.input_device.perform(typed("語\n"))
        assert xterm.finish() == "abc日é\n語\n"


def test_a_closed_input_device_holds_nothing(tmp_path: Path) -> None:
    with display(tmp_path) as running, Window(running.server, Region(0, 0, 9, 9), 0) as window:
        with input_on(running) as input_device:
            input_device.perform([PointerMotion(Point(500, 500)), KeyPress(SHIFT), ButtonPress(1)])
        window.sync()
        assert window.modifiers() == 0
