from typing import Any

import pytest

from deskhand.desktop.dialects.osworld.calls import (
    actions_of,
    chord_of,
    located,
    needs_pointer,
    requests_of,
)


def actions(name: str, *arguments: Any, **keywords: Any) -> list[dict[str, Any]]:
    return actions_of([(name, arguments, keywords)])


MOVED = {"action": "mouse_move", "coordinate": [5, 6]}


@pytest.mark.parametrize(
    ("name", "arguments", "keywords", "expected"),
    [
        ("moveTo", (), {}, []),
        ("moveTo", (5, 6), {}, [MOVED]),
        ("moveTo", ([5, 6],), {}, [MOVED]),
        ("moveTo", (5, 6, 0.5, None), {}, [{**MOVED, "duration": 0.5}]),
        ("moveTo", (5,), {}, [{"action": "mouse_move", "coordinate": [5, None]}]),
        ("moveTo", (), {"y": 6}, [{"action": "mouse_move", "coordinate": [None, 6]}]),
        ("move", (3,), {}, [{"action": "mouse_move", "by": [3, 0]}]),
        ("moveRel", (None, 4), {}, [{"action": "mouse_move", "by": [0, 4]}]),
        ("click", (), {}, [{"action": "left_click"}]),
        ("click", (5, 6), {}, [{"action": "left_click", "coordinate": [5, 6]}]),
        ("click", (), {"clicks": 2}, [{"action": "double_click"}]),
        ("click", (), {"clicks": 0}, []),
        (
            *("click", (), {"button": "right", "clicks": 2}),
            [{"action": "double_click", "button": "right"}],
        ),
        ("click", (), {"clicks": 4}, [{"action": "left_click"}] * 4),
        (
            *("click", (), {"clicks": 2, "interval": 0.5}),
            [{"action": "left_click"}, {"action": "wait", "duration": 0.5}] * 2,
        ),
        (
            *("click", (5, 6), {"duration": 1}),
            [{**MOVED, "duration": 1}, {"action": "left_click", "coordinate": [5, 6]}],
        ),
        ("leftClick", (), {}, [{"action": "left_click"}]),
        ("rightClick", (), {}, [{"action": "right_click"}]),
        ("middleClick", (), {}, [{"action": "middle_click"}]),
        ("doubleClick", (), {}, [{"action": "double_click"}]),
        (
            *("doubleClick", (), {"button": "secondary"}),
            [{"action": "double_click", "button": "right"}],
        ),
        ("tripleClick", (), {}, [{"action": "triple_click"}]),
        ("mouseDown", (), {}, [{"action": "left_mouse_down"}]),
        ("mouseUp", (), {"button": "RIGHT"}, [{"action": "right_mouse_up"}]),
        ("mouseDown", (5, 6), {"button": 2}, [MOVED, {"action": "middle_mouse_down"}]),
        (
            *("dragTo", (5, 6), {"duration": 1.0, "button": "left", "mouseDownUp": True}),
            [{"action": "left_mouse_down"}, {**MOVED, "duration": 1}, {"action": "left_mouse_up"}],
        ),
        ("dragTo", (5, 6), {"mouseDownUp": False}, [MOVED]),
        (
            *("drag", (1, 2), {}),
            [
                {"action": "left_mouse_down"},
                {"action": "mouse_move", "by": [1, 2]},
                {"action": "left_mouse_up"},
            ],
        ),
        (
            *("scroll", (-3,), {}),
            [{"action": "scroll", "scroll_direction": "down", "scroll_amount": 3}],
        ),
        (
            *("hscroll", (2, 5, 6), {}),
            [
                {
                    **{"action": "scroll", "scroll_direction": "right"},
                    **{"scroll_amount": 2, "coordinate": [5, 6]},
                }
            ],
        ),
        ("vscroll", (0,), {}, []),
        ("typewrite", ("it's a <tag>",), {}, [{"action": "type", "text": "it's a <tag>"}]),
        ("write", ("a", 0.25), {}, [{"action": "type", "text": "a", "delay_ms": 250}]),
        ("write", ("",), {}, []),
        (
            *("typewrite", (["a", "left"],), {}),
            [{"action": "key", "text": "a"}, {"action": "key", "text": "left"}],
        ),
        ("press", ("enter",), {"presses": 2}, [{"action": "key", "text": "enter"}] * 2),
        (
            *("press", (["a"],), {"interval": 1}),
            [{"action": "key", "text": "a"}, {"action": "wait", "duration": 1}],
        ),
        ("keyDown", ("ctrl",), {}, [{"action": "key_down", "text": "ctrl"}]),
        ("keyUp", ("ctrl",), {}, [{"action": "key_up", "text": "ctrl"}]),
        ("hotkey", ("ctrl", "c"), {}, [{"action": "key", "text": "ctrl+c"}]),
        ("hotkey", (["ctrl", "C"],), {}, [{"action": "key", "text": "ctrl+shift+c"}]),
        ("hotkey", (), {}, []),
        ("sleep", (0,), {}, []),
        ("sleep", (150,), {}, [{"action": "wait", "duration": d} for d in (100.0, 50.0)]),
    ],
)
def test_a_call_becomes_actions(
    name: str, arguments: Any, keywords: Any, expected: list[dict[str, Any]]
) -> None:
    assert actions(name, *arguments, **keywords) == expected


