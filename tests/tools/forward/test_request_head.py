from dataclasses import replace

import pytest

from deskhand.tools.forward.request_head import DialectRoute, HeadRefused, rewritten

ROUTE = DialectRoute("/api/v0/desktop/as/osworld", "localhost", "dh_1")


def head(*lines: str, first: str = "GET /status HTTP/1.1") -> bytes:
    return "\r\n".join([first, *lines, "", ""]).encode()


def test_the_head_gets_the_path_the_host_and_the_token_of_the_service() -> None:
    asked = head("Host: 127.0.0.1:8000", "Accept: */*", "Content-Length: 2")
    assert rewritten(asked, ROUTE).decode().split("\r\n") == [
        "GET /api/v0/desktop/as/osworld/status HTTP/1.1",
        "Host: localhost",
        "Authorization: Bearer dh_1",
        "Connection: close",
        "Accept: */*",
        "Content-Length: 2",
        "",
        "",
    ]


def test_credentials_and_connection_headers_of_the_client_are_dropped() -> None:
    asked = head(
        *("host: localhost", "authorization: Basic x", "Cookie: a=b"),
        *("Connection: keep-alive", "Keep-Alive: 5", "Proxy-Connection: x"),
    )
    assert rewritten(asked, ROUTE).count(b"\r\n") == 5


def test_a_websocket_keeps_its_upgrade() -> None:
    asked = head("Host: localhost", "Connection: Upgrade", "Upgrade: websocket")
    assert b"Connection: Upgrade\r\nUpgrade: websocket" in rewritten(asked, ROUTE)


@pytest.mark.parametrize("host", ["evil.example", "10.0.0.1", "localhost@evil.example"])
def test_a_foreign_host_is_refused(host: str) -> None:
    with pytest.raises(HeadRefused) as caught:
        rewritten(head(f"Host: {host}"), ROUTE)
    assert caught.value.status == 421


@pytest.mark.parametrize("hosts", [(), ("Host: localhost", "Host: localhost")])
def test_a_request_has_one_host(hosts: tuple[str, ...]) -> None:
    with pytest.raises(HeadRefused) as caught:
        rewritten(head(*hosts), ROUTE)
    assert caught.value.status == 421


def test_a_page_is_refused() -> None:
    with pytest.raises(HeadRefused) as caught:
        rewritten(head("Host: localhost", "Origin: http://localhost"), ROUTE)
    assert caught.value.status == 403
    answer = caught.value.response()
    assert answer.startswith(b"HTTP/1.1 403 ")
    assert answer.endswith(b'{"message": "Pages may not use this port: send no Origin."}')


@pytest.mark.parametrize(
    "first",
    [
        "GET /",
        "GET http://a/ HTTP/1.1",
        "GET / HTTP/2",
        "GET /a b HTTP/1.1",
        "CONNECT a:1 HTTP/1.1",
    ],
)
def test_a_malformed_request_line_is_refused(first: str) -> None:
    with pytest.raises(HeadRefused) as caught:
        rewritten(head("Host: localhost", first=first), ROUTE)
    assert caught.value.status == 400


@pytest.mark.parametrize("line", ["nothing", ": x", "A : x", " folded: x", "A: x\ny"])
def test_a_malformed_header_is_refused(line: str) -> None:
    with pytest.raises(HeadRefused) as caught:
        rewritten(head("Host: localhost", line), ROUTE)
    assert caught.value.status == 400


@pytest.mark.parametrize(
    ("target", "sent"),
    [
        ("/json/version", "/json/version?base=127.0.0.1%3A9222"),
        ("/json/list?t=1", "/json/list?t=1&base=127.0.0.1%3A9222"),
        ("/devtools/page/1", "/devtools/page/1"),
    ],
)
def test_a_service_that_answers_with_addresses_learns_that_of_the_port(
    target: str, sent: str
) -> None:
    route = replace(ROUTE, prefix="/as/cdp", names_base=True)
    asked = head("Host: 127.0.0.1:9222", first=f"GET {target} HTTP/1.1")
    assert rewritten(asked, route).startswith(f"GET /as/cdp{sent} HTTP/1.1\r\n".encode())
