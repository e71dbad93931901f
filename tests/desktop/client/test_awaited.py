import pytest

from deskhand.desktop.client.awaited import Wanted, absence, find_widget, shows_colour
from deskhand.desktop.errors import InvalidAction
from deskhand.desktop.results import Widget


@pytest.mark.parametrize("colour", ["", "red", "#12", "#1234567"])
def test_what_cannot_be_awaited_is_refused(colour: str) -> None:
    with pytest.raises(InvalidAction):
        Wanted(role="button", colour=colour)


def test_the_service_waits_for_texts_and_windows() -> None:
    assert Wanted(text="a", window="b").conditions() == {"text": "a", "window": "b"}
    assert Wanted(widget="OK").conditions() == {"text": "OK"}
    assert Wanted(colour="#ff8000").conditions() == {}


def test_conditions_are_named_in_words() -> None:
    wanted = Wanted(window="Editor", widget="OK", role="button", colour="#000000")
    assert str(wanted) == 'window "Editor" and widget "OK" of role button and colour #000000'
    assert str(Wanted(text="Saved")) == 'text "Saved"'


@pytest.mark.parametrize(
    ("pixels", "shown"),
    [("ff8000", True), ("000000ff8000", True), ("00ff800000", False), ("00ff80ff8000", True)],
)
def test_a_colour_is_one_pixels_and_not_of_two_neighbours(pixels: str, shown: bool) -> None:
    assert shows_colour(bytes.fromhex(pixels), "#ff8000") is shown


def test_a_widget_is_found_by_its_whole_name_and_role() -> None:
    button = Widget("button", "OK", "e2", None)
    tree = [Widget("window", "OK?", "", None, (), (Widget("label", "ok", "e1", None), button))]
    assert find_widget(tree, "ok", "button") is button
    assert getattr(find_widget(tree, "ok", ""), "ref", "") == "e1"
    assert find_widget(tree, "o", "") is None


def test_what_was_there_instead_is_stated() -> None:
    seen = {"windows": ["Editor", "Files"], "texts": []}
    sentence = 'no text "Saved" in 0.5 s; there were windows: "Editor", "Files"'
    assert absence(Wanted(text="Saved"), 0.5, seen) == sentence
    assert absence(Wanted(colour="#ffffff"), 2, {}) == "no colour #ffffff in 2 s"
