import gc
import tracemalloc
from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from deskhand.desktop.capture import snapshots as snapshots_module
from deskhand.desktop.capture.frames import Frame
from deskhand.desktop.capture.snapshots import (
    BAND_ROWS,
    Snapshots,
    maybe_changed_rows,
    merged,
    same,
    wide_rows,
)
from deskhand.desktop.geometry import Region, Size, whole

SIZE = Size(32, 100)
EVERYTHING = (whole(SIZE),)


def screen(value: int = 0) -> NDArray[np.uint8]:
    return np.full((SIZE.height, SIZE.width, 4), value, np.uint8)


def black(counter: int = 0) -> Snapshots:
    snapshots = Snapshots(SIZE, counter)
    snapshots.restore(screen())
    return snapshots


def paint(pixels: NDArray[np.uint8], region: Region, value: int) -> None:
    pixels[region.top : region.bottom, region.left : region.right] = value


def test_rows_to_capture_are_whole_bands() -> None:
    damage = [Region(0, 0, 1, 1), Region(3, 50, 9, 60), Region(0, 95, 32, 130)]
    assert Snapshots(SIZE).rows(damage) == ((0, 24), (48, 100))
    assert Snapshots(SIZE).rows([Region(0, 50, 1, 51)]) == ((48, 72),)
    assert Snapshots(SIZE).rows([Region(0, 50, 0, 51)]) == ()


def test_differences_are_copied_and_returned() -> None:
    snapshots = black()
    source = screen()
    paint(source, Region(4, 30, 8, 31), 200)
    assert snapshots.update(source, [Region(0, 20, 16, 60)]) == (
        Region(0, BAND_ROWS, 16, 2 * BAND_ROWS),
    )
    assert snapshots.counter == 1
    assert np.array_equal(snapshots.pixels, source)


def test_the_same_pixels_again_are_no_change() -> None:
    snapshots = black()
    source = screen(3)
    snapshots.update(source, EVERYTHING)
    before = snapshots.pixels
    assert snapshots.update(source, EVERYTHING) == ()
    assert snapshots.counter == 1
    assert snapshots.pixels is before


def test_only_the_damaged_rows_are_read() -> None:
    snapshots = black()
    source = screen(9)
    snapshots.update(source, [Region(0, 0, 32, 10)])
    assert (snapshots.pixels[:BAND_ROWS] == 9).all()
    assert (snapshots.pixels[BAND_ROWS:] == 0).all()


def test_snapshots_cannot_be_written() -> None:
    snapshots = black()
    snapshots.update(screen(1), EVERYTHING)
    assert not snapshots.pixels.flags.writeable
    assert not snapshots.pixels[3:, 1:].flags.writeable


def test_a_buffer_is_used_again_when_the_last_view_is_gone() -> None:
    snapshots = black()
    places = set()
    for value in range(1, 20):
        snapshots.update(screen(value), EVERYTHING)
        places.add(snapshots.pixels.ctypes.data)
    gc.collect()
    assert len(places) <= 3


def test_no_buffer_is_left_after_a_release() -> None:
    snapshots = black()
    tracemalloc.start()
    try:
        for value in range(1, 6):
            snapshots.update(screen(value), EVERYTHING)
        held = snapshots.pixels
        snapshots.release()
        del held
        gc.collect()
        # Other threads of the worker allocate, too.
        own = tracemalloc.Filter(True, str(snapshots_module.__file__))
        left = tracemalloc.take_snapshot().filter_traces((own,)).statistics("filename")
    finally:
        tracemalloc.stop()
    assert sum(one.size for one in left) < SIZE.width * SIZE.height * 4


def test_a_released_snapshot_is_restored_from_the_source() -> None:
    snapshots = black()
    source = screen()
    paint(source, Region(4, 30, 8, 31), 200)
    snapshots.update(source, EVERYTHING)
    before = framed(snapshots)
    snapshots.release()
    snapshots.restore(source)
    assert np.array_equal(snapshots.pixels, before.pixels)
    assert not snapshots.pixels.flags.writeable
    assert snapshots.update(source, EVERYTHING) == ()
    assert not maybe_changed_rows(before, framed(snapshots)).any()


