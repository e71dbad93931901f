from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskhand.desktop.actions.catalog import Scroll
from deskhand.desktop.actions.plan import (
    batches,
    first_notches,
    in_notches,
    moves_along,
    plan,
)
from deskhand.desktop.actions.requests import action_request
from deskhand.desktop.geometry import Point, Size
from deskhand.desktop.input.events import (
    AwaitDrag,
    AwaitDrop,
    ButtonPress,
    ButtonRelease,
    InputEvent,
    KeyPress,
    KeyRelease,
    Pause,
    PointerMotion,
    Tap,
)
from deskhand.desktop.input.keysyms import KEYSYMS

NATIVE = Size(1920, 1080)
HERE = Point(0, 0)
CTRL, SHIFT, ENTER = KEYSYMS["Control_L"], KEYSYMS["Shift_L"], KEYSYMS["Return"]
CORNER = PointerMotion(Point(1919, 1079))


def events(
    action: str, position: Point = HERE, held: bool = False, **fields: Any
) -> list[InputEvent]:
    request = action_request({"action": action, **fields}, NATIVE)
    return list(plan(request.action, position, held))


@pytest.mark.parametrize(
    ("action", "fields", "expected"),
    [
        ("key", {"text": "Return"}, [Tap(ENTER)]),
        ("key", {"text": "ctrl+s"}, [KeyPress(CTRL), Tap(ord("s")), KeyRelease(CTRL)]),
        (
            "key",
            {"text": "ctrl+shift+t"},
            [*map(KeyPress, (CTRL, SHIFT, ord("t"))), *map(KeyRelease, (ord("t"), SHIFT, CTRL))],
        ),
        ("key", {"text": "a b"}, [Tap(ord("a")), Tap(ord("b"))]),
        ("type", {"text": "a\n"}, [Tap(ord("a")), Tap(ENTER)]),
        ("type", {"text": "ab", "delay_ms": 10}, [Tap(97), Pause(0.01), Tap(98), Pause(0.01)]),
        ("key_down", {"text": "ctrl+a"}, [KeyPress(CTRL), KeyPress(97)]),
        ("key_up", {"text": "ctrl+a"}, [KeyRelease(97), KeyRelease(CTRL)]),
        (
            "hold_key",
            {"text": "ctrl+a", "duration": 2},
            [KeyPress(CTRL), KeyPress(97), Pause(2.0), KeyRelease(97), KeyRelease(CTRL)],
        ),
        ("mouse_move", {"coordinate": [1279, 719]}, [CORNER]),
        (
            "left_click",
            {"coordinate": [0, 0]},
            [PointerMotion(HERE), ButtonPress(1), ButtonRelease(1)],
        ),
        ("right_click", {"coordinate": [1279, 719]}, [CORNER, ButtonPress(3), ButtonRelease(3)]),
        (
            "triple_click",
            {"coordinate": [1279, 719]},
            # Chromium counts clicks with one time stamp as one.
            [
                *(CORNER, ButtonPress(1), ButtonRelease(1)),
                *(Pause(0.02), ButtonPress(1), ButtonRelease(1)) * 2,
            ],
        ),
        (
            "left_click",
            {"coordinate": [1279, 719], "text": "ctrl"},
            [CORNER, KeyPress(CTRL), ButtonPress(1), ButtonRelease(1), KeyRelease(CTRL)],
        ),
        ("left_mouse_down", {}, [ButtonPress(1)]),
        ("left_mouse_down", {"coordinate": [1279, 719]}, [CORNER, ButtonPress(1)]),
        ("left_mouse_up", {}, [ButtonRelease(1)]),
        ("right_mouse_up", {"coordinate": [1279, 719]}, [CORNER, ButtonRelease(3)]),
        (
            "double_click",
            {"coordinate": [1279, 719], "button": "right"},
            [
                CORNER,
                *(ButtonPress(3), ButtonRelease(3), Pause(0.02), ButtonPress(3)),
                ButtonRelease(3),
            ],
        ),
        (
            "scroll",
            {"coordinate": [1279, 719], "scroll_direction": "up", "scroll_amount": 2},
            [CORNER, *[ButtonPress(4), ButtonRelease(4)] * 2],
        ),
        ("scroll", {"coordinate": [1279, 719]}, [CORNER, *[ButtonPress(5), ButtonRelease(5)] * 3]),
        (
            "scroll",
            {"coordinate": [1279, 719], "scroll_direction": "left", "scroll_amount": 1},
            [CORNER, ButtonPress(6), ButtonRelease(6)],
        ),
        (
            "scroll",
            {
                "coordinate": [1279, 719],
                "scroll_direction": "right",
                "scroll_amount": 1,
                "modifiers": ["shift"],
            },
            [CORNER, KeyPress(SHIFT), ButtonPress(7), ButtonRelease(7), KeyRelease(SHIFT)],
        ),
        (
            "scroll",
            {"coordinate": [1279, 719], "scroll_x": 200, "scroll_y": -400},
            # Of 120 pixels a notch, where a pixel of the model is one and a half: 2 and 5 notches.
            [
                CORNER,
                *(ButtonPress(4), ButtonRelease(4)),
                *(ButtonPress(7), ButtonRelease(7)),
                *(ButtonPress(4), ButtonRelease(4)) * 3,
                *(ButtonPress(7), ButtonRelease(7)),
                *(ButtonPress(4), ButtonRelease(4)),
            ],
        ),
        ("wait", {"duration": 1.5}, [Pause(1.5)]),
        ("screenshot", {}, []),
        ("cursor_position", {}, []),
    ],
)
def test_an_action_is_these_events(
    action: str, fields: dict[str, Any], expected: list[InputEvent]
) -> None:
    assert events(action, **fields) == expected


