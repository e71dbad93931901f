"""Widgets of a tree as a flat list, and those that something covers."""

from typing import Any

import pytest

from deskhand.desktop.geometry import Point, Region
from deskhand.desktop.targets.widgets import (
    ActiveWindow,
    ShownWidget,
    one_line,
    uncovered,
    widgets_of,
)

Json = dict[str, Any]


def entry(role: str, name: str, box: list[int], *children: Json, **more: Any) -> Json:
    return {"role": role, "name": name, "rectangle": box, "children": list(children), **more}


def names(widgets: tuple[ShownWidget, ...]) -> list[str]:
    return [one.name for one in widgets]


def test_widgets_have_what_the_tree_reports() -> None:
    (button,) = widgets_of([entry("button", " Send\n now ", [10, 20, 31, 40], states=["focused"])])
    assert button == ShownWidget(
        "button", "Send now", Region(10, 20, 31, 40), frozenset(["focused"]), (0,)
    )
    assert button.middle == Point(20, 30)
    assert button.takes_input
    assert not button.holds_text


def test_a_widget_without_a_place_is_left_out_but_not_its_content() -> None:
    inner = entry("button", "A", [0, 0, 9, 9])
    roots = [{"role": "application", "name": "App", "children": [inner]}]
    assert names(widgets_of(roots)) == ["A"]
    assert widgets_of([entry("button", "B", [5, 5, 5, 9])]) == ()


def test_editable_widgets_hold_text() -> None:
    (page, field) = widgets_of(
        [
            entry("paragraph", "", [0, 0, 9, 9], states=["editable"]),
            entry("entry", "", [0, 0, 9, 9]),
        ]
    )
    assert page.holds_text
    assert page.takes_input
    assert field.holds_text


@pytest.mark.parametrize(
    "roots",
    [
        [3],
        [{"rectangle": [1, 2, 3, 4]}],
        [{"role": "x", "rectangle": [1, 2]}],
        [{"role": "x", "rectangle": [1, 2, 3, "y"]}],
        [{"role": "x", "rectangle": 3}],
    ],
)
def test_anything_else_is_no_tree(roots: Any) -> None:
    with pytest.raises(ValueError, match="no "):
        widgets_of(roots)


def test_an_ancestor_is_known_by_the_path() -> None:
    outer, inner = widgets_of([entry("list", "", [0, 0, 9, 9], entry("link", "", [1, 1, 2, 2]))])
    assert inner.is_inside(outer)
    assert not outer.is_inside(inner)
    assert not outer.is_inside(outer)


def windows() -> tuple[ShownWidget, ...]:
    back = entry("frame", "Back", [0, 0, 100, 100], entry("button", "Below", [40, 40, 60, 60]),
                 entry("button", "Beside", [80, 80, 90, 90]))  # fmt: skip
    front = entry("dialog", "Front", [30, 30, 70, 70], entry("button", "OK", [40, 40, 60, 60]))
    return widgets_of([{"role": "application", "children": [back, front]}])


def test_the_window_with_the_keyboard_covers_others() -> None:
    found = uncovered(windows(), ActiveWindow("Front"))
    assert "Below" not in names(found)
    assert {"OK", "Beside"} <= set(names(found))


@pytest.mark.parametrize("active", [None, ActiveWindow("unknown")])
def test_without_a_known_window_nothing_is_covered(active: ActiveWindow | None) -> None:
    assert uncovered(windows(), active) == windows()


def test_a_window_without_widgets_covers_what_is_below_it() -> None:
    found = names(uncovered(windows(), ActiveWindow("Open file", Region(70, 70, 100, 100))))
    assert "Beside" not in found
    assert {"Below", "OK"} <= set(found)


def test_a_modal_dialog_covers_the_rest_of_its_page() -> None:
    page = entry(
        "document web", "Orders", [0, 20, 100, 100],
        entry("button", "Delete", [10, 30, 20, 40]),
        entry("dialog", "Sure?", [30, 30, 70, 70], entry("button", "Yes", [40, 40, 50, 50]),
              states=["modal"]),
    )  # fmt: skip
    roots = [
        entry("frame", "Browser", [0, 0, 100, 100], entry("button", "Back", [0, 0, 9, 9]), page)
    ]
    assert names(uncovered(widgets_of(roots), None)) == [
        *("Browser", "Back", "Orders", "Sure?", "Yes")
    ]


def test_a_text_on_one_line() -> None:
    assert one_line(" a\n b\t c ") == "a b c"