@settings(max_examples=50)
@given(
    st.lists(
        st.tuples(
            st.integers(0, 31), st.integers(0, 99), st.integers(1, 60), st.integers(0, 3),
            st.booleans(),
        ),
        max_size=25,
    )
)  # fmt: skip
def test_a_returned_snapshot_never_changes(
    steps: list[tuple[int, int, int, int, bool]],
) -> None:
    snapshots = black()
    source = screen()
    kept: list[tuple[NDArray[np.uint8], NDArray[np.uint8]]] = []
    for left, top, height, value, keep in steps:
        region = Region(left, top, 32, min(100, top + height))
        paint(source, region, value)
        snapshots.update(source, [region])
        if value == 3:
            snapshots.release()
            snapshots.restore(source)
        assert np.array_equal(snapshots.pixels, source)
        if keep:
            # A part is enough to keep the whole: that is what a crop holds.
            kept.append((snapshots.pixels[5:90, 2:], source[5:90, 2:].copy()))
        elif kept:
            kept.pop(0)
        assert all(np.array_equal(view, copy) for view, copy in kept)


def framed(snapshots: Snapshots, instance: str = "") -> Frame:
    return Frame(snapshots.pixels, snapshots.counter, 0.0, instance, snapshots.changed_at)


def test_two_frames_give_the_rows_that_may_differ() -> None:
    snapshots = black(7)
    source = screen()
    first = framed(snapshots)
    frames = [first]
    for top in (99, 30):
        source[top] += 1
        snapshots.update(source, EVERYTHING)
        frames.append(framed(snapshots))
    assert np.flatnonzero(maybe_changed_rows(first, frames[1])).tolist() == list(range(96, 100))
    assert np.flatnonzero(maybe_changed_rows(frames[1], frames[2])).tolist() == list(range(24, 48))
    assert maybe_changed_rows(first, frames[2]).sum() == 28
    assert not maybe_changed_rows(frames[2], frames[2]).any()


def test_frames_without_common_history_may_differ_everywhere() -> None:
    snapshots = black()
    first = framed(snapshots)
    source = screen()
    source[0] = 1
    snapshots.update(source, EVERYTHING)
    later = framed(snapshots)
    assert maybe_changed_rows(first, framed(snapshots, "next")).all()
    assert maybe_changed_rows(later, first).all()
    assert maybe_changed_rows(first, replace(later, changed_at=None)).all()
    assert maybe_changed_rows(replace(first, changed_at=None), later).all()


def test_the_change_counters_of_a_frame_never_change() -> None:
    snapshots = black()
    changed_at = snapshots.changed_at
    snapshots.update(screen(1), EVERYTHING)
    assert not changed_at.any()
    assert not changed_at.flags.writeable


def test_bands_are_equal_when_all_their_integers_are() -> None:
    one = wide_rows(screen())
    for row in range(SIZE.height):
        other = one.copy()
        other[row, -1] = 1
        assert not same(one, other)
    assert same(one, one.copy())


def test_integers_are_as_wide_as_the_rows_allow() -> None:
    assert wide_rows(np.zeros((3, 4, 4), np.uint8)).shape == (3, 2)
    assert wide_rows(np.zeros((3, 5, 4), np.uint8)).shape == (3, 5)


def regions(count: int) -> Iterable[Region]:
    return (Region(i, 2 * i, i + 1, 2 * i + 5) for i in range(count))


def test_few_regions_are_kept_once_each() -> None:
    assert merged([*regions(3), *regions(2)]) == tuple(regions(3))
    assert merged([]) == ()


def test_a_region_inside_another_is_dropped() -> None:
    assert merged([Region(2, 2, 3, 3), Region(0, 0, 9, 9), Region(8, 8, 10, 10)]) == (
        Region(0, 0, 9, 9),
        Region(8, 8, 10, 10),
    )


def test_many_regions_become_their_bounding_box() -> None:
    assert merged(list(regions(50))) == (Region(0, 0, 50, 103),)
