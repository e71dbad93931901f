import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskhand.desktop.geometry import Region, Size, space
from deskhand.desktop.screenshots.options import PictureOptions, View, fitted, view

SCREEN = Size(1920, 1080)
OPTIONS = PictureOptions()


def test_the_whole_screen_has_the_size_of_its_space() -> None:
    assert view(OPTIONS, space("model", SCREEN), SCREEN) == View(Size(1280, 720), None, OPTIONS)
    assert view(OPTIONS, space("native", SCREEN), SCREEN).size == SCREEN
    assert view(OPTIONS, space("normalized_1000", SCREEN), SCREEN).size == Size(1280, 720)


def test_a_region_is_enlarged_without_distortion() -> None:
    shown = view(OPTIONS, space("model", SCREEN), SCREEN, Region(0, 0, 100, 100))
    assert shown.region == Region(0, 0, 150, 150)
    assert shown.size == Size(720, 720)


def test_a_region_fills_a_requested_size() -> None:
    scaled = space("scaled", SCREEN, Size(640, 360))
    shown = view(OPTIONS, scaled, SCREEN, Region(0, 0, 100, 100))
    assert shown.region == Region(1, 1, 299, 299)
    assert shown.size == Size(640, 360)


@pytest.mark.parametrize(
    ("content", "box", "expected"),
    [
        ((16, 9), (1280, 720), (1280, 720)),
        ((100, 100), (1280, 720), (720, 720)),
        ((3000, 1), (1280, 720), (1280, 1)),
        ((1, 3000), (1280, 720), (1, 720)),
    ],
)
def test_the_largest_size_of_a_shape(
    content: tuple[int, int], box: tuple[int, int], expected: tuple[int, int]
) -> None:
    assert fitted(Size(*content), Size(*box)) == Size(*expected)


sizes = st.builds(Size, st.integers(1, 4000), st.integers(1, 4000))


@given(sizes, sizes)
def test_the_fitted_size_touches_two_edges_of_the_box(content: Size, box: Size) -> None:
    size = fitted(content, box)
    assert size.width == box.width or size.height == box.height
    assert 1 <= size.width <= box.width
    assert 1 <= size.height <= box.height
