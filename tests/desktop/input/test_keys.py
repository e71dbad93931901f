from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskhand.desktop.errors import InvalidAction
from deskhand.desktop.input.keys import (
    MODIFIERS,
    Chord,
    character_of_keysym,
    chord,
    chords,
    is_small_letter,
    keysym_of_character,
    keysym_of_name,
    keysyms_of_text,
)
from deskhand.desktop.input.keysyms import KEYSYMS

CTRL, ALT, SHIFT, SUPER = (KEYSYMS[f"{name}_L"] for name in ("Control", "Alt", "Shift", "Super"))


@pytest.mark.parametrize(
    ("names", "keysym"),
    [
        ("ctrl control CTRL Control Control_L", "Control_L"),
        ("alt ALT option", "Alt_L"),
        ("altgr AltGr", "ISO_Level3_Shift"),
        ("shift Shift", "Shift_L"),
        ("super meta command cmd Win", "Super_L"),
        ("return enter Return ENTER", "Return"),
        ("backspace BackSpace BACKSPACE", "BackSpace"),
        ("tab TAB", "Tab"),
        ("escape esc Esc", "Escape"),
        ("space Space spacebar", "space"),
        ("delete del Delete", "Delete"),
        ("insert ins", "Insert"),
        ("home Home", "Home"),
        ("end END", "End"),
        ("pageup page_up Page_Up PgUp Prior", "Prior"),
        ("pagedown page_down PgDn Next", "Next"),
        ("up Up arrowup ArrowUp arrow_up", "Up"),
        ("down arrowdown", "Down"),
        ("f1 F1", "F1"),
        ("f12 F12", "F12"),
        ("XF86AudioPlay xf86audioplay", "XF86AudioPlay"),
        ("caps_lock CapsLock", "Caps_Lock"),
        ("print_screen PrintScreen", "Print"),
        ("kp_enter KP_Enter", "KP_Enter"),
        ("kp_0 Numpad0 numpad_0", "KP_0"),
        ("ctrl_r ctrlright Control_R", "Control_R"),
        ("volumeup VolumeUp", "XF86AudioRaiseVolume"),
    ],
)
def test_a_key_goes_by_several_names(names: str, keysym: str) -> None:
    assert {keysym_of_name(name) for name in names.split()} == {KEYSYMS[keysym]}


def test_a_noncharacter_has_no_key() -> None:
    ends = [plane << 16 | low for plane in range(17) for low in (0xFFFE, 0xFFFF)]
    for code in (*range(0xFDD0, 0xFDF0), *ends):
        for text in (chr(code), f"a{chr(code)}"):
            with pytest.raises(InvalidAction, match=f"U\\+{code:04X}"):
                keysyms_of_text(text)
        with pytest.raises(InvalidAction):
            keysym_of_name(chr(code))


@pytest.mark.parametrize("code", [0xFDCF, 0xFDF0, 0xFFFD, 0x1FFFD, 0x10000, 0x10FFFD])
def test_the_neighbours_of_noncharacters_are_typed(code: int) -> None:
    assert keysyms_of_text(chr(code)) == (0x1000000 + code,)


def test_a_single_character_is_its_key() -> None:
    assert keysym_of_name("a") == ord("a")
    assert keysym_of_name("A") == ord("a")
    assert keysym_of_name("?") == ord("?")
    assert keysym_of_name("É") == ord("É")
    assert keysym_of_name("語") == 0x01000000 + ord("語")


def test_capitals_in_a_name_tell_two_letters_apart() -> None:
    assert keysym_of_name("Eacute") == ord("É")
    assert keysym_of_name("eacute") == ord("é")


def test_an_unknown_key_is_refused_with_names_that_look_alike() -> None:
    with pytest.raises(InvalidAction, match="Unknown key: Retrun") as caught:
        keysym_of_name("Retrun")
    assert "Return" in caught.value.detail
    assert caught.value.detail.startswith("Did you mean ")


