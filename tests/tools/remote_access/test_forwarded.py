import pytest

from deskhand.tools.remote_access.errors import InvalidRemoteAccess
from deskhand.tools.remote_access.forwarded import (
    ForwardedRequest,
    TrustedProxies,
    forwarded_request,
    parse_proxies,
)

PROXIES = parse_proxies(["127.0.0.1", "10.0.0.0/8", "2001:db8::/32"])


@pytest.mark.parametrize(
    ("peer", "trusted"),
    [
        ("127.0.0.1", True),
        ("::ffff:127.0.0.1", True),
        ("10.9.8.7", True),
        ("2001:db8::9", True),
        ("192.0.2.1", False),
        ("a name", False),
        (None, False),
    ],
)
def test_a_proxy_is_trusted_by_its_address(peer: str | None, trusted: bool) -> None:
    assert (peer in PROXIES) is trusted


def test_peers_of_a_unix_socket_are_trusted_by_name() -> None:
    assert None in parse_proxies(["unix"])
    assert "127.0.0.1" not in parse_proxies(["unix"])


def test_a_wrong_entry_is_refused() -> None:
    with pytest.raises(InvalidRemoteAccess, match=r"^trusted_proxy: 'proxy'"):
        parse_proxies(["proxy"])


@pytest.mark.parametrize(
    ("headers", "found"),
    [
        ({}, None),
        (
            {"x-forwarded-for": "192.0.2.1", "x-forwarded-proto": "https"},
            ForwardedRequest("192.0.2.1", "https", None),
        ),
        # The client has invented the first address; the last two are those of proxies.
        (
            {"x-forwarded-for": "1.1.1.1, 192.0.2.1, 10.0.0.2"},
            ForwardedRequest("192.0.2.1", None, None),
        ),
        ({"x-forwarded-for": "10.0.0.2"}, ForwardedRequest(None, None, None)),
        ({"x-forwarded-for": "192.0.2.1, unknown"}, ForwardedRequest(None, None, None)),
        (
            {"x-forwarded-proto": "gopher", "x-forwarded-host": "evil.test, desk.example"},
            ForwardedRequest(None, None, "desk.example"),
        ),
    ],
)
def test_headers_of_a_trusted_proxy_count(
    headers: dict[str, str], found: ForwardedRequest | None
) -> None:
    assert forwarded_request("127.0.0.1", headers, PROXIES) == found


def test_headers_of_other_peers_do_not_count() -> None:
    headers = {"x-forwarded-for": "192.0.2.1", "x-forwarded-proto": "https"}
    assert forwarded_request("192.0.2.9", headers, PROXIES) is None
    assert forwarded_request("127.0.0.1", headers, TrustedProxies()) is None