@pytest.mark.parametrize(
    ("name", "arguments", "keywords"),
    [
        ("moveTo", (1, 2, 3, 4, 5, 6, 7), {}),
        ("moveTo", (1,), {"x": 2}),
        ("moveTo", (), {"z": 2}),
        ("moveTo", ("picture.png",), {}),
        ("moveTo", ([1, 2, 3],), {}),
        ("moveTo", (float("nan"), 1), {}),
        ("moveTo", (True, 1), {}),
        ("click", (), {"button": "fourth"}),
        ("click", (), {"button": [1]}),
        ("write", (5,), {}),
        ("press", (), {}),
        ("press", (5,), {}),
        ("keyDown", ("",), {}),
        ("sleep", (-1,), {}),
    ],
)
def test_a_wrong_call_is_refused(name: str, arguments: Any, keywords: Any) -> None:
    with pytest.raises(TypeError):
        actions(name, *arguments, **keywords)


def test_the_pause_follows_each_later_call_but_sleep() -> None:
    calls: list[tuple[str, list[Any], dict[str, Any]]] = [
        ("keyDown", ["a"], {}),
        ("PAUSE", [0.5], {}),
        ("keyUp", ["a"], {}),
        ("sleep", [1], {}),
    ]
    names = [one["action"] for one in actions_of(calls)]
    assert names == ["key_down", "key_up", "wait", "wait"]


def test_keys_have_the_names_of_pyautogui() -> None:
    assert chord_of(["winleft", " ", "+", "num0", "Enter"]) == "winleft+space+plus+KP_0+enter"


def test_places_follow_the_pointer() -> None:
    found = located(
        [
            {"action": "left_click"},
            {"action": "mouse_move", "by": [5, -2]},
            {"action": "left_mouse_down"},
            {"action": "mouse_move", "coordinate": [None, 40.9]},
            {"action": "scroll", "scroll_amount": 1},
        ],
        (10, 20),
    )
    places = [one.get("coordinate") for one in found]
    assert places == [[10, 20], [15, 18], None, [15, 40], [15, 40]]
    assert "by" not in found[1]


@pytest.mark.parametrize(
    ("first", "needed"),
    [
        ({"action": "mouse_move", "coordinate": [1, 2]}, False),
        ({"action": "mouse_move", "coordinate": [None, 2]}, True),
        ({"action": "mouse_move", "by": [1, 2]}, True),
        ({"action": "right_click"}, True),
        ({"action": "scroll"}, True),
    ],
)
def test_the_pointer_is_asked_for_only_if_needed(first: dict[str, Any], needed: bool) -> None:
    assert needs_pointer([{"action": "key", "text": "a"}, first, {"action": "scroll"}]) is needed
    assert not needs_pointer([{"action": "key", "text": "a"}])


def test_a_request_has_a_hundred_actions_at_most() -> None:
    found = requests_of([{"action": "wait"}] * 150)
    assert [len(one["actions"]) for one in found] == [100, 50]
    assert {one["coordinate_space"] for one in found} == {"native"}
