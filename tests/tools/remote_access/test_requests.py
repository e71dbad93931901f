import asyncio
from typing import Any

import pytest
from starlette.types import Message, Receive, Scope, Send

from deskhand.tools.remote_access.forwarded import parse_proxies
from deskhand.tools.remote_access.public_url import parse_public_url
from deskhand.tools.remote_access.remote_access import RemoteAccess
from deskhand.tools.remote_access.requests import RemoteRequests
from deskhand.vncbridge.auth.policy import BASE_PATH

ACCESS = RemoteAccess(parse_public_url("https://example.com/desk"), parse_proxies(["127.0.0.1"]))
TLS = {"x-forwarded-proto": "https"}


def passed(
    path: str,
    headers: dict[str, str],
    *,
    access: RemoteAccess = ACCESS,
    kind: str = "http",
    peer: str = "127.0.0.1",
) -> tuple[Scope | None, list[Message]]:
    """Return the scope that the application gets, and what was sent without it."""
    got: list[Scope] = []
    sent: list[Message] = []

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        got.append(scope)

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        raise AssertionError("nothing is read")

    scope: dict[str, Any] = {
        "type": kind,
        "scheme": "ws" if kind == "websocket" else "http",
        "path": path,
        "raw_path": path.encode(),
        "client": (peer, 5000),
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }
    asyncio.run(RemoteRequests(application, access)(scope, receive, send))
    return (got[0] if got else None), sent


def host(scope: Scope) -> list[bytes]:
    return [value for name, value in scope["headers"] if name == b"host"]


@pytest.mark.parametrize("path", ["/desk/runs/1", "/runs/1"])
def test_a_request_for_the_public_address_is_one_over_tls(path: str) -> None:
    scope, _ = passed(path, {"host": "Example.com"})
    assert scope is not None
    assert (scope["path"], scope["raw_path"], scope["scheme"]) == ("/runs/1", b"/runs/1", "https")
    assert scope[BASE_PATH] == "/desk"


def test_a_trusted_proxy_names_the_client_and_may_keep_the_host_for_itself() -> None:
    headers = {"host": "127.0.0.1:7777", "x-forwarded-for": "192.0.2.1", **TLS}
    scope, _ = passed("/desk/api/v0/live", headers, kind="websocket")
    assert scope is not None
    assert (scope["scheme"], scope["client"][0], host(scope)) == (
        "wss",
        "192.0.2.1",
        [b"example.com"],
    )


def test_headers_of_others_change_nothing() -> None:
    headers = {"host": "127.0.0.1:7777", "x-forwarded-for": "192.0.2.1", **TLS}
    scope, _ = passed("/", headers, peer="198.51.100.7")
    assert scope is not None
    assert (scope["scheme"], scope["client"][0]) == ("http", "198.51.100.7")
    assert BASE_PATH not in scope
    assert host(scope) == [b"127.0.0.1:7777"]


def test_a_program_of_this_machine_is_no_remote_one() -> None:
    scope, _ = passed("/api/v0/status", {"host": "127.0.0.1:7777"})
    assert scope is not None
    assert scope["scheme"] == "http"
    assert BASE_PATH not in scope


def test_the_host_that_a_proxy_forwards_replaces_its_own() -> None:
    access = RemoteAccess(None, parse_proxies(["127.0.0.1"]))
    headers = {"host": "127.0.0.1:7777", "x-forwarded-host": "desk.example", **TLS}
    scope, _ = passed("/", headers, access=access)
    assert scope is not None
    assert (scope["scheme"], host(scope)) == ("https", [b"desk.example"])


def test_the_home_page_gets_the_slash_that_relative_links_need() -> None:
    scope, sent = passed("/desk", {"host": "example.com"})
    assert scope is None
    assert sent[0]["status"] == 308
    assert (b"location", b"/desk/") in sent[0]["headers"]


def test_other_events_pass() -> None:
    scope, _ = passed("", {}, kind="lifespan")
    assert scope is not None
