from typing import Any

import pytest

from deskhand.desktop.geometry import Region, Size
from deskhand.desktop.mcp.calls.screen_view import LARGEST, ScreenView, middle, view_of


def status(width: int, height: int) -> dict[str, Any]:
    return {"size": {"width": width, "height": height}}


@pytest.mark.parametrize("size", [(1920, 1080), (1280, 720), (800, 600), (3840, 2160)])
def test_the_usual_picture_for_models_is_used_where_it_fits(size: tuple[int, int]) -> None:
    view = view_of(status(*size))
    assert view.size == view.model
    assert view.space == {}


@pytest.mark.parametrize("size", [(1024, 768), (800, 1200), (1280, 1024), (1080, 1920)])
def test_other_screens_are_shown_smaller(size: tuple[int, int]) -> None:
    view = view_of(status(*size))
    assert view.size.width <= LARGEST.width
    assert view.size.height <= LARGEST.height
    assert view.space == {"scaled_width": view.size.width, "scaled_height": view.size.height}


def test_a_region_is_given_in_pixels_of_the_picture() -> None:
    view = view_of(status(1920, 1080))
    assert view.region(Region(10, 20, 110, 70)) == {"region": [10, 20, 110, 70]}
    assert view.region(None) == {}


def test_a_tall_region_of_a_tall_screen_is_widened() -> None:
    view = ScreenView(Size(960, 720), Size(1024, 768))
    found = view.region(Region(0, 0, 100, 300))["region"]
    left, top, right, bottom = found
    assert (left, top, bottom) == (0, 0, 320)
    # As high as 720 pixels where the service makes pictures of 1024x768.
    assert (bottom - top) * 1024 / (right - left) <= 720
    assert view.region(Region(0, 0, 960, 720)) == view.space


def test_points_of_the_screen_become_points_of_the_picture() -> None:
    view = view_of(status(1920, 1080))
    assert view.point((960, 540), Size(1920, 1080)) == [640, 360]
    assert middle((0, 10, 20, 30)) == (10, 20)
