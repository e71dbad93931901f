from collections.abc import Sequence
from typing import Any

from deskhand.desktop.mcp.calls.widgets import found_widgets, widget_line

TREE = {
    "applications": [
        {
            "role": "application",
            "name": "Editor",
            "children": [
                {
                    "role": "button",
                    "name": "Save As",
                    "ref": "e1",
                    "rectangle": [0, 0, 10, 10],
                    "states": ["focused"],
                },
                {"role": "entry", "ref": "e2", "rectangle": [20, 20, 40, 40]},
                {"role": "button", "name": "Saved", "ref": "e3", "rectangle": [0, 40, 10, 50]},
            ],
        }
    ]
}


def found(text: str = "", role: str = "") -> list[dict[str, Any]]:
    def same(point: Sequence[int]) -> list[int]:
        return list(point)

    return found_widgets(TREE, text, role, same)


def test_widgets_are_found_by_a_part_of_their_text() -> None:
    assert [one["ref"] for one in found("SAVE")] == ["e1", "e3"]
    assert [one["ref"] for one in found("editor")] == []


def test_widgets_are_found_by_role_and_by_both() -> None:
    assert [one["ref"] for one in found(role="entry")] == ["e2"]
    assert [one["ref"] for one in found("as", "button")] == ["e1"]


def test_a_widget_without_text_is_found_by_its_role_only() -> None:
    assert [one["ref"] for one in found()] == ["e1", "e3"]


def test_nothing_is_found_where_there_is_nothing() -> None:
    assert found_widgets({}, "a", "", list) == []


def test_a_line_names_ref_and_point() -> None:
    first, second = found("save")
    assert widget_line(first) == 'e1 button "Save As" at [5,5] (focused)'
    assert widget_line(second) == 'e3 button "Saved" at [5,45]'
