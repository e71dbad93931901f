from base64 import b64encode
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskhand.vncbridge.auth.policy import (
    LARGEST_JSON,
    LARGEST_LOGIN,
    LARGEST_UPLOAD,
    AccessPolicy,
    Principal,
    RequestFacts,
    bearer_of,
    cookie_of,
    dialect_of,
    dialect_token,
    digest,
    host_allowed,
    largest_body,
)

OWNER = Principal("owner")
READ = RequestFacts(
    kind="http",
    method="GET",
    path="/api/v0/desktop",
    scheme="http",
    host="127.0.0.1:7777",
    origin=None,
    sec_fetch_site=None,
    content_type=None,
    has_body=False,
    credential="bearer",
    principal=OWNER,
)
WRITE = replace(READ, method="POST", has_body=True, content_type="application/json")
BROWSER = replace(WRITE, credential="session", origin="http://127.0.0.1:7777")


def status(facts: RequestFacts, gate: AccessPolicy | None = None) -> int | None:
    refusal = (gate or AccessPolicy()).refusal(facts)
    return None if refusal is None else refusal.status


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "127.0.0.1:7777", "127.8.8.8", "localhost:80", "a.localhost", "[::1]:7777"],
)
def test_loopback_hosts_pass(host: str) -> None:
    assert host_allowed(host, ())


@pytest.mark.parametrize(
    "host",
    [
        None,
        "",
        "me@localhost",
        "evil@127.0.0.1",
        "localhost/",
        "localhost?x",
        "localhost#x",
        "localhost\\x",
        "evil.example",
        "10.0.0.1",
        "127.0.0.1.evil.example",
        "[::1",
        "localhost.x",
    ],
)
def test_other_hosts_do_not(host: str | None) -> None:
    assert not host_allowed(host, ())


def test_a_listed_host_passes_with_and_without_its_port() -> None:
    assert host_allowed("desk.example", {"desk.example"})
    assert host_allowed("desk.example:8443", {"desk.example"})


def test_a_foreign_host_is_misdirected_even_with_a_token() -> None:
    assert status(replace(READ, host="evil.example")) == 421


@given(st.text())
def test_no_host_text_breaks_the_gate(host: str) -> None:
    assert status(replace(READ, host=host)) in (None, 421)


def test_a_token_holder_reads_and_writes() -> None:
    assert status(READ) is None
    assert status(WRITE) is None


def test_a_missing_credential_is_refused_and_a_wrong_one_is_delayed() -> None:
    refused = AccessPolicy().refusal(replace(READ, credential="none", principal=None))
    wrong = AccessPolicy().refusal(replace(READ, principal=None))
    assert refused is not None
    assert wrong is not None
    assert (refused.status, refused.wrong_credential) == (401, False)
    assert (wrong.status, wrong.wrong_credential) == (401, True)


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/login", "/assets/style.css"])
def test_open_paths_need_no_credential(path: str) -> None:
    assert status(replace(READ, path=path, credential="none", principal=None)) is None


def test_signing_in_from_a_foreign_page_is_refused() -> None:
    login = replace(
        WRITE, path="/api/v0/login", credential="none", principal=None, origin="http://evil.example"
    )
    assert status(login) == 403
    assert status(replace(login, origin="http://127.0.0.1:7777")) is None
    assert status(replace(login, origin=None)) is None


def test_a_browser_writes_from_its_own_origin_only() -> None:
    assert status(BROWSER) is None
    assert status(replace(BROWSER, origin="http://evil.example")) == 403
    assert status(replace(BROWSER, origin="http://127.0.0.1:8888")) == 403
    assert status(replace(BROWSER, origin=None)) == 403
    assert status(replace(BROWSER, origin=None, sec_fetch_site="same-origin")) is None
    assert status(replace(BROWSER, origin=None, sec_fetch_site="same-site")) == 403


def test_a_listed_origin_passes() -> None:
    gate = AccessPolicy(allowed_origins=frozenset({"https://embed.example"}))
    assert status(replace(BROWSER, origin="https://embed.example"), gate) is None


def test_a_browser_reads_without_an_origin_but_opens_no_socket_without_one() -> None:
    read = replace(READ, credential="session")
    assert status(read) is None
    assert status(replace(read, kind="websocket")) == 403
    assert status(replace(read, kind="websocket", origin="http://127.0.0.1:7777")) is None


