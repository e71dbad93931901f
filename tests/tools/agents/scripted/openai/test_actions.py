from typing import Any

import pytest

from deskhand.tools.agents.providers.openai.actions import calls_of
from deskhand.tools.agents.scripted.openai.actions import FIELDS, actions_of

Json = dict[str, Any]
AT = {"coordinate": [3, 4]}


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("left_click", AT),
        ("right_click", {**AT, "text": "ctrl+shift"}),
        ("middle_click", AT),
        ("double_click", AT),
        ("left_click_drag", {"start_coordinate": [1, 2], "coordinate": [3, 4], "text": "alt"}),
        ("mouse_move", AT),
        ("key", {"text": "ctrl+c"}),
        ("type", {"text": "hi"}),
        ("screenshot", {}),
        ("wait", {"duration": 1}),
    ],
)
def test_a_call_survives_the_way_over_the_protocol(name: str, given: Json) -> None:
    actions = actions_of([{"name": name, "input": given}])
    needs, takes = FIELDS[actions[0]["type"]]
    assert needs <= set(actions[0]) - {"type"} <= needs | takes
    (call,) = calls_of({"call_id": "c", "actions": actions})
    assert (call.name, call.arguments) == (name, given)


def test_what_the_protocol_lacks_is_expressed_by_what_it_has() -> None:
    calls = [
        {"name": "triple_click", "input": AT},
        {"name": "key", "input": {"text": "Tab", "repeat": 2}},
        {"name": "zoom", "input": {"region": [0, 0, 1, 1]}},
        {"name": "left_click", "input": {}},
    ]
    assert [one["type"] for one in actions_of(calls)] == [
        *("click", "click", "click", "keypress", "keypress", "screenshot", "click"),
    ]


@pytest.mark.parametrize(("way", "x", "y"), [("up", 0, -240), ("right", 240, 0)])
def test_a_scroll_comes_back_with_its_pixels(way: str, x: int, y: int) -> None:
    given = {"scroll_direction": way, "scroll_amount": 3, **AT}
    actions = actions_of([{"name": "scroll", "input": given}])
    (call,) = calls_of({"call_id": "c", "actions": actions})
    assert call.arguments == {"scroll_x": x, "scroll_y": y, **AT}
