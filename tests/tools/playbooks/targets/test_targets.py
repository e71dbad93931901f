"""Search for targets by identity, patch and point."""

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskhand.desktop.geometry import Point, Region
from deskhand.desktop.targets.patch_matches import PatchMatch, PatchMatches
from deskhand.desktop.targets.widgets import ShownWidget
from deskhand.tools.playbooks.playbook import Target
from deskhand.tools.playbooks.targets.targets import (
    Ambiguous,
    Found,
    Missing,
    described,
    find_target,
)


def widget(role: str, name: str, left: int, top: int, *path: int, states: str = "") -> ShownWidget:
    region = Region(left, top, left + 40, top + 20)
    return ShownWidget(
        role, name, region, frozenset(states.split()), (0, 0, *(path or (left, top)))
    )


SAVE = widget("button", "Save", 100, 100)
CANCEL = widget("button", "Cancel", 200, 100)
LABEL = widget("label", "Customer", 0, 50)
ENTRY = widget("entry", "Customer", 100, 50, states="editable")
TITLE = widget("heading", "Orders", 100, 0)
FORM = (TITLE, LABEL, ENTRY, SAVE, CANCEL)
ROWS = tuple(
    one
    for i in range(1, 6)
    for one in (widget("table cell", f"Request {i}", 0, 200 + 30 * i),
                widget("button", "Approve", 300, 200 + 30 * i))
)  # fmt: skip
UNIQUE = PatchMatches((PatchMatch(Point(7, 8), 1.0),), True)
TWICE = PatchMatches((PatchMatch(Point(7, 8), 1.0), PatchMatch(Point(70, 8), 1.0)), False)


@pytest.mark.parametrize(
    "target",
    [
        Target("button", "Save"),
        Target("button", "Save", ("Orders",)),
        Target("", "Save"),
        Target("button", "  save…"),
        Target("push button", "Save"),
        Target("Button", "Save:", ("orders",)),
    ],
)
def test_a_widget_is_found_by_its_identity(target: Target) -> None:
    assert find_target(target, FORM) == Found(Point(120, 110), "identity", SAVE)


@pytest.mark.parametrize("role", ["entry", "text box", "textbox", "input", "Field"])
def test_roles_may_have_other_names(role: str) -> None:
    found = find_target(Target(role, "Customer"), FORM)
    assert found == Found(ENTRY.middle, "identity", ENTRY)


def test_a_field_of_gtk_is_an_entry_but_a_text_is_not() -> None:
    field = widget("text", "City", 0, 300, states="editable")
    text = widget("text", "City", 0, 400)
    assert find_target(Target("entry", "City"), [field, text]) == Found(
        field.middle, "identity", field
    )
    assert isinstance(find_target(Target("entry", "City"), [text]), Missing)


def test_a_name_alone_prefers_what_takes_input() -> None:
    assert find_target(Target("", "Customer"), FORM) == Found(ENTRY.middle, "identity", ENTRY)
    assert find_target(Target("", "Orders"), FORM) == Found(TITLE.middle, "identity", TITLE)


def test_a_role_alone_is_enough_if_there_is_one() -> None:
    assert find_target(Target("entry"), FORM) == Found(ENTRY.middle, "identity", ENTRY)
    assert isinstance(find_target(Target("button"), FORM), Ambiguous)


def test_a_small_difference_of_a_long_name_is_accepted() -> None:
    send = widget("button", "Send the orders", 0, 300)
    found = find_target(Target("button", "Send the order"), (*FORM, send))
    assert found == Found(send.middle, "identity", send)


@pytest.mark.parametrize("name", ["Approve 4", "Save 2", "Safe", "Store the order"])
def test_other_numbers_and_other_words_are_another_widget(name: str) -> None:
    found = find_target(Target("button", name), (*FORM, widget("button", "Approve 3", 0, 400)))
    assert isinstance(found, Missing)


def test_similar_names_that_are_not_unique_are_ambiguous() -> None:
    pair = [widget("button", "Send orders", 0, 0), widget("button", "Send older", 0, 40)]
    assert isinstance(find_target(Target("button", "Send order"), pair), Ambiguous)


def test_a_text_near_it_selects_one_of_several() -> None:
    found = find_target(Target("button", "Approve", ("Request 4",)), ROWS)
    assert found == Found(ROWS[7].middle, "identity", ROWS[7])


@pytest.mark.parametrize(
    "near", [(), ("Request 9",), ("Request 1", "Request 2"), ("Request 3", "Request 9")]
)
def test_without_a_clear_text_several_are_ambiguous(near: tuple[str, ...]) -> None:
    found = find_target(Target("button", "Approve", near), ROWS)
    if near == ("Request 3", "Request 9"):
        assert isinstance(found, Ambiguous)
        assert found.candidates == ('button "Approve" at 320,300',)
        return
    assert isinstance(found, Ambiguous)
    assert len(found.candidates) == 3


def test_the_only_widget_of_a_name_needs_one_of_its_texts() -> None:
    target = Target("button", "Save", ("Orders", "17 items"))
    assert isinstance(find_target(target, FORM), Found)
    missing = find_target(replace(target, near=("Customers", "18 items")), FORM)
    assert missing == Missing(
        ('button "Save" near "Customers", "18 items"',), ('button "Save" at 120,110',)
    )
    nameless = Target("entry", "", ("Customer", "gone"))
    assert isinstance(find_target(nameless, FORM), Missing)