def test_a_drag_moves_in_small_steps_with_the_button_down() -> None:
    done = events("left_click_drag", start_coordinate=[0, 0], coordinate=[1279, 0])
    moves = [event.to.x for event in done if isinstance(event, PointerMotion)]
    assert done[:2] == [PointerMotion(HERE), ButtonPress(1)]
    assert done[-1] == ButtonRelease(1)
    assert moves == sorted(moves)
    assert moves[-1] == 1919
    assert len(moves) == 1 + 12
    assert sum(s.seconds for s in done if isinstance(s, Pause)) == pytest.approx(0.2)


def test_a_drag_in_no_time_still_moves_in_steps_of_a_frame_each() -> None:
    done = events("left_click_drag", start_coordinate=[0, 0], coordinate=[99, 9], duration=0)
    pauses = [event.seconds for event in done if isinstance(event, Pause)]
    assert pauses == [pytest.approx(1 / 60)] * 8
    assert sum(isinstance(event, PointerMotion) for event in done) == 1 + 8


def test_a_drag_has_any_button_and_is_released_when_it_was_taken() -> None:
    done = events("left_click_drag", button="middle", path=[[0, 0], [99, 9]])
    assert done[1] == ButtonPress(2)
    assert [done[-4], *done[-2:]] == [AwaitDrag(), AwaitDrop(), ButtonRelease(2)]


@pytest.mark.parametrize(
    ("action", "end"),
    [
        ("mouse_move", []),
        ("left_mouse_up", [ButtonRelease(1)]),
        ("right_mouse_down", [ButtonPress(3)]),
    ],
)
def test_a_held_pointer_moves_in_steps_from_where_it_is(action: str, end: list[InputEvent]) -> None:
    request = action_request({"action": action, "coordinate": [1279, 719]}, NATIVE)
    assert moves_along(request.action, held=True)
    assert not moves_along(request.action, held=False)
    done = events(action, Point(1919, 0), held=True, coordinate=[1279, 719])
    moves = [event.to for event in done if isinstance(event, PointerMotion)]
    assert (len(moves), moves[-1]) == (8, Point(1919, 1079))
    assert {point.x for point in moves} == {1919}
    assert done[-len(end) - 3 :] == [AwaitDrag(), CORNER, AwaitDrop(), *end]


def test_a_button_that_is_held_goes_up_where_it_is() -> None:
    assert events("left_mouse_up", held=True) == [ButtonRelease(1)]
    up = action_request({"action": "left_mouse_up"}, NATIVE).action
    assert not moves_along(up, held=True)
    assert not moves_along(action_request({"action": "wait"}, NATIVE).action, held=True)


