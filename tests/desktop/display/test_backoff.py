from hypothesis import given
from hypothesis import strategies as st

from deskhand.desktop.display.backoff import LONGEST_SECONDS, REMEMBERED_SECONDS, pause, recent

moments = st.lists(st.floats(0, 1000), max_size=30)


def test_the_first_end_is_followed_by_a_start_at_once() -> None:
    assert pause([], 100.0) == 0.0
    assert pause([100.0], 100.0) == 0.0


def test_each_further_end_doubles_the_pause_up_to_a_limit() -> None:
    found = [pause([100.0] * count, 100.0) for count in range(2, 12)]
    assert found == [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0, 30.0, 30.0]


def test_what_was_long_ago_does_not_count() -> None:
    now = 100.0 + REMEMBERED_SECONDS
    assert recent([100.0, 150.0], now) == (150.0,)
    assert pause([100.0, 150.0], now) == 0.0


@given(moments, st.floats(0, 2000))
def test_the_pause_is_never_negative_nor_longer_than_the_limit(
    ends: list[float], now: float
) -> None:
    assert 0 <= pause(ends, now) <= LONGEST_SECONDS
    assert pause(ends, now) <= pause([*ends, now], now)
