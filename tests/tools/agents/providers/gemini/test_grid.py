import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskhand.tools.agents.providers.gemini.grid import LAST, to_grid, to_pixel

values = st.integers(0, LAST)


@pytest.mark.parametrize(
    ("value", "side", "pixel"),
    [(999, 1280, 1278), (0, 1280, 0), (999, 720, 719), (500, 1280, 640), (1, 1280, 1)],
)
def test_a_value_is_a_share_of_the_side_rounded_down(value: int, side: int, pixel: int) -> None:
    assert to_pixel(value, side) == pixel


@given(values, st.integers(1000, 8000))
def test_each_value_comes_back_from_its_pixel(value: int, side: int) -> None:
    assert to_grid(to_pixel(value, side), side) == value


@given(st.data(), st.integers(1, 1000))
def test_each_pixel_of_a_small_side_comes_back_from_its_value(
    data: st.DataObject, side: int
) -> None:
    pixel = data.draw(st.integers(0, side - 1))
    assert to_pixel(to_grid(pixel, side), side) == pixel


@given(st.data(), st.integers(1001, 8000))
def test_each_pixel_of_a_large_side_comes_back_within_a_step(
    data: st.DataObject, side: int
) -> None:
    pixel = data.draw(st.integers(0, side - 1))
    assert abs(to_pixel(to_grid(pixel, side), side) - pixel) <= side / 1000


@given(values, st.integers(1, 8000))
def test_a_value_is_on_the_screen(value: int, side: int) -> None:
    assert 0 <= to_pixel(value, side) < side


@given(st.data(), st.integers(640, 1568), st.integers(1, 3840))
def test_a_value_keeps_its_place_on_the_native_screen(
    data: st.DataObject, side: int, native: int
) -> None:
    """The desktop converts pixels of the picture to those of the screen by their share."""
    value = data.draw(values)
    on_screen = to_pixel(value, side) * native // side
    assert abs(on_screen - value * native / 1000) <= native / side + 1
    back = to_grid(on_screen * side // native, side)
    assert abs(back - value) <= (1000 / side) + (1000 / native) + 1