def test_an_unknown_key_like_no_other_is_just_refused() -> None:
    with pytest.raises(InvalidAction) as caught:
        keysym_of_name("qqqqqqqqqqqq")
    assert caught.value.detail == ""


@pytest.mark.parametrize(
    ("text", "held", "struck"),
    [
        ("ctrl+a", [CTRL], "a"),
        ("Ctrl+A", [CTRL], "a"),
        ("ctrl + shift + t", [CTRL, SHIFT], "t"),
        ("ctrl++", [CTRL], "+"),
        ("+", [], "+"),
        ("ctrl+plus", [CTRL], "+"),
        ("super+é", [SUPER], "é"),
        (" ", [], " "),
        ("ctrl+ ", [CTRL], " "),
        ("ctrl", [], None),
    ],
)
def test_chord(text: str, held: list[int], struck: str | None) -> None:
    assert chord(text) == Chord(tuple(held), ord(struck) if struck else CTRL)


@pytest.mark.parametrize("text", ["", "ctrl+", "+a", "ctrl++a", "+++"])
def test_a_chord_with_a_key_missing_is_refused(text: str) -> None:
    with pytest.raises(InvalidAction, match="Unknown key"):
        chord(text)


def test_a_chord_knows_all_its_keys_in_order() -> None:
    assert chord("ctrl+alt+Delete").keysyms == (CTRL, ALT, KEYSYMS["Delete"])


def test_blanks_separate_chords() -> None:
    assert chords("Tab Tab ctrl+s") == (chord("Tab"), chord("Tab"), chord("ctrl+s"))
    assert chords("ctrl + s") == (chord("ctrl+s"),)


def test_blanks_may_stand_inside_a_name() -> None:
    assert chords("Page Down") == (chord("Page_Down"),)


@pytest.mark.parametrize(("blank", "name"), [(" ", "space"), ("\n", "Return"), ("\t", "Tab")])
def test_a_blank_alone_is_its_key(blank: str, name: str) -> None:
    assert chords(blank) == (Chord((), KEYSYMS[name]),)


def test_text_is_one_keysym_a_character() -> None:
    assert keysyms_of_text("aÄ€😀") == (
        ord("a"),
        ord("Ä"),
        0x01000000 + ord("€"),
        0x01000000 + ord("😀"),
    )


def test_line_breaks_and_tabs_are_keys() -> None:
    enter, tab = KEYSYMS["Return"], KEYSYMS["Tab"]
    assert keysyms_of_text("\n\t\r\n") == (enter, tab, enter)


@pytest.mark.parametrize("character", ["\x00", "\x07", "\x7f", "\x85", "\ud800"])
def test_a_character_without_a_key_is_refused(character: str) -> None:
    with pytest.raises(InvalidAction, match=f"U\\+{ord(character):04X}"):
        keysyms_of_text(f"a{character}")


@given(st.characters(exclude_categories=["Cc", "Cs"]))
def test_every_other_character_has_a_keysym_of_its_own(character: str) -> None:
    keysym = keysym_of_character(character)
    assert chr(keysym & 0xFFFFFF) == character


@given(st.text())
def test_any_name_is_read_or_refused(text: str) -> None:
    with suppress(InvalidAction):
        assert chords(text)


def test_modifiers_are_keys_that_change_others() -> None:
    assert {CTRL, ALT, SHIFT, SUPER} < MODIFIERS
    assert KEYSYMS["Return"] not in MODIFIERS


@pytest.mark.parametrize("character", "aZ é€日😀~")
def test_a_keysym_of_a_character_is_read_back(character: str) -> None:
    assert character_of_keysym(keysym_of_character(character)) == character


def test_small_letters_are_those_that_shift_makes_capitals() -> None:
    small = [one for one in "aéжA1日ß" if is_small_letter(keysym_of_character(one))]
    assert small == ["a", "é", "ж", "ß"]
    assert not is_small_letter(KEYSYMS["Return"])
