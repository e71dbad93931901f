import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskhand.desktop.geometry import (
    Point,
    Region,
    Size,
    Space,
    contains,
    convert,
    convert_region,
    model_size,
    space,
    whole,
)

CASES: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "data" / "coordinates.json").read_text()
)
MODEL = Size(1280, 720)
SCREEN = Size(1920, 1080)
GPT = Size(1440, 900)
OLD = Size(1366, 768)

sizes = st.builds(Size, st.integers(1, 5000), st.integers(1, 5000))
points = st.builds(Point, st.integers(-9000, 9000), st.integers(-9000, 9000))


@pytest.mark.parametrize("case", CASES["model_size"], ids=lambda c: f"{c['native']}")
def test_given_case_of_a_model_size(case: dict[str, list[int]]) -> None:
    assert model_size(Size(*case["native"])) == Size(*case["model"])


@pytest.mark.parametrize(
    "case", CASES["points"], ids=lambda c: f"{c['from']}-{c['to']}-{c['point']}"
)
def test_given_case_of_a_point(case: dict[str, list[int]]) -> None:
    converted = convert(Point(*case["point"]), Size(*case["from"]), Size(*case["to"]))
    assert converted == Point(*case["expect"])


@pytest.mark.parametrize(
    ("native", "model"),
    [
        ((1366, 768), (1366, 768)),
        ((1920, 1080), (1280, 720)),
        ((1920, 1200), (1280, 800)),
        ((2048, 1536), (1024, 768)),
        ((3840, 2160), (1280, 720)),
        ((1568, 1000), (1280, 816)),
        ((1000, 2000), (758, 1516)),
        ((1280, 800), (1280, 800)),
        ((100, 100), (100, 100)),
        ((4000, 3000), (1024, 768)),
        ((2560, 1440), (1280, 720)),
        ((3440, 1440), (1280, 535)),
        ((5120, 1440), (1280, 360)),
        ((1440, 900), (1280, 800)),
        ((1600, 900), (1280, 720)),
        ((1280, 1024), (1024, 819)),
        ((1080, 1920), (804, 1429)),
        ((1200, 1200), (1024, 1024)),
        ((0, 0), (1, 1)),
        ((1568, 733), (1568, 733)),
        ((1569, 100), (1280, 81)),
    ],
)
def test_model_size_of_known_screens(native: tuple[int, int], model: tuple[int, int]) -> None:
    assert model_size(Size(*native)) == Size(*model)


def test_a_screen_only_a_little_too_large_is_shown_at_a_width_of_1024() -> None:
    assert model_size(Size(1100, 1090)) == Size(1024, 1014)
    assert model_size(Size(1073, 1073)) == Size(1024, 1024)


@pytest.mark.parametrize(
    ("from_", "to", "seen", "meant"),
    [
        (MODEL, SCREEN, (0, 0), (0, 0)),
        (MODEL, SCREEN, (640, 360), (960, 540)),
        (MODEL, SCREEN, (1279, 719), (1919, 1079)),
        (MODEL, SCREEN, (5000, -5), (1919, 0)),
        (MODEL, SCREEN, (853, 402), (1280, 603)),
        (SCREEN, MODEL, (960, 540), (640, 360)),
        (OLD, SCREEN, (683, 384), (960, 540)),
        (OLD, SCREEN, (1365, 767), (1919, 1079)),
        (SCREEN, OLD, (0, 0), (0, 0)),
        (SCREEN, OLD, (960, 540), (683, 384)),
        (SCREEN, OLD, (1919, 1079), (1365, 767)),
        (SCREEN, OLD, (-10, 5000), (0, 767)),
        (GPT, SCREEN, (1, 1), (2, 1)),
        (GPT, SCREEN, (1, 2), (2, 3)),
        (GPT, SCREEN, (2, 2), (3, 3)),
        (GPT, SCREEN, (720, 450), (960, 540)),
        (GPT, SCREEN, (1000, 500), (1334, 600)),
        (GPT, SCREEN, (1439, 899), (1919, 1079)),
        (Size(1429, 804), SCREEN, (714, 402), (960, 540)),
        (Size(1429, 804), SCREEN, (1428, 803), (1919, 1079)),
        (SCREEN, Size(1429, 804), (960, 540), (714, 402)),
        (SCREEN, Size(1429, 804), (1919, 1079), (1428, 803)),
    ],
)
def test_point_lands_on_the_pixel_it_shows(
    from_: Size, to: Size, seen: tuple[int, int], meant: tuple[int, int]
) -> None:
    assert convert(Point(*seen), from_, to) == Point(*meant)


@pytest.mark.parametrize(
    ("x", "expected"),
    [(1, 2), (2, 3), (3, 5), (4, 6), (5, 8), (100, 150), (319, 479), (320, 480), (1278, 1917)],
)
def test_columns_of_the_picture(x: int, expected: int) -> None:
    assert convert(Point(x, 0), MODEL, SCREEN).x == expected


@pytest.mark.parametrize(
    ("x", "expected"),
    [(1, 1), (2, 1), (3, 2), (4, 3), (5, 3), (959, 639), (960, 640), (961, 641), (1918, 1279)],
)
def test_columns_of_the_screen(x: int, expected: int) -> None:
    assert convert(Point(x, 0), SCREEN, MODEL).x == expected


@pytest.mark.parametrize(("y", "expected"), [(539, 359), (540, 360), (541, 361), (1078, 719)])
def test_rows_of_the_screen(y: int, expected: int) -> None:
    assert convert(Point(0, y), SCREEN, MODEL).y == expected


