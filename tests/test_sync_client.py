"""The client without ``await`` is the one with it."""

from scripts.make_sync_client import ASYNC, SYNC, without_await


def test_the_blocking_client_is_written_from_the_other_one() -> None:
    assert SYNC.read_text() == without_await(ASYNC.read_text())


def test_nothing_of_it_is_left_to_await() -> None:
    text = SYNC.read_text().partition('"""\n')[2]
    assert "async" not in text
    assert "await " not in text.replace("without ``await``", "")
