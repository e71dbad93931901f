import pytest

from deskhand.tools.remote_access.errors import InvalidRemoteAccess
from deskhand.tools.remote_access.public_url import parse_public_url


@pytest.mark.parametrize(
    ("text", "host", "base", "written"),
    [
        ("https://desk.example", "desk.example", "", "https://desk.example"),
        ("https://Desk.example:443/", "desk.example", "", "https://desk.example"),
        ("https://desk.example:8443", "desk.example:8443", "", "https://desk.example:8443"),
        ("http://[2001:db8::1]:80/a/b/", "[2001:db8::1]", "/a/b", "http://[2001:db8::1]/a/b"),
    ],
)
def test_an_address_has_scheme_host_and_base_path(
    text: str, host: str, base: str, written: str
) -> None:
    found = parse_public_url(text)
    assert (found.host, found.base, found.text) == (host, base, written)
    assert found.secure is text.startswith("https")


@pytest.mark.parametrize(
    "text",
    [
        "desk.example",
        "ftp://desk.example",
        "https://",
        "https://ada@desk.example",
        "https://desk.example/?a",
        "https://desk.example/#a",
        "https://desk.example/a b",
        "https://desk.example//a",
        "https://desk.example/a/../b",
        "https://desk.example:port",
        "https://[::1/",
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(InvalidRemoteAccess, match="is no address such as"):
        parse_public_url(text)


def test_a_path_of_our_own_is_no_base_path() -> None:
    with pytest.raises(InvalidRemoteAccess, match="/api/desk is a path of Deskhand"):
        parse_public_url("https://example.com/api/desk")


def test_a_proxy_may_keep_the_base_path_or_remove_it() -> None:
    found = parse_public_url("https://example.com/desk")
    assert found.path_below("/desk/runs/1") == "/runs/1"
    assert found.path_below("/desk") == ""
    assert found.path_below("/desks/1") is None
    assert found.path_below("/runs/1") is None
    assert parse_public_url("https://example.com").path_below("/runs/1") is None
