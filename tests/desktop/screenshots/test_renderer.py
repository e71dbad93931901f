import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from PIL import Image

from deskhand.desktop.capture.frames import Frame, Pointer
from deskhand.desktop.capture.snapshots import Snapshots
from deskhand.desktop.geometry import Point, Region, Size, whole
from deskhand.desktop.screenshots.options import PictureFormat
from deskhand.desktop.screenshots.renderer import ScreenshotRenderer, crop

NATIVE, MODEL = Size(480, 270), Size(320, 180)


def pixels(size: Size = NATIVE, seed: int = 1) -> NDArray[np.uint8]:
    """Half flat colour, half noise: as in user interfaces and in photographs."""
    made = np.zeros((size.height, size.width, 4), np.uint8)
    made[:, :, 2] = 200
    half = size.height // 2
    made[half:, :, :3] = np.random.default_rng(seed).integers(0, 256, (1, size.width, 3), np.uint8)
    made[half:, size.width // 2 :, :3] = np.random.default_rng(seed).integers(
        0, 256, (size.height - half, size.width - size.width // 2, 3), np.uint8
    )
    return made


def frame(content: NDArray[np.uint8], counter: int = 0) -> Frame:
    return Frame(content, counter, 0.0)


def decoded(data: bytes) -> NDArray[np.uint8]:
    return np.asarray(Image.open(io.BytesIO(data)))


def weights(source: int, target: int) -> NDArray[np.float64]:
    edges = np.arange(target + 1) * source / target
    pixel = np.arange(source)
    pointer_region = np.minimum(edges[1:, None], pixel + 1) - np.maximum(edges[:-1, None], pixel)
    result: NDArray[np.float64] = np.clip(pointer_region, 0, None) * target / source
    return result


def area_mean(content: NDArray[np.uint8], size: Size) -> NDArray[np.float64]:
    """Return the exact mean over the area of each pixel, in RGB."""
    down = weights(content.shape[0], size.height)
    across = weights(content.shape[1], size.width).T
    return np.stack([down @ content[:, :, plane] @ across for plane in (2, 1, 0)], axis=2)


def pointer(x: int, y: int, serial: int = 1) -> Pointer:
    image = np.zeros((12, 10, 4), np.uint8)
    image[:, :5] = (0, 255, 0, 255)
    image[:, 5:8] = (60, 0, 0, 128)
    return Pointer(Point(x, y), Point(2, 3), image, serial)


@pytest.mark.parametrize(
    "size",
    [MODEL, Size(200, 200), Size(201, 111), Size(60, 34), Size(60, 18), Size(125, 84), NATIVE],
)
def test_a_smaller_picture_is_the_mean_of_areas_within_one_level(size: Size) -> None:
    content = pixels()
    made = decoded(ScreenshotRenderer().render(frame(content), size=size))
    assert made.shape == (size.height, size.width, 3)
    assert np.abs(made - area_mean(content, size)).max() <= 1.02


def test_the_screen_of_the_default_size_is_within_one_level() -> None:
    content = pixels(Size(1920, 1080))
    made = decoded(ScreenshotRenderer().render(frame(content), size=Size(1280, 720)))
    assert np.abs(made - area_mean(content, Size(1280, 720))).max() <= 1.02


def test_a_region_at_its_own_size_is_the_native_pixels() -> None:
    content = pixels()
    region = Region(101, 77, 301, 222)
    made = decoded(ScreenshotRenderer().render(frame(content), size=region.size, region=region))
    assert np.array_equal(made, content[77:222, 101:301, 2::-1])


def test_the_pointer_is_blended_before_scaling() -> None:
    content = pixels()
    shown = crop(content, Region(0, 0, *NATIVE), pointer(100, 50))
    assert tuple(shown[47, 98]) == (0, 255, 0, 0)
    assert tuple(shown[47, 103]) == (60, 0, 100, 0)
    assert tuple(content[47, 98]) == (0, 0, 200, 0)
    made = decoded(
        ScreenshotRenderer().render(frame(content), size=MODEL, pointer=pointer(100, 50))
    )
    assert np.abs(made - area_mean(shown, MODEL)).max() <= 1.02


@pytest.mark.parametrize(("x", "y"), [(0, 0), (479, 0), (0, 269), (479, 269), (-50, -50)])
def test_a_pointer_over_the_edge_is_cut_off(x: int, y: int) -> None:
    content = pixels()
    assert crop(content, Region(0, 0, *NATIVE), pointer(x, y)).shape == content.shape
    assert ScreenshotRenderer().render(frame(content), size=MODEL, pointer=pointer(x, y))


def test_a_pointer_outside_the_region_is_not_drawn() -> None:
    region = Region(200, 200, 300, 260)
    pictures = ScreenshotRenderer()
    bare = pictures.render(frame(pixels()), size=region.size, region=region)
    drawn = pictures.render(
        frame(pixels()), size=region.size, region=region, pointer=pointer(20, 20)
    )
    assert drawn == bare


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 479), st.integers(0, 269), st.integers(1, 200), st.booleans()),
        min_size=1,
        max_size=6,
    ),
    st.sampled_from([MODEL, Size(333, 171)]),
)
def test_kept_bands_make_the_same_picture_as_a_new_renderer(
    steps: list[tuple[int, int, int, bool]], size: Size
) -> None:
    pictures = ScreenshotRenderer()
    content = pixels()
    for counter, (x, y, height, shown) in enumerate(steps, 1):
        content = content.copy()
        content[y : y + height, x : x + 40, :3] = counter * 40
        arrow = pointer(x, y) if shown else None
        kept = pictures.render(frame(content, counter), size=size, pointer=arrow)
        fresh = ScreenshotRenderer().render(frame(content, counter), size=size, pointer=arrow)
        assert kept == fresh