def test_a_drag_to_where_it_began_is_a_long_click() -> None:
    done = events("left_click_drag", start_coordinate=[0, 0], coordinate=[0, 0])
    pressed = [PointerMotion(HERE), ButtonPress(1)]
    assert done == [*pressed, AwaitDrag(), PointerMotion(HERE), AwaitDrop(), ButtonRelease(1)]


def test_a_drag_holds_its_modifiers_around_the_button() -> None:
    done = events("left_click_drag", start_coordinate=[0, 0], coordinate=[9, 9], modifiers=["ctrl"])
    assert done[1:3] == [KeyPress(CTRL), ButtonPress(1)]
    assert done[-2:] == [ButtonRelease(1), KeyRelease(CTRL)]


def test_a_smooth_move_begins_where_the_pointer_is() -> None:
    done = events("mouse_move", Point(1919, 0), coordinate=[1279, 719], duration=0.1)
    moves = [event.to for event in done if isinstance(event, PointerMotion)]
    assert {point.x for point in moves} == {1919}
    assert moves[-1] == Point(1919, 1079)
    assert len(moves) == 6


model_points = st.tuples(st.integers(0, 1279), st.integers(0, 719)).map(list)


@given(st.lists(model_points, min_size=2, max_size=6), st.floats(0, 3))
def test_a_drag_passes_every_point_of_its_path_in_its_time(
    path: list[list[int]], duration: float
) -> None:
    done = events("left_click_drag", path=path, duration=duration, coordinate_space="model")
    passed = [event.to for event in done if isinstance(event, PointerMotion)]
    request = action_request({"action": "mouse_move", "coordinate": path[-1]}, NATIVE)
    for x, y in path:
        request = action_request({"action": "mouse_move", "coordinate": [x, y]}, NATIVE)
        (move,) = plan(request.action, HERE)
        assert isinstance(move, PointerMotion)
        assert move.to in passed
        passed = passed[passed.index(move.to) :]
    taken = sum(event.seconds for event in done if isinstance(event, Pause))
    assert taken <= max(duration, 8 / 60) + 1e-6


def test_events_are_split_at_their_pauses() -> None:
    taps: list[InputEvent] = [Tap(1), Tap(2), Pause(0.5), Tap(3), Pause(0.0), Tap(4)]
    assert list(batches(taps)) == [[Tap(1), Tap(2)], Pause(0.5), [Tap(3)], [Tap(4)]]


def test_a_pause_alone_is_a_pause() -> None:
    assert list(batches([Pause(1.0)])) == [Pause(1.0)]


def test_long_runs_are_cut_into_pieces() -> None:
    taps = [Tap(i) for i in range(7)]
    assert [len(b) for b in batches(taps, most=3) if isinstance(b, list)] == [3, 3, 1]
    assert [len(b) for b in batches(taps[:6], most=3) if isinstance(b, list)] == [3, 3]


@pytest.mark.parametrize(
    ("asked", "notch", "notches"),
    [
        *((pixels, 0, notches) for pixels, notches in ((120, 1), (480, 4), (700, 6), (-61, -1))),
        *((pixels, 57, notches) for pixels, notches in ((120, 2), (480, 8), (700, 12), (-85, -1))),
        *((1, 0, 1), (-1, 300, -1), (0, 57, 0)),
    ],
)
def test_a_scroll_by_pixels_has_the_nearest_notches(asked: int, notch: int, notches: int) -> None:
    down = Scroll(HERE, 0, asked, (), True)
    assert in_notches(down, down=notch) == Scroll(HERE, 0, notches, ())
    right = Scroll(HERE, asked, 0, (), True)
    assert in_notches(right, right=notch) == Scroll(HERE, notches, 0, ())
    assert in_notches(Scroll(HERE, 0, 3, ()), down=57) == Scroll(HERE, 0, 3, ())


def test_each_direction_of_a_scroll_has_a_first_notch() -> None:
    down, left = Scroll(HERE, 0, 1, ()), Scroll(HERE, -1, 0, ())
    assert first_notches(Scroll(HERE, -300, 400, (), True)) == (down, left)
    assert first_notches(Scroll(HERE, 0, 400, (), True)) == (down,)
    assert first_notches(Scroll(HERE, 0, 0, (), True)) == ()
