from deskhand.desktop.network.nflog import Refusal
from deskhand.desktop.network.refusal_history import MOST_REMEMBERED, RefusalHistory

ONE = Refusal("10.0.0.1", 80, "tcp")


def test_a_repeated_refusal_is_reported_once_in_a_minute() -> None:
    history = RefusalHistory()
    assert history.is_new(ONE, 0.0)
    assert not history.is_new(ONE, 59.0)
    assert history.is_new(Refusal("10.0.0.1", 81, "tcp"), 59.0)
    assert history.is_new(ONE, 60.0)
    assert not history.is_new(ONE, 61.0)


def test_the_oldest_reports_are_forgotten_beyond_the_limit() -> None:
    history = RefusalHistory()
    for port in range(MOST_REMEMBERED + 1):
        assert history.is_new(Refusal("10.0.0.1", port, "tcp"), 0.0)
    assert history.is_new(Refusal("10.0.0.1", 0, "tcp"), 1.0)
    assert not history.is_new(Refusal("10.0.0.1", MOST_REMEMBERED, "tcp"), 1.0)
