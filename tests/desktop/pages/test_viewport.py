"""Where a page is on the screen."""

import pytest

from deskhand.desktop.geometry import Point, Region
from deskhand.desktop.pages.errors import BrowserCallFailed
from deskhand.desktop.pages.members import PagePoint
from deskhand.desktop.pages.viewport import Viewport, middle, viewport_of

FACTS = {
    **{"x": 0, "y": 0, "outer_width": 1280, "outer_height": 690, "width": 1280, "height": 603},
    **{"ratio": 1, "zoom": 1},
}


def test_the_page_is_below_the_bars_of_its_window() -> None:
    assert viewport_of(FACTS) == Viewport(0, 87, 1280, 603)


def test_a_window_may_have_a_frame() -> None:
    framed = {**FACTS, "x": 10, "outer_width": 1284, "outer_height": 692}
    assert viewport_of(framed) == Viewport(12, 87, 1280, 603)


def test_a_page_may_be_zoomed_and_a_screen_dense() -> None:
    zoomed = {**FACTS, "width": 640, "height": 301.5, "ratio": 4, "zoom": 2}
    assert viewport_of(zoomed) == Viewport(0, 174, 640, 301.5, 4)


@pytest.mark.parametrize("change", [{"width": 0}, {"ratio": None}, {"x": "left"}])
def test_what_is_no_window_has_no_place(change: dict[str, object]) -> None:
    assert viewport_of({**FACTS, **change}) is None
    assert viewport_of({}) is None


def test_points_of_the_picture_are_points_of_the_screen() -> None:
    viewport = Viewport(10, 87, 1280, 603)
    assert viewport.region == Region(10, 87, 1290, 690)
    assert viewport.on_screen(PagePoint(5, 6)) == Point(15, 93)
    assert viewport.of_css(5.4, 6.4) == Point(15, 93)
    with pytest.raises(BrowserCallFailed, match="1280x603"):
        viewport.on_screen(PagePoint(1280, 0))


def test_a_large_page_has_a_smaller_picture() -> None:
    viewport = Viewport(0, 100, 2560, 1340)
    assert viewport.picture == (1280, 670)
    assert viewport.on_screen(PagePoint(640, 335)) == Point(1281, 771)


def test_regions_are_cut_at_the_edges() -> None:
    viewport = Viewport(0, 87, 1280, 603)
    assert viewport.region_on_screen((-5, 0, 100, 50)) == Region(0, 87, 100, 137)
    with pytest.raises(BrowserCallFailed, match="outside"):
        viewport.region_on_screen((1280, 0, 1300, 50))


def test_the_middle_is_that_of_the_visible_part() -> None:
    viewport = Viewport(0, 0, 100, 100)
    hidden, half = [0, -20, 50, -20, 50, -5, 0, -5], [90, 0, 130, 0, 130, 10, 90, 10]
    assert middle([hidden, half], viewport) == (95, 5)
    assert middle([hidden], viewport) is None
