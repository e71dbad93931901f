import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskhand.desktop.input.keymap import (
    LEVEL3_SHIFT,
    SHIFT,
    Bindings,
    KeyBinding,
    Keymap,
    NoRoom,
    runs,
)

PLAY, MAIL = 0x1008FF14, 0x1008FF19
KANJI = 0x01006F22
KP_INSERT, KP_0 = 0xFF9E, 0xFFB0

ROWS: dict[int, tuple[int, ...]] = {
    24: (ord("q"), ord("Q"), ord("q"), ord("Q"), ord("@"), 0x07D9, 0),
    25: (ord("7"), ord("&"), ord("7"), ord("&"), 0, 0, 0),
    26: (ord("&"), ord("7"), 0, 0, 0, 0, 0),
    50: (SHIFT, 0, SHIFT, 0, 0, 0, 0),
    90: (KP_INSERT, KP_0, KP_INSERT, KP_0, 0, 0, 0),
    92: (LEVEL3_SHIFT, 0, LEVEL3_SHIFT, 0, 0, 0, 0),
    141: (MAIL, 0, MAIL, 0, 0, 0, 0),
    150: (PLAY, 0, PLAY, 0, 0, 0, 0),
    151: (PLAY, ord("x"), PLAY, 0, 0, 0, 0),
    152: (MAIL, 0, MAIL, 0, 0, 0, 0),
    153: (MAIL, 0, 0, 0, 0, 0, 0),
    154: (PLAY, 0, 0, 0, 0, 0, 0),
}


def keymap(rows: dict[int, tuple[int, ...]] = ROWS, modifiers: tuple[int, ...] = (50,)) -> Keymap:
    last = max(rows)
    keysyms = [keysym for code in range(8, last + 1) for keysym in rows.get(code, (0,) * 7)]
    return Keymap(8, 7, keysyms, modifiers)


def bound(bindings: Bindings, changes: dict[int, int]) -> Keymap:
    rows = ROWS | {code: (keysym,) * 7 for code, keysym in changes.items()}
    fresh = keymap(rows)
    bindings.adopt(fresh)
    return fresh


@pytest.fixture
def bindings() -> Bindings:
    made = Bindings()
    made.adopt(keymap())
    return made


@pytest.mark.parametrize(
    ("keysym", "key"),
    [
        (ord("q"), KeyBinding(24, 0)),
        (ord("Q"), KeyBinding(24, 1)),
        (ord("@"), KeyBinding(24, 2)),
        (0x07D9, KeyBinding(24, 3)),
        (ord("7"), KeyBinding(25, 0)),
        (ord("&"), KeyBinding(26, 0)),
        (KANJI, None),
        (KP_INSERT, KeyBinding(90, 0)),
        (KP_0, None),
        (0, None),
    ],
)
def test_a_symbol_is_found_where_it_needs_the_fewest_modifiers(
    keysym: int, key: KeyBinding | None
) -> None:
    assert keymap().find(keysym) == key


def test_levels_name_their_modifiers() -> None:
    assert [(KeyBinding(24, level).shift, KeyBinding(24, level).level3) for level in range(4)] == [
        (False, False),
        (True, False),
        (False, True),
        (True, True),
    ]


def test_what_needs_a_key_that_the_keyboard_lacks_is_not_found() -> None:
    rows = {code: row for code, row in ROWS.items() if code != 92}
    assert keymap(rows).find(ord("@")) is None


def test_narrow_maps_have_two_levels() -> None:
    narrow = Keymap(8, 2, [ord("a"), ord("A"), ord("1"), ord("!")])
    assert narrow.find(ord("A")) == KeyBinding(8, 1)
    assert narrow.find(ord("!")) == KeyBinding(9, 1)
    assert Keymap(8, 1, [ord("a")]).inverts_with_lock(ord("a")) is False


def test_caps_lock_concerns_letters_only() -> None:
    found = keymap()
    assert found.inverts_with_lock(ord("q"))
    assert found.inverts_with_lock(ord("Q"))
    assert not found.inverts_with_lock(ord("7"))
    assert not found.inverts_with_lock(PLAY)


