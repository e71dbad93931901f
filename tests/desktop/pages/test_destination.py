"""Addresses that are navigated to."""

from pathlib import PurePosixPath

import pytest

from deskhand.desktop.pages.destination import destination, file_of
from deskhand.desktop.pages.errors import BrowserCallFailed


@pytest.mark.parametrize(
    ("wanted", "opened"),
    [
        ("back", "back"),
        (" Reload ", "reload"),
        ("example.com/a", "https://example.com/a"),
        ("example.com:8080", "https://example.com:8080"),
        ("localhost:80/a", "http://localhost:80/a"),
        ("127.0.0.1", "http://127.0.0.1"),
        ("/tmp/a b", "file:///tmp/a b"),
        ("about:blank", "about:blank"),
        ("HTTP://a/", "HTTP://a/"),
        ("data:text/html,x", "data:text/html,x"),
    ],
)
def test_the_scheme_may_be_left_out(wanted: str, opened: str) -> None:
    assert destination(wanted) == opened


@pytest.mark.parametrize(
    ("wanted", "status"),
    [
        ("chrome://settings", 403),
        ("javascript:alert(1)", 403),
        ("view-source:http://a", 403),
        ("about:config", 403),
        ("http://", 400),
        ("http://[", 400),
        ("x" * 8_001, 400),
    ],
)
def test_other_addresses_are_refused(wanted: str, status: int) -> None:
    with pytest.raises(BrowserCallFailed) as failed:
        destination(wanted)
    assert failed.value.status == status


def test_the_file_of_an_address_is_known() -> None:
    assert file_of("file:///tmp/a%20b") == PurePosixPath("/tmp/a b")
    assert file_of("file://") == PurePosixPath("/")
    assert file_of("http://a/b") is None
