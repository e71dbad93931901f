"""Which widget a text is near to, and which texts are recorded as near."""

import pytest

from deskhand.desktop.geometry import Region
from deskhand.desktop.targets.nearness import (
    Distance,
    distance,
    near_texts,
    nearest,
    normalised,
)
from deskhand.desktop.targets.widgets import ShownWidget


def widget(name: str, left: int, top: int, role: str = "static", size: int = 20) -> ShownWidget:
    # A path of its own, unless a test builds a tree.
    region = Region(left, top, left + size, top + 20)
    return ShownWidget(role, name, region, frozenset(), (0, 0, left, top))


def button(name: str, left: int, top: int) -> ShownWidget:
    return widget(name, left, top, "button")


@pytest.mark.parametrize(
    ("text", "same"),
    [("Name:", "name"), ("  Open … ", "open"), ("E-mail *", "e-mail"), ("a  b", "A b")],
)
def test_differences_that_a_reader_does_not_see(text: str, same: str) -> None:
    assert normalised(text) == normalised(same)


def test_a_text_around_a_widget_has_no_distance() -> None:
    inner = ShownWidget("button", "Yes", Region(5, 5, 9, 9), frozenset(), (0, 1))
    outer = ShownWidget("dialog", "Sure?", Region(0, 0, 90, 90), frozenset(), (0,))
    assert distance(inner, outer) == Distance(0, 0)


def test_rows_and_columns_come_before_other_places() -> None:
    of = button("x", 100, 100)
    assert distance(of, widget("left", 50, 104)) == Distance(1, 30)
    assert distance(of, widget("above", 104, 60)) == Distance(1, 20)
    assert distance(of, widget("right", 150, 100)) == Distance(1, 90)
    assert distance(of, widget("below", 100, 130)) == Distance(1, 30)
    assert distance(of, widget("corner", 50, 50)) == Distance(2, 60)


def test_a_text_belongs_to_the_button_of_its_row() -> None:
    rows = [(widget(f"Order {i}", 0, 30 * i), button("Open", 300, 30 * i)) for i in range(5)]
    every = [one for row in rows for one in row]
    buttons = [one for _, one in rows]
    for text, belongs in rows:
        assert nearest(text.name, buttons, every) == (belongs,)


def test_a_text_belongs_to_the_button_of_its_card() -> None:
    cards = [(widget(f"Lamp {i}", 100 * i, 0), button("Buy", 100 * i, 40)) for i in range(4)]
    every = [one for card in cards for one in card]
    assert nearest("lamp 2", [one for _, one in cards], every) == (cards[2][1],)


def test_a_label_is_before_its_widget() -> None:
    first, second = button("Edit", 0, 24), button("Edit", 0, 68)
    every = [widget("A", 0, 0), first, widget("B", 0, 46), second]
    assert nearest("B", [first, second], every) == (second,)


def test_a_text_in_the_middle_is_near_to_both() -> None:
    first, second = button("Go", 0, 40), button("Go", 100, 40)
    texts = [widget("T", 0, 0, size=120)]  # Above both.
    assert nearest("T", [first, second], [first, second, *texts]) == (first, second)


def test_a_text_far_away_or_absent_is_near_to_none() -> None:
    one = button("Go", 0, 0)
    assert nearest("T", [one], [one, widget("T", 500, 500)]) == ()
    assert nearest("T", [one], [one]) == ()
    assert nearest("", [one], [one, widget("T", 30, 0)]) == ()


def test_a_name_that_has_the_text_in_it_counts_if_none_is_equal() -> None:
    one, two = button("Go", 0, 0), button("Go", 0, 100)
    every = [one, two, widget("Orders (3)", 30, 0)]
    assert nearest("Orders", [one, two], every) == (one,)
    assert nearest("Orders", [one, two], [*every, widget("Orders", 30, 100)]) == (two,)


def test_the_widget_itself_is_not_near_itself() -> None:
    one = button("Go", 0, 0)
    inner = ShownWidget("static", "Go", one.region, frozenset(), (*one.path, 0))
    assert nearest("Go", [one], [one, inner]) == ()


def test_only_labels_are_recorded_of_a_widget_without_rivals() -> None:
    of = button("Save", 100, 100)
    link = button("Help", 130, 100)
    in_link = ShownWidget("static", "Help", link.region, frozenset(), (*link.path, 0))
    every = [
        *(of, widget("Name", 0, 100), widget("17 items", 60, 100), link, in_link),
        *(widget("Orders", 100, 0), widget("elsewhere", 300, 300), widget("far", 900, 100)),
    ]
    assert near_texts(of, [], every) == ("Name", "Orders")


def test_no_text_that_is_typed_too_long_or_of_the_same_name_is_recorded() -> None:
    of = button("Save", 100, 100)
    field = ShownWidget("entry", "typed", Region(0, 100, 20, 120), frozenset(), (0, 0, 7))
    every = [of, field, widget("x" * 61, 60, 100), widget("save", 60, 100), widget("", 50, 100)]
    inside = ShownWidget("static", "inside", of.region, frozenset(), (*of.path, 0))
    assert near_texts(of, [], [*every, inside]) == ()


def test_with_rivals_only_texts_count_that_tell_them_apart() -> None:
    rows = [(widget(f"Order {i}", 0, 30 * i), button("Open", 300, 30 * i)) for i in range(1, 4)]
    title = widget("Orders", 300, 0)
    every = [title, *(one for row in rows for one in row)]
    text, of = rows[1]
    rivals = [one for _, one in rows if one != of]
    assert near_texts(of, rivals, every) == (text.name,)


def test_texts_of_another_window_are_not_near() -> None:
    of = button("Pay", 100, 100)
    other = ShownWidget("label", "Invoices", Region(0, 100, 80, 120), frozenset(), (0, 1, 5))
    assert near_texts(of, [], [of, other]) == ()
    assert nearest("Invoices", [of], [of, other]) == ()


def test_a_text_whose_own_button_is_gone_is_near_to_none_of_the_others() -> None:
    rows = [(widget(f"Order {i}", 0, 30 * i), button("Open", 300, 30 * i)) for i in range(5)]
    every = [one for row in rows for one in row if one != rows[2][1]]
    others = [one for _, one in rows if one != rows[2][1]]
    assert nearest("Order 2", others, every) == ()
