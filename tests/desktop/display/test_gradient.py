import pytest

from deskhand.desktop.display.gradient import Colour, column, wallpaper

BLACK, GREY, WHITE = Colour(0, 0, 0), Colour(100, 100, 100), Colour(255, 255, 255)


def rows(pixels: bytes) -> list[tuple[int, ...]]:
    return [tuple(pixels[at : at + 4]) for at in range(0, len(pixels), 4)]


def test_colours_pass_into_each_other_at_equal_distances() -> None:
    assert [row[0] for row in rows(column((BLACK, GREY, WHITE), 5))] == [0, 50, 100, 178, 255]


def test_a_pixel_is_blue_green_red_and_nothing() -> None:
    assert rows(column((Colour(1, 2, 3), Colour(4, 5, 6)), 2)) == [(3, 2, 1, 0), (6, 5, 4, 0)]


@pytest.mark.parametrize("height", [1, 2, 1080])
def test_each_row_has_one_pixel(height: int) -> None:
    pixels = rows(wallpaper(height))
    assert len(pixels) == height
    assert pixels[0] == (0x86, 0x6A, 0x3D, 0)
