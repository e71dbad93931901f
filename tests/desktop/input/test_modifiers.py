import pytest

from deskhand.desktop.input.keymap import LEVEL3_SHIFT
from deskhand.desktop.input.keys import keysym_of_name
from deskhand.desktop.input.modifiers import Modifiers

NONE = Modifiers(shift=False, level3=False, lock=False, command=False)


@pytest.mark.parametrize(
    ("mask", "name"),
    [(1, "shift"), (2, "lock"), (4, "command"), (8, "command"), (64, "command"), (128, "level3")],
)
def test_a_bit_of_the_mask_is_one_modifier(mask: int, name: str) -> None:
    found = Modifiers.of(mask)
    assert [field for field, down in vars(found).items() if down] == [name]


def test_num_lock_and_buttons_are_no_modifiers() -> None:
    assert Modifiers.of(16 | 0x1F00) == NONE


@pytest.mark.parametrize(
    ("key", "name"),
    [
        (keysym_of_name("shift"), "shift"),
        (keysym_of_name("Shift_R"), "shift"),
        (LEVEL3_SHIFT, "level3"),
        (keysym_of_name("ctrl"), "command"),
        (keysym_of_name("Super_R"), "command"),
    ],
)
def test_a_key_changes_its_modifier_until_it_is_released(key: int, name: str) -> None:
    found = Modifiers.of(0)
    found.note(key, True)
    assert [field for field, down in vars(found).items() if down] == [name]
    found.note(key, False)
    assert found == NONE


def test_other_keys_change_nothing() -> None:
    found = Modifiers.of(0)
    found.note(ord("a"), True)
    assert found == NONE


def test_caps_lock_makes_capitals_except_in_shortcuts() -> None:
    assert not NONE.capitals
    found = Modifiers.of(2)
    assert found.capitals
    found.note(keysym_of_name("alt"), True)
    assert not found.capitals