@pytest.mark.parametrize(
    ("path", "passes"),
    [
        ("/runs/c1", True),
        ("/api/v0/files/f1", True),
        ("/api/v0/recordings/c1/video", True),
        ("/api/v0/recordings/c1/steps/3/picture", True),
        ("/api/v0/files", False),
        ("/api/v0/files/f1/pin", False),
        ("/api/v0/status", False),
        ("/api/v0/runs/c1/report.html", False),
        ("/api/v0/desktops/d1/read-file", False),
        ("/metrics", False),
        ("/a-new-route", False),
        ("/runs/../api/v0/tokens", False),
    ],
)
def test_a_cookie_alone_opens_pages_and_media_and_nothing_else(path: str, passes: bool) -> None:
    alone = replace(READ, path=path, credential="cookie", origin="http://127.0.0.1:7777")
    assert status(alone) == (None if passes else 401)
    assert status(replace(alone, credential="session")) is None
    # It changes nothing, and opens no WebSocket.
    assert status(replace(alone, method="DELETE")) == 401
    assert status(replace(alone, kind="websocket")) == 401


def test_a_cookie_alone_covers_no_conversation() -> None:
    alone = replace(READ, path="/api/v0/files/f1", credential="cookie")
    assert not AccessPolicy().permits_conversation(alone)
    assert AccessPolicy().permits_conversation(replace(alone, credential="session"))


def test_a_token_does_not_excuse_a_foreign_origin() -> None:
    assert status(replace(READ, kind="websocket", origin="http://evil.example")) == 403
    assert status(replace(READ, kind="websocket")) is None