@settings(max_examples=20, deadline=None)
@given(
    st.lists(
        st.tuples(
            *(st.integers(0, 479), st.integers(0, 269), st.integers(1, 200), st.integers(0, 2)),
            *(st.booleans(), st.booleans()),
        ),
        min_size=1,
        max_size=8,
    ),
    st.sampled_from([MODEL, NATIVE, Size(333, 171)]),
)
def test_frames_with_change_counters_make_the_same_picture(
    steps: list[tuple[int, int, int, int, bool, bool]], size: Size
) -> None:
    pictures, snapshots, content = ScreenshotRenderer(), Snapshots(NATIVE), pixels()
    snapshots.restore(content)
    for x, y, height, level, shown, looked in steps:
        damage = Region(x, y, min(x + 40, 480), min(y + height, 270))
        content[damage.top : damage.bottom, damage.left : damage.right, :3] = level * 100
        snapshots.update(content, [damage])
        if looked:
            changed_at = snapshots.changed_at
            seen = Frame(snapshots.pixels, snapshots.counter, 0.0, changed_at=changed_at)
            arrow = pointer(x, y) if shown else None
            kept = pictures.render(seen, size=size, pointer=arrow)
            assert kept == ScreenshotRenderer().render(seen, size=size, pointer=arrow)


def test_bands_made_one_by_one_equal_those_of_two_threads() -> None:
    pictures, target = ScreenshotRenderer(), pixels(seed=2)
    content = pixels()
    content[:, :, 1] = 99
    for counter, top in enumerate(range(0, NATIVE.height, 36), 1):
        pictures.render(frame(content, counter), size=MODEL)
        content = content.copy()
        content[top : top + 36] = target[top : top + 36]
    made = pictures.render(frame(content, 100), size=MODEL)
    assert made == ScreenshotRenderer().render(frame(target), size=MODEL)


