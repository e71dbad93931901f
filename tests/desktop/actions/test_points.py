from deskhand.desktop.actions.points import ActionPoint, pointer_point, requested_point
from deskhand.desktop.geometry import Point, Size, space

NATIVE = Size(1920, 1080)


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