@pytest.mark.parametrize("media_type", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_bodies_of_other_types_are_refused(media_type: str) -> None:
    assert status(replace(WRITE, content_type=media_type)) == 415


def test_only_a_token_holder_may_leave_the_type_out() -> None:
    assert status(replace(WRITE, content_type=None)) is None
    assert status(replace(BROWSER, content_type=None)) == 415


def test_parameters_of_a_media_type_do_not_matter() -> None:
    assert status(replace(WRITE, content_type="Application/JSON; charset=utf-8")) is None


def test_uploads_may_be_larger_than_json() -> None:
    assert largest_body("application/octet-stream") == LARGEST_UPLOAD
    assert largest_body("application/json; charset=utf-8") == LARGEST_JSON
    assert largest_body(None) == LARGEST_JSON
    assert largest_body("application/octet-stream", "/api/v0/login") == LARGEST_LOGIN


def test_credentials_are_read_from_headers() -> None:
    assert bearer_of("Bearer  dh_x ") == "dh_x"
    assert bearer_of("bearer ") is None
    assert bearer_of("Basic dh_x") is None
    assert bearer_of(None) is None
    assert cookie_of("a=1; deskhand_0=xyz", "deskhand_0") == "xyz"
    assert cookie_of("deskhand_0=", "deskhand_0") is None
    assert cookie_of(None, "deskhand_0") is None


def test_a_digest_hides_its_secret() -> None:
    assert "secret" not in digest("secret")
    assert digest("secret") == digest("secret") != digest("Secret")


def speaking(*scopes: str, **changes: Any) -> int | None:
    return status(replace(READ, principal=Principal("few", scopes), **changes))


def test_a_credential_opens_only_what_its_scopes_say() -> None:
    chat: dict[str, Any] = {"path": "/api/v0/chats/c1", "family": frozenset({"c1", "c0"})}
    assert speaking("chat:c0", **chat) is None
    assert speaking("chat:c9", **chat) == 403
    assert speaking("run:c1:view", **chat) is None
    assert speaking("run:c1:view", **chat, method="DELETE") == 403
    assert speaking("chat:c0", path="/api/v0/tokens") == 403


@pytest.mark.parametrize(
    ("scope", "path", "expected"),
    [
        ("run:c1:view", "/api/v0/runs/c1", False),
        ("run:c1:conversation", "/api/v0/runs/c1", True),
        ("chat:c0", "/api/v0/runs/c1", True),
        ("admin", "/api/v0/runs/c1", True),
        ("run:c1:view", "/api/v0/status", True),
        ("desktop:d1:view", "/api/v0/desktops/d1/desktop", True),
        ("run:c1:view", "/api/v0/tokens", True),
    ],
)
def test_a_share_link_covers_the_conversation_only_if_that_is_its_scope(
    scope: str, path: str, expected: bool
) -> None:
    facts = replace(
        READ, path=path, principal=Principal("few", (scope,)), family=frozenset({"c1", "c0"})
    )
    assert AccessPolicy().permits_conversation(facts) is expected
    assert AccessPolicy().permits_conversation(replace(facts, principal=None))


def test_a_socket_is_no_mere_reading() -> None:
    watch: dict[str, Any] = {"path": "/api/v0/chats/c1/git/watch", "family": frozenset({"c1"})}
    assert speaking("run:c1:view", **watch, kind="websocket") == 403
    assert speaking("chat:c1", **watch, kind="websocket") is None
    vnc: dict[str, Any] = {"path": "/api/v0/desktops/d1/desktop/vnc", "kind": "websocket"}
    assert speaking("desktop:d1:view", **vnc) is None
    assert speaking("desktop:d2:view", **vnc) == 403


def test_a_credential_bound_to_a_chat_speaks_for_it_and_those_below_only() -> None:
    tools: dict[str, Any] = {"path": "/api/v0/tools/execute"}
    assert speaking("chat:c1", **tools, speaks_for=frozenset({"c2", "c1"})) is None
    assert speaking("chat:c1", **tools, speaks_for=frozenset({"c3"})) == 403


def test_a_desktop_service_knows_which_desktop_it_is() -> None:
    gate = AccessPolicy(desktop="me")
    mine = replace(READ, principal=Principal("x", ("desktop:me:view",)))
    other = replace(READ, principal=Principal("x", ("desktop:you:view",)))
    assert (status(mine, gate), status(other, gate)) == (None, 403)


AS_OSWORLD = "/api/v0/desktop/as/osworld/file"
AS_CDP = "/api/v0/desktops/d1/desktop/as/cdp"


@pytest.mark.parametrize(
    ("path", "dialect"),
    [
        (AS_OSWORLD, "osworld"),
        (AS_CDP, "cdp"),
        ("/api/v0/desktop/action", ""),
        ("/api/v0/chats/as/cdp", ""),
        ("/api/v0/desktop/as/", ""),
    ],
)
def test_a_path_names_its_dialect(path: str, dialect: str) -> None:
    assert dialect_of(path) == dialect


def test_pages_may_not_call_a_dialect_not_even_our_own() -> None:
    own = replace(WRITE, path=AS_CDP, origin="http://127.0.0.1:7777")
    assert status(own) == 403
    assert status(replace(own, origin=None)) is None


@pytest.mark.parametrize(
    "kind", ["application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]
)
def test_forms_are_accepted_where_a_dialect_has_them(kind: str) -> None:
    form = replace(WRITE, content_type=kind)
    assert status(replace(form, path=AS_OSWORLD)) is None
    assert status(replace(form, path=AS_CDP)) == 415
    assert status(form) == 415
    assert largest_body(kind, AS_OSWORLD) == LARGEST_UPLOAD


def basic(pair: bytes) -> str:
    return "Basic " + b64encode(pair).decode()


@pytest.mark.parametrize(
    ("authorization", "token"),
    [
        ("Bearer dh_1", "dh_1"),
        (basic(b"user:dh_3"), "dh_3"),
        (basic(b":dh:3"), "dh:3"),
        (basic(b"user"), ""),
        ("Basic ???", ""),
        (basic(b"\xff:x"), ""),
        ("Digest x", None),
        (None, None),
    ],
)
def test_a_client_of_a_dialect_shows_its_token_in_two_ways(
    authorization: str | None, token: str | None
) -> None:
    assert dialect_token(authorization) == token


def test_a_ticket_may_name_the_origin_of_its_page() -> None:
    stream = replace(READ, kind="websocket", credential="ticket", origin="https://page.example")
    assert status(stream) == 403
    assert status(replace(stream, principal=replace(OWNER, origin="https://page.example"))) is None
    assert status(replace(stream, principal=replace(OWNER, origin="https://other.example"))) == 403