@pytest.mark.parametrize("size", [MODEL, Size(160, 90), Size(200, 200), Size(60, 18)])
def test_halves_scaled_apart_have_the_pixels_of_the_whole(size: Size) -> None:
    seen, arrow = frame(pixels()), pointer(100, NATIVE.height // 2)
    by_two = ScreenshotRenderer().render(seen, size=size, pointer=arrow)
    at_once = ScreenshotRenderer().render(seen, size=size, pointer=arrow, region=whole(NATIVE))
    assert np.array_equal(decoded(by_two), decoded(at_once))


def test_equal_frames_have_equal_bytes_wherever_the_compressor_is_in_memory() -> None:
    # 100 bands whose second row has the matches at the first bytes of the band.
    size = Size(64, 2400)
    content = np.random.default_rng(4).integers(0, 256, (100, 1, 64, 4), np.uint8)
    seen = frame(np.repeat(content, 24, axis=1).reshape(*size[::-1], 4))
    occupied = []
    found = set()
    for _ in range(400):
        found.add(ScreenshotRenderer().render(seen, size=size))
        # The next compressor finds the place of the last one taken.
        occupied.append(bytes(82_500))
    assert len(found) == 1


@pytest.mark.parametrize("size", [Size(1, 1), Size(2, 1), Size(1, 2), Size(3, 1), Size(1, 49)])
def test_the_smallest_pictures_are_exact(size: Size) -> None:
    content = pixels(size, seed=3)
    made = decoded(ScreenshotRenderer().render(frame(content), size=size))
    assert np.array_equal(made, content[:, :, 2::-1])


def test_a_moved_pointer_alone_makes_a_new_picture() -> None:
    pictures, content = ScreenshotRenderer(), pixels()
    first = pictures.render(frame(content), size=MODEL, pointer=pointer(10, 10))
    moved = pictures.render(frame(content), size=MODEL, pointer=pointer(200, 10))
    gone = pictures.render(frame(content), size=MODEL)
    assert moved == ScreenshotRenderer().render(
        frame(content), size=MODEL, pointer=pointer(200, 10)
    )
    assert gone == ScreenshotRenderer().render(frame(content), size=MODEL)
    assert len({first, moved, gone}) == 3


def test_the_same_request_is_answered_with_the_same_bytes() -> None:
    pictures = ScreenshotRenderer()
    first = pictures.render(frame(pixels()), size=MODEL)
    assert pictures.render(frame(pixels()), size=MODEL) is first


def test_the_picture_after_a_release_has_the_same_bytes() -> None:
    renderer, snapshots = ScreenshotRenderer(), Snapshots(NATIVE)
    snapshots.restore(pixels())
    frame = Frame(snapshots.pixels, snapshots.counter, 0.0, "", snapshots.changed_at)
    before = renderer.render(frame, size=MODEL)
    renderer.release()
    assert renderer.render(frame, size=MODEL) == before


def test_a_region_between_does_not_spoil_the_whole() -> None:
    pictures, content = ScreenshotRenderer(), pixels()
    pictures.render(frame(content), size=MODEL)
    pictures.render(frame(content), size=Size(64, 64), region=Region(0, 0, 99, 99))
    content = content.copy()
    content[5, 5] = 77
    made = pictures.render(frame(content, 1), size=MODEL)
    assert made == ScreenshotRenderer().render(frame(content, 1), size=MODEL)


@pytest.mark.parametrize(("name", "kind"), [("jpeg", "JPEG"), ("webp", "WEBP")])
def test_lossy_formats_follow_the_quality(name: PictureFormat, kind: str) -> None:
    pictures = ScreenshotRenderer()
    good = pictures.render(frame(pixels()), size=MODEL, format=name, quality=95)
    poor = pictures.render(frame(pixels()), size=MODEL, format=name, quality=20)
    part = pictures.render(
        frame(pixels()), size=Size(64, 64), region=Region(0, 0, 64, 64), format=name
    )
    assert len(good) > len(poor)
    assert [Image.open(io.BytesIO(data)).format for data in (good, part)] == [kind, kind]
    assert Image.open(io.BytesIO(good)).size == MODEL
