import gc

import pytest

from deskhand.desktop.x11.shared_memory import Segment


def test_a_segment_is_zeroed_memory_that_can_be_written() -> None:
    with Segment(100) as segment:
        segment.forget()
        assert segment.array.shape == (100,)
        assert not segment.array.any()
        segment.array[50] = 7
        assert segment.array[50] == 7
    segment.close()
    gc.collect()


def test_more_than_the_kernel_gives_is_an_error() -> None:
    with pytest.raises(OSError, match=r"memory|argument|space"):
        Segment(1 << 60)
