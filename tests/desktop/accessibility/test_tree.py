import json
from typing import Any

import pytest

from deskhand.desktop.accessibility.tree import Node, compact, names, pointed
from deskhand.desktop.errors import InvalidAction
from deskhand.desktop.geometry import Region, Size

SCREEN = Size(1920, 1080)
SENSITIVE = 1 << 24


def button(name: str, *place: int, states: int = SENSITIVE) -> Node:
    return Node("button", name, Region(*(place or (0, 0, 30, 30))), states)


def app(*children: Node) -> Node:
    return Node("application", "App", Region(0, 0, 0, 0), 0, children)


def test_what_says_nothing_is_left_out_and_its_children_kept() -> None:
    panel = Node("panel", " ", Region(0, 0, 90, 90), 0, (button("Back"), button("", 0, 0, 9, 9)))
    tree = compact([app(panel)], SCREEN)
    assert tree.roots == (
        {
            "role": "application",
            "name": "App",
            "children": [
                {"role": "button", "name": "Back", "ref": "e1", "rectangle": [0, 0, 30, 30]}
            ],
        },
    )
    assert tree.rectangles == {"e1": Region(0, 0, 30, 30)}


def test_what_is_off_the_screen_or_has_no_extent_is_left_out() -> None:
    far, flat = button("far", 2000, 0, 2100, 30), button("flat", 5, 5, 5, 5)
    half = button("half", 1910, 0, 2000, 30)
    tree = compact([app(far, flat, half)], SCREEN)
    assert [one["name"] for one in tree.roots[0]["children"]] == ["half"]
    assert tree.rectangles == {"e1": Region(1910, 0, 1920, 30)}


def test_states_are_listed_by_name() -> None:
    checked = button("a", states=SENSITIVE | 1 << 4 | 1 << 12)
    tree = compact([app(checked, button("b", states=1 << 8), button("c"))], SCREEN)
    states = [one.get("states") for one in tree.roots[0]["children"]]
    assert states == [["checked", "focused"], ["disabled"], None]


def test_an_application_without_a_name_gives_its_windows() -> None:
    nameless = Node("", "", Region(0, 0, 0, 0), 0, (button("x"),))
    assert [one["name"] for one in compact([nameless], SCREEN).roots] == ["x"]
    assert compact([Node("frame", "", Region(0, 0, 9, 9))], SCREEN).roots == ()


def test_a_container_that_is_more_than_one_is_kept_without_a_name() -> None:
    bar = Node("tool bar", "", Region(0, 0, 90, 30), 0, (button("Back"),))
    tree = compact([bar], SCREEN).roots[0]
    assert tree["role"] == "tool bar"
    assert "name" not in tree
    assert tree["children"][0]["name"] == "Back"


PLACES = {"e1": Region(900, 500, 1020, 580)}


@pytest.mark.parametrize(
    ("space", "point"),
    [
        ({}, [640, 360]),
        ({"coordinate_space": "native"}, [960, 540]),
        ({"coordinate_space": "normalized_1000"}, [500, 500]),
        ({"scaled_width": 192, "scaled_height": 108}, [96, 54]),
        ({"coordinate_space": "wrong"}, [640, 360]),
        ({"scaled_width": 192, "scaled_height": "x"}, [640, 360]),
    ],
)
def test_a_ref_becomes_the_middle_of_its_widget(space: dict[str, Any], point: list[int]) -> None:
    body = {"action": "left_click", "ref": "e1", **space}
    assert pointed(body, PLACES, SCREEN) == {"action": "left_click", "coordinate": point, **space}


def test_actions_of_a_batch_have_refs_in_the_space_of_the_batch_or_their_own() -> None:
    click = {"action": "left_click", "ref": "e1"}
    own = {**click, "coordinate_space": "model"}
    body = {"actions": [click, own, {"action": "wait"}, 3], "coordinate_space": "native"}
    found = pointed(body, PLACES, SCREEN)["actions"]
    assert found[0]["coordinate"] == [960, 540]
    assert found[1]["coordinate"] == [640, 360]
    assert found[2:] == [{"action": "wait"}, 3]


@pytest.mark.parametrize("ref", ["e2", 5, ["e1"]])
def test_a_ref_that_is_not_known_is_refused(ref: object) -> None:
    with pytest.raises(InvalidAction, match="tree again"):
        pointed({"action": "left_click", "ref": ref}, PLACES, SCREEN)
    with pytest.raises(InvalidAction, match="not both"):
        pointed({"ref": "e1", "coordinate": [1, 2]}, PLACES, SCREEN)


def test_a_body_without_refs_stays_as_it_is() -> None:
    body = {"action": "type", "text": "e1"}
    assert pointed(body, {}, SCREEN) is body
    json.dumps(compact([], SCREEN).roots)


def test_names_are_listed_in_the_order_of_the_tree() -> None:
    table = Node("table", "", Region(0, 0, 90, 90), 0, (button("Back"),))
    entry = Node("entry", "", Region(0, 0, 9, 9), 1 << 7, (button("Clear"),))
    tree = compact([app(table, entry, button("Send"))], SCREEN)
    assert list(names(tree.roots)) == ["App", "Back", "Clear", "Send"]
