from hypothesis import given
from hypothesis import strategies as st

from deskhand.recording.timing.frame_rate import FrameRateLimit

TIMES = st.lists(st.floats(0.0, 60.0), max_size=40).map(sorted)


def painted(limit: FrameRateLimit, begin: int, end: int) -> None:
    """Ten times a second."""
    for tenth in range(10 * begin, 10 * end + 1):
        limit.painted(tenth / 10)


def test_a_still_screen_and_one_that_just_began_to_move_get_the_full_rate() -> None:
    limit = FrameRateLimit(5.0, 5)
    assert limit.fps(15) == 15
    painted(limit, 0, 5)
    assert limit.fps(15) == 15


def test_an_animation_gets_a_lower_rate_and_never_a_higher() -> None:
    limit = FrameRateLimit(5.0, 5)
    painted(limit, 0, 6)
    assert limit.fps(15) == 5
    assert limit.fps(2) == 2


def test_input_and_a_pause_bring_the_full_rate_back() -> None:
    limit = FrameRateLimit(5.0, 5)
    painted(limit, 0, 6)
    limit.input(6.0)
    assert limit.fps(15) == 15
    painted(limit, 6, 12)
    assert limit.fps(15) == 5
    painted(limit, 14, 15)
    assert limit.fps(15) == 15


@given(TIMES, st.floats(0.0, 60.0))
def test_within_five_seconds_after_input_the_rate_is_full(paints: list[float], at: float) -> None:
    limit = FrameRateLimit(5.0, 5)
    limit.input(at)
    for paint in paints:
        limit.painted(paint)
        if paint <= at + 5.0:
            assert limit.fps(15) == 15
