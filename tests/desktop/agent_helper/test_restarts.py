from deskhand.desktop.agent_helper.restarts import (
    FREE_RESTARTS,
    LONGEST_SECONDS,
    REMEMBERED_SECONDS,
    pause,
)


def test_the_first_ends_are_followed_by_an_immediate_start() -> None:
    assert pause([], 0.0) == 0.0
    assert pause([1.0] * FREE_RESTARTS, 2.0) == 0.0


def test_the_pause_doubles_up_to_its_limit() -> None:
    pauses = [pause([1.0] * (FREE_RESTARTS + more), 2.0) for more in (1, 2, 3, 30)]
    assert pauses == [0.1, 0.2, 0.4, LONGEST_SECONDS]


def test_ends_of_long_ago_do_not_count() -> None:
    assert pause([1.0] * 20, 1.0 + REMEMBERED_SECONDS) == 0.0
