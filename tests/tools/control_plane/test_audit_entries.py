import pytest

from deskhand.tools.control_plane.audit_entries import AnsweredRequest, AuditEntry, entry_of
from deskhand.vncbridge.auth.policy import Principal

OWNER = Principal("owner")
GUEST = Principal("guest", ("desktop:d1:control",), ("token:0123456789abcdef01",))
D1 = "/api/v0/desktops/d1"


def answered(
    method: str,
    path: str,
    principal: Principal | None = OWNER,
    *,
    kind: str = "http",
    status: int = 200,
    body: bytes = b"",
) -> AuditEntry | None:
    return entry_of(AnsweredRequest(kind, method, path, status, "127.0.0.1", principal, body))


def test_a_request_that_changes_a_desktop_is_recorded_with_its_credential() -> None:
    found = answered("POST", f"{D1}/desktop/action", GUEST)
    assert found == AuditEntry(
        "guest",
        "desktop.request",
        "d1",
        {
            "path": f"{D1}/desktop/action",
            "status": 200,
            "method": "POST",
            "credential": "token:0123456789abcdef",
        },
    )


@pytest.mark.parametrize(
    ("method", "path", "action", "subject"),
    [
        ("DELETE", D1, "desktop.request", "d1"),
        ("PUT", "/api/v0/secrets/mail", "request", "mail"),
        ("POST", "/api/v0/chats/c1/messages", "request", "c1"),
        ("POST", "/api/v0/tokens", "request", ""),
        ("POST", "/logout", "signed_out", ""),
        ("DELETE", f"{D1}/desktop/lease", "desktop.hand_back", "d1"),
    ],
)
def test_the_action_and_the_subject_follow_from_the_path(
    method: str, path: str, action: str, subject: str
) -> None:
    found = answered(method, path)
    assert found is not None
    assert (found.actor, found.action, found.subject) == ("owner", action, subject)
    assert "credential" not in found.details


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_reads_are_left_out(method: str) -> None:
    assert answered(method, f"{D1}/desktop/screenshot") is None


def test_a_live_view_is_recorded_and_other_websockets_are_not() -> None:
    view = answered("", f"{D1}/desktop/vnc", GUEST, kind="websocket", status=101)
    assert view is not None
    assert (view.action, view.subject) == ("desktop.live_view", "d1")
    assert "method" not in view.details
    assert answered("", f"{D1}/desktop/lease/watch", kind="websocket", status=101) is None


@pytest.mark.parametrize(
    ("body", "action"),
    [
        (b'{"action": "request", "name": "Ada"}', "desktop.control_requested"),
        (b'{"action": "take", "name": "Ada"}', "desktop.take_over"),
        (b'{"action": "release", "name": "Ada"}', "desktop.hand_back"),
    ],
)
def test_take_overs_are_recorded_with_the_person(body: bytes, action: str) -> None:
    found = answered("POST", f"{D1}/desktop/lease", body=body)
    assert found is not None
    assert (found.action, found.details["person"]) == (action, "Ada")


def test_a_person_who_has_signed_in_takes_over_under_no_other_name() -> None:
    ada = Principal("Ada", ("desktop:d1:control",), token_id="person:p1")
    found = answered("POST", f"{D1}/desktop/lease", ada, body=b'{"action": "take", "name": "Bob"}')
    assert found is not None
    assert (found.actor, found.details["person"]) == ("Ada", "Ada")


@pytest.mark.parametrize("body", [b'{"action": "renew"}', b"[]", b"{", b""])
def test_a_renewed_lease_is_no_event(body: bytes) -> None:
    assert answered("POST", f"{D1}/desktop/lease", body=body) is None


def test_sign_ins_are_recorded_also_those_that_were_refused() -> None:
    signed_in = answered("POST", "/api/v0/login", Principal("browser", via=("session:abc",)))
    assert signed_in is not None
    assert (signed_in.actor, signed_in.action) == ("browser", "signed_in")
    assert signed_in.details["client"] == "127.0.0.1"
    refused = answered("POST", "/api/v0/login", None, status=401)
    assert refused is not None
    assert (refused.actor, refused.action) == ("", "sign_in.refused")


def test_a_ticket_of_a_page_is_not_recorded() -> None:
    assert answered("POST", "/api/v0/login/tickets", OWNER) is None


def test_without_a_principal_nothing_else_is_recorded() -> None:
    assert answered("POST", "/healthz", None) is None


def test_a_call_of_a_tool_is_recorded_with_its_chat_and_desktop() -> None:
    path, call = "/api/v0/tools/execute", {"chat": "c1", "desktop": "d1"}
    found = entry_of(AnsweredRequest("http", "POST", path, 200, "127.0.0.1", OWNER, b"", call))
    assert found is not None
    assert (found.action, found.subject) == ("request", "c1")
    assert found.details.items() >= {"path": path, "desktop": "d1"}.items()


def test_over_mcp_only_the_calls_of_tools_are_recorded() -> None:
    call = {"tool": "execute", "chat": "c1"}
    facts = ("http", "POST", "/mcp", 200, "127.0.0.1", OWNER, b"")
    found = entry_of(AnsweredRequest(*facts, call))
    assert found is not None
    assert (found.subject, found.details["tool"]) == ("c1", "execute")
    assert answered("POST", "/mcp/") is None
