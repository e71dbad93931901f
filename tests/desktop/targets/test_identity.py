"""Identity of the widget at a point, or with the keyboard."""

from deskhand.desktop.geometry import Point, Region
from deskhand.desktop.targets.identity import identity_at, identity_with_focus
from deskhand.desktop.targets.widgets import ActiveWindow, ShownWidget


def widget(
    role: str, name: str, box: tuple[int, int, int, int], *path: int, states: str = ""
) -> ShownWidget:
    return ShownWidget(role, name, Region(*box), frozenset(states.split()), (0, *path))


PAGE = (
    widget("frame", "Browser", (0, 0, 1000, 700), 0),
    widget("document web", "Orders", (0, 50, 1000, 700), 0, 0),
    widget("heading", "Orders", (10, 60, 200, 90), 0, 0, 0),
    widget("label", "Customer", (10, 100, 90, 120), 0, 0, 1),
    widget("entry", "Customer", (100, 100, 300, 120), 0, 0, 2, states="editable focused"),
    widget("button", "Save", (100, 150, 200, 180), 0, 0, 3),
    widget("static", "Save", (120, 155, 180, 175), 0, 0, 3, 0),
)


def test_the_smallest_widget_that_takes_input_is_the_target() -> None:
    found = identity_at(PAGE, Point(150, 160), None)
    assert found is not None
    assert (found.role, found.name, found.near) == ("button", "Save", ("Orders",))
    assert found.to_json() == {
        "role": "button",
        "name": "Save",
        "near": ["Orders"],
        "rectangle": [100, 150, 200, 180],
    }
    assert not found.password
    assert not found.typed


def test_a_page_or_an_empty_place_is_no_target() -> None:
    assert identity_at(PAGE, Point(600, 600), None) is None
    assert identity_at((), Point(600, 600), None) is None


def test_a_text_can_be_a_target_but_a_table_cannot() -> None:
    found = identity_at(PAGE, Point(20, 70), None)
    assert found is not None
    assert found.role == "heading"
    table = widget("table", "Orders", (0, 0, 50, 50), 3)
    assert identity_at([table], Point(9, 9), None) is None
    assert identity_at([widget("link", "x" * 200, (0, 0, 50, 50), 3)], Point(9, 9), None) is None


def test_a_widget_without_a_name_needs_a_text_beside_it() -> None:
    entry = widget("entry", "", (0, 0, 50, 20), 1, 1)
    assert identity_at([entry], Point(9, 9), None) is None
    label = widget("label", "City", (0, 30, 50, 50), 1, 2)
    found = identity_at([entry, label], Point(9, 9), None)
    assert found is not None
    assert found.near == ("City",)


def test_one_of_several_equal_widgets_needs_a_text_that_tells_them_apart() -> None:
    pair = [widget("button", "Go", (0, 0, 50, 20), 1), widget("button", "Go", (0, 30, 50, 50), 2)]
    assert identity_at(pair, Point(9, 9), None) is None


def test_keys_go_to_the_widget_with_the_focus() -> None:
    found = identity_with_focus(PAGE, None)
    assert found is not None
    assert (found.role, found.name) == ("entry", "Customer")
    assert found.typed
    assert not found.password


def test_of_a_box_and_the_field_in_it_the_field_has_the_focus() -> None:
    box = widget("combo box", "City", (0, 0, 90, 20), 1, states="focused")
    field = widget("password text", "Word", (0, 0, 70, 20), 1, 0, states="focused")
    found = identity_with_focus([box, field], None)
    assert found is not None
    assert found.name == "Word"
    assert found.password
    assert found.typed


def test_without_a_single_focus_there_is_no_target() -> None:
    pair = [
        widget("entry", f"{i}", (0, 30 * i, 9, 30 * i + 9), i, states="focused") for i in (1, 2)
    ]
    assert identity_with_focus(pair, None) is None
    assert identity_with_focus(PAGE[:3], None) is None


def test_nothing_is_known_of_a_window_that_shows_no_widgets() -> None:
    dialog = ActiveWindow("Open file", Region(90, 140, 300, 300))
    assert identity_at(PAGE, Point(150, 160), dialog) is None
    assert identity_at(PAGE, Point(20, 70), dialog) is not None
    assert identity_with_focus(PAGE, dialog) is None
    assert identity_with_focus(PAGE, ActiveWindow("Browser")) is not None
