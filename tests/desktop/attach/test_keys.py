import pytest

from deskhand.desktop.actions.catalog import (
    BACK,
    LEFT,
    ButtonDown,
    Click,
    Drag,
    HoldKey,
    Key,
    KeyDown,
    KeyUp,
    Scroll,
    Type,
    Wait,
)
from deskhand.desktop.attach.keys import key_name, unreachable
from deskhand.desktop.geometry import Point
from deskhand.desktop.input.keys import chord, chords, keysyms_of_text
from deskhand.desktop.input.keysyms import KEYSYMS

AT = Point(1, 1)


@pytest.mark.parametrize(
    ("keysym", "name"),
    [
        (KEYSYMS["Return"], "enter"),
        (KEYSYMS["Control_L"], "ctrlleft"),
        (KEYSYMS["F12"], "f12"),
        (ord("a"), "a"),
        (ord("<"), "<"),
        (0xE9, None),
        (0x0100_6F22, None),
        (KEYSYMS["ISO_Level3_Shift"], None),
    ],
)
def test_keys_have_the_names_of_pyautogui(keysym: int, name: str | None) -> None:
    assert key_name(keysym) == name


def test_a_text_of_ascii_can_be_typed_whole() -> None:
    text = "".join(map(chr, range(0x20, 0x7F))) + "\n\t"
    assert unreachable(Type(keysyms_of_text(text), 0.0)) == ()


def test_every_character_that_cannot_be_typed_is_named_once() -> None:
    assert unreachable(Type(keysyms_of_text("né漢é"), 0.0)) == ("é", "漢")


@pytest.mark.parametrize(
    "action",
    [
        Key(chords("ctrl+s Return")),
        KeyDown(chord("shift")),
        KeyUp(chord("alt+F4")),
        HoldKey(chord("a"), 1.0),
        Click(AT, LEFT, 2, chord("ctrl").keysyms),
        Drag((AT, AT), 0.1, ()),
        Scroll(AT, 0, -1, ()),
        ButtonDown(LEFT),
        Wait(1.0),
    ],
)
def test_common_actions_are_possible(action: Wait) -> None:
    assert unreachable(action) == ()


def test_keys_and_buttons_that_are_missing_are_named() -> None:
    assert unreachable(Key(chords("XF86AudioMute"))) == ("XF86AudioMute",)
    assert unreachable(Click(AT, BACK, 1, ())) == ("the button for going back or forward",)
    assert unreachable(Click(AT, LEFT, 1, (0x2,))) == ("0x2",)
