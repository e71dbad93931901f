from hypothesis import given
from hypothesis import strategies as st

from deskhand.recording.timing.frame_rate import FrameRateLimit

TIMES = st.lists(st.floats(0.0, 60.0), max_size=40).map(sorted)


def painted(pace: FrameRateLimit, begin: int, end: int) -> None:
    """Ten times a second."""
    for tenth in range(10 * begin, 10 * end + 1):
        pace.painted(tenth / 10)


def test_a_still_screen_and_one_that_just_began_to_move_get_the_full_rate() -> None:
    pace = FrameRateLimit(5.0, 5)
    assert pace.fps(15) == 15
    painted(pace, 0, 5)
    assert pace.fps(15) == 15


def test_an_animation_gets_a_lower_rate_and_never_a_higher() -> None:
    pace = FrameRateLimit(5.0, 5)
    painted(pace, 0, 6)
    assert pace.fps(15) == 5
    assert pace.fps(2) == 2


def test_input_and_a_pause_bring_the_full_rate_back() -> None:
    pace = FrameRateLimit(5.0, 5)
    painted(pace, 0, 6)
    pace.input(6.0)
    assert pace.fps(15) == 15
    painted(pace, 6, 12)
    assert pace.fps(15) == 5
    painted(pace, 14, 15)
    assert pace.fps(15) == 15


@given(TIMES, st.floats(0.0, 60.0))
def test_within_five_seconds_after_input_the_rate_is_full(paints: list[float], at: float) -> None:
    pace = FrameRateLimit(5.0, 5)
    pace.input(at)
    for paint in paints:
        pace.painted(paint)
        if paint <= at + 5.0:
            assert pace.fps(15) == 15