def test_a_disabled_widget_is_not_found() -> None:
    grey = replace(SAVE, states=frozenset(["disabled"]))
    found = find_target(Target("button", "Save"), [grey])
    assert found == Missing(('button "Save"',), ('button "Save" at 120,110, which is disabled',))
    assert isinstance(find_target(Target("button", "Save"), [grey, widget(*GREEN)]), Found)


GREEN = ("button", "Save", 500, 500)


def test_widgets_in_one_another_are_one() -> None:
    outer = widget("list item", "Home", 0, 0, 1)
    inner = widget("link", "Home", 0, 0, 1, 0)
    text = widget("static", "Home", 0, 0, 1, 0, 0)
    assert find_target(Target("", "Home"), [outer, inner, text]) == Found(
        outer.middle, "identity", outer
    )
    found = find_target(Target("static", "Home"), [outer, inner, text])
    assert found == Found(text.middle, "identity", text)


def test_what_is_not_there_is_described_with_what_is() -> None:
    found = find_target(Target("button", "Saved"), FORM)
    assert isinstance(found, Missing)
    assert str(found) == 'not found: button "Saved"; the nearest there is: button "Save" at 120,110'
    assert str(find_target(Target("link", "xyz"), ())) == 'not found: link "xyz"'


def test_a_patch_counts_only_if_it_is_unique() -> None:
    target = Target("button", "Gone", patch="1.png")
    assert find_target(target, FORM, UNIQUE) == Found(Point(7, 8), "patch")
    found = find_target(target, FORM, TWICE)
    assert str(found) == (
        'not clear: button "Gone" and its picture may be the place 7,8 (100% alike), '
        "or the place 70,8 (100% alike)"
    )
    missing = find_target(target, FORM, PatchMatches((), False))
    assert isinstance(missing, Missing)
    assert missing.searched == ('button "Gone"', "its picture")


def test_places_that_are_little_like_it_are_no_candidates() -> None:
    little = PatchMatches((PatchMatch(Point(7, 8), 0.7), PatchMatch(Point(70, 8), 0.7)), False)
    assert isinstance(find_target(Target("button", "Gone", patch="1.png"), FORM, little), Missing)


def test_an_identity_that_is_not_clear_is_not_decided_by_the_patch() -> None:
    assert isinstance(find_target(Target("button", "Approve"), ROWS, UNIQUE), Ambiguous)


def test_identity_comes_before_the_patch() -> None:
    assert find_target(Target("button", "Save"), FORM, UNIQUE) == Found(
        SAVE.middle, "identity", SAVE
    )


def test_a_point_counts_only_if_there_is_nothing_else() -> None:
    assert find_target(Target(point=(3, 4)), FORM, None, Point(3, 4)) == Found(Point(3, 4), "point")
    patched = Target(point=(3, 4), patch="1.png")
    none = PatchMatches((), False)
    assert isinstance(find_target(patched, FORM, none, Point(3, 4)), Missing)
    named = Target("button", "Gone", point=(3, 4))
    assert isinstance(find_target(named, FORM, None, Point(3, 4)), Missing)


def test_a_target_in_words() -> None:
    assert described(Target("", "A", ("B", "C"))) == 'widget "A" near "B", "C"'


NAMES = st.sampled_from(["Save", "save:", "Open", "Request 1", "Request 2", "Send the order", ""])
ROLES = st.sampled_from(["button", "entry", "static", "link", "table cell"])
WIDGETS = st.lists(
    st.builds(
        lambda role, name, x, y, index: widget(role, name, x, y, index, x, y),
        ROLES,
        NAMES,
        st.integers(0, 900),
        st.integers(0, 700),
        st.integers(0, 3),
    ),
    max_size=12,
    unique_by=lambda one: one.path,
)
TARGETS = st.builds(
    Target, st.one_of(st.just(""), ROLES), NAMES, st.lists(NAMES, max_size=2).map(tuple)
).filter(lambda one: one.has_identity)


@given(WIDGETS, TARGETS, st.randoms(use_true_random=False))
def test_the_point_is_inside_and_the_order_does_not_matter(
    widgets: list[ShownWidget], target: Target, chance: random.Random
) -> None:
    found = find_target(target, widgets)
    if isinstance(found, Found):
        assert found.widget is not None
        assert found.widget in widgets
        assert found.widget.region.holds(found.point)
    shuffled = widgets[:]
    chance.shuffle(shuffled)
    again = find_target(target, shuffled)
    assert type(again) is type(found)
    assert not isinstance(found, Found) or again == found


@given(WIDGETS, TARGETS)
def test_a_second_widget_at_the_same_place_makes_it_ambiguous(
    widgets: list[ShownWidget], target: Target
) -> None:
    found = find_target(target, widgets)
    if isinstance(found, Found) and found.widget is not None:
        twin = replace(found.widget, path=(0, 0, 9, 9, 9))
        assert not isinstance(find_target(target, [*widgets, twin]), Found)