def test_only_keys_with_nothing_but_media_symbols_are_spare() -> None:
    assert keymap().spare() == (150, 152, 153, 154)


def test_keys_in_the_modifier_map_are_not_spare() -> None:
    assert keymap(modifiers=(50, 152)).spare() == (150, 153, 154)


def test_a_bound_key_carries_its_symbol_on_every_level() -> None:
    found = keymap(ROWS | {150: (KANJI,) * 7, 152: (KANJI, KANJI, 0, 0, 0, 0, 0)})
    assert found.carries(150, KANJI)
    assert found.carries(152, KANJI)
    assert not found.carries(24, ord("q"))
    assert not found.carries(999, KANJI)


def test_free_keys_are_bound_at_once(bindings: Bindings) -> None:
    assert bindings.bind([KANJI, KANJI + 1, KANJI], 5.0) == ({150: KANJI, 152: KANJI + 1}, 5.0)
    assert bindings.find(KANJI) == 150
    assert bindings.capacity == 4


def test_what_is_bound_already_stays_where_it_is(bindings: Bindings) -> None:
    bindings.bind([KANJI], 1.0)
    assert bindings.bind([KANJI], 2.0) == ({}, 2.0)


def test_the_least_recently_used_key_is_remapped_once_it_has_settled(bindings: Bindings) -> None:
    bindings.bind([1, 2, 3, 4], 1.0)
    bindings.used([1, 3, 4], 9.0)
    bindings.used([2], 9.1)
    changes, ready = bindings.bind([5, 1], 9.2)
    assert changes == {153: 5}
    assert ready == pytest.approx(9.3)
    assert bindings.find(3) is None


def test_keys_that_are_held_down_are_not_remapped(bindings: Bindings) -> None:
    bindings.bind([1, 2, 3, 4], 1.0)
    changes, ready = bindings.bind([5], 100.0, pinned=(150, 152))
    assert (changes, ready) == ({153: 5}, 100.0)


def test_too_many_symbols_change_nothing(bindings: Bindings) -> None:
    bindings.bind([1], 1.0)
    with pytest.raises(NoRoom):
        bindings.bind([2, 3, 4, 5], 2.0, pinned=(150,))
    assert [bindings.find(keysym) for keysym in (1, 2)] == [150, None]


def test_a_new_layout_wipes_the_bindings(bindings: Bindings) -> None:
    changes, _ = bindings.bind([KANJI], 1.0)
    bound(bindings, changes)
    assert bindings.find(KANJI) == 150
    bindings.adopt(keymap())
    assert bindings.find(KANJI) is None
    assert bindings.capacity == 4


@given(st.lists(st.lists(st.integers(1, 9), min_size=1, max_size=4), max_size=12))
def test_every_wanted_symbol_has_a_key_of_its_own(batches: list[list[int]]) -> None:
    bindings = Bindings()
    bindings.adopt(keymap())
    keyboard: dict[int, int] = {}
    for now, batch in enumerate(batches):
        changes, _ = bindings.bind(batch, float(now))
        keyboard |= changes
        assert {keyboard[code] for code in map(bindings.find, batch) if code} == set(batch)
        bindings.used(batch, float(now))


def test_bound_keys_are_known_by_code(bindings: Bindings) -> None:
    assert bindings.codes == frozenset()
    changes, _ = bindings.bind([0x0100_65E5], 1.0)
    assert bindings.codes == set(changes)


@given(st.dictionaries(st.integers(8, 40), st.integers(1, 9)))
def test_neighbouring_codes_are_changed_together(changes: dict[int, int]) -> None:
    found = runs(changes)
    mapped = {first + at: keysym for first, run in found for at, keysym in enumerate(run)}
    assert mapped == changes
    ends = {first + len(run) for first, run in found}
    assert ends.isdisjoint(first for first, _ in found)
