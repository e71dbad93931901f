from typing import Any

from deskhand.desktop.actions.catalog import ACTIONS, Scroll
from deskhand.desktop.actions.points import (
    ActionPoint,
    located,
    pointer_point,
    points_of,
    requested_point,
    scaled_scroll,
)
from deskhand.desktop.geometry import Point, Size, space

NATIVE = Size(1920, 1080)
AT = Point(5, 6)


def build(name: str, **values: Any) -> Any:
    return ACTIONS[name].build(values)


def test_a_requested_point_is_converted_to_the_screen_and_to_the_model() -> None:
    grid = space("normalized_1000", NATIVE)
    assert requested_point(Point(500, 500), grid, NATIVE) == ActionPoint(
        Point(500, 500), Point(960, 540), Point(640, 360)
    )


def test_a_requested_point_outside_lands_on_the_edge_in_every_space() -> None:
    model = space("model", NATIVE)
    assert requested_point(Point(5000, -5), model, NATIVE) == ActionPoint(
        Point(1279, 0), Point(1919, 0), Point(1279, 0)
    )


def test_the_pointer_keeps_its_native_position() -> None:
    native = space("native", NATIVE)
    corner = Point(1919, 1079)
    assert pointer_point(corner, native, NATIVE) == ActionPoint(corner, corner, Point(1279, 719))


def test_the_points_of_an_action_become_native_and_nothing_else_of_it() -> None:
    def twice(point: Point) -> Point:
        return Point(2 * point.x, 2 * point.y)

    there = twice(AT)
    for name, fields in (
        ("left_click", {"coordinate": AT}),
        ("mouse_move", {"coordinate": AT}),
        ("scroll", {"coordinate": AT}),
        ("left_click_drag", {"path": (AT, AT)}),
        ("left_mouse_down", {"coordinate": AT}),
        ("right_mouse_up", {"coordinate": AT}),
        ("right_mouse_up", {}),
        ("wait", {}),
    ):
        moved = located(build(name, **fields), twice)
        assert points_of(moved) == tuple(there for _ in points_of(moved))
        assert moved == located(moved, lambda point: point)


def test_points_of_an_action() -> None:
    assert points_of(build("left_click", coordinate=AT)) == (AT,)
    assert points_of(build("mouse_move", coordinate=AT)) == (AT,)
    assert points_of(build("scroll", coordinate=AT)) == (AT,)
    assert points_of(build("left_click_drag", path=(AT, Point(0, 0)))) == (AT, Point(0, 0))
    assert points_of(build("left_mouse_down", coordinate=AT)) == (AT,)
    assert points_of(build("left_mouse_up", coordinate=AT)) == (AT,)
    assert points_of(build("left_mouse_up")) == ()
    assert points_of(build("wait")) == ()


def test_a_scroll_by_pixels_is_converted_as_points_are() -> None:
    scroll = build("scroll", coordinate=AT, scroll_x=-100, scroll_y=200)
    scaled = scaled_scroll(scroll, Size(1280, 720), NATIVE)
    assert scaled == Scroll(AT, -150, 300, (), True)
    notches = build("scroll", coordinate=AT)
    assert scaled_scroll(notches, Size(1280, 720), NATIVE) is notches
    click = build("left_click", coordinate=AT)
    assert scaled_scroll(click, Size(1280, 720), NATIVE) is click