@pytest.mark.parametrize("declared", [MODEL, GPT])
def test_every_declared_pixel_survives_the_round_trip(declared: Size) -> None:
    for x in range(declared.width):
        there = convert(Point(x, 0), declared, SCREEN)
        assert convert(there, SCREEN, declared).x == x
    for y in range(declared.height):
        there = convert(Point(0, y), declared, SCREEN)
        assert convert(there, SCREEN, declared).y == y


def test_a_third_of_the_native_pixels_cannot_be_hit_from_the_model_picture() -> None:
    columns = {convert(Point(x, 0), MODEL, SCREEN).x for x in range(MODEL.width)}
    assert sorted(set(range(SCREEN.width)) - columns) == list(range(1, SCREEN.width, 3))
    rows = {convert(Point(0, y), MODEL, SCREEN).y for y in range(MODEL.height)}
    assert len(set(range(SCREEN.height)) - rows) == 360


def test_a_coordinate_too_large_for_floating_point_is_clamped() -> None:
    assert convert(Point(10**400, -(10**400)), MODEL, SCREEN) == Point(1919, 0)


@given(points, sizes, sizes)
def test_every_point_lands_inside(point: Point, from_: Size, to: Size) -> None:
    assert contains(to, convert(point, from_, to))


@given(st.integers(-9000, 9000), st.integers(-9000, 9000), sizes, sizes)
def test_order_of_points_is_kept(a: int, b: int, from_: Size, to: Size) -> None:
    first, second = sorted((a, b))
    assert convert(Point(first, 0), from_, to).x <= convert(Point(second, 0), from_, to).x


@given(sizes, sizes, st.data())
def test_enlarging_loses_nothing(small: Size, large: Size, data: st.DataObject) -> None:
    large = Size(max(small.width, large.width), max(small.height, large.height))
    x = data.draw(st.integers(0, small.width - 1))
    y = data.draw(st.integers(0, small.height - 1))
    assert convert(convert(Point(x, y), small, large), large, small) == Point(x, y)


@given(points, sizes)
def test_the_same_size_only_clamps(point: Point, size: Size) -> None:
    converted = convert(point, size, size)
    assert converted == point if contains(size, point) else contains(size, converted)


@pytest.mark.parametrize(
    ("native", "declared", "region", "expected"),
    [
        ((1400, 900), (1337, 859), (100, 200, 500, 600), (105, 210, 524, 629)),
        ((1400, 900), (1337, 859), (500, 600, 100, 200), (105, 210, 524, 629)),
        ((1920, 1080), (1429, 804), (100, 200, 500, 600), (135, 269, 672, 806)),
        ((1920, 1080), (1429, 804), (714, 402, 1428, 803), (960, 540, 1918, 1078)),
        ((1400, 900), (1337, 859), (250, 300, 250, 300), (262, 314, 263, 315)),
        ((1920, 1080), (1429, 804), (250, 300, 250, 300), (336, 403, 337, 404)),
        ((1400, 900), (1337, 859), (-100, 300, 100, 300), (0, 314, 105, 315)),
        ((1400, 900), (1337, 859), (1387, 919, 1437, 1059), (1399, 899, 1400, 900)),
        ((1920, 1080), (1429, 804), (-100, 300, 100, 300), (0, 403, 134, 404)),
        ((1920, 1080), (1429, 804), (1479, 864, 1529, 1004), (1919, 1079, 1920, 1080)),
        ((1920, 1080), (1280, 720), (-9, -9, 9999, 9999), (0, 0, 1920, 1080)),
    ],
)
def test_region_of_a_declared_picture(
    native: tuple[int, int],
    declared: tuple[int, int],
    region: tuple[int, int, int, int],
    expected: tuple[int, int, int, int],
) -> None:
    converted = convert_region(Region(*region), Size(*declared), Size(*native))
    assert converted == Region(*expected)


@given(st.builds(Region, *[st.integers(-9000, 9000)] * 4), sizes, sizes)
def test_every_region_has_a_pixel_and_lies_inside(region: Region, from_: Size, to: Size) -> None:
    converted = convert_region(region, from_, to)
    assert not converted.is_empty
    assert whole(to).covers(converted)


@given(sizes, sizes)
def test_the_whole_picture_shows_the_whole_screen(from_: Size, to: Size) -> None:
    from_ = Size(min(from_.width, to.width), min(from_.height, to.height))
    assert convert_region(whole(to), to, from_) == whole(from_)


def test_regions_know_their_size_and_common_part() -> None:
    region = Region(10, 20, 30, 60)
    assert region.size == Size(20, 40)
    assert region.intersection(Region(0, 0, 15, 25)) == Region(10, 20, 15, 25)
    assert region.intersection(Region(30, 20, 40, 60)).is_empty
    assert region.covers(Region(10, 20, 30, 60))
    assert not region.covers(Region(10, 20, 30, 61))


def test_spaces_of_a_screen() -> None:
    assert space("model", SCREEN) == Space("model", MODEL, MODEL)
    assert space("native", SCREEN) == Space("native", SCREEN, SCREEN)
    assert space("normalized_1000", SCREEN) == Space("normalized_1000", Size(1000, 1000), MODEL)
    assert space("scaled", SCREEN, GPT) == Space("scaled", GPT, GPT)


def test_a_scaled_space_needs_its_size() -> None:
    with pytest.raises(ValueError, match="size"):
        space("scaled", SCREEN)


def test_a_region_holds_the_pixels_up_to_its_right_and_bottom_edge() -> None:
    region = Region(10, 20, 30, 40)
    assert all(region.holds(Point(x, y)) for x in (10, 29) for y in (20, 39))
    assert not any(region.holds(Point(*at)) for at in ((9, 20), (30, 20), (10, 19), (10, 40)))
