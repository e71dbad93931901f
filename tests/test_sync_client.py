"""The client without ``await`` is the one with it."""

import pytest

from scripts.make_sync_client import NAMES, without_await, written


@pytest.mark.parametrize("name", NAMES)
def test_the_blocking_client_is_written_from_the_other_one(name: str) -> None:
    assert written(name).read_text() == without_await(name)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_of_it_is_left_to_await(name: str) -> None:
    text = written(name).read_text().partition('"""\n')[2]
    assert "async" not in text
    assert "await " not in text.replace("without ``await``", "")
