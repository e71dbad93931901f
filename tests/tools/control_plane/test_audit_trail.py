import asyncio
from typing import Any

import pytest
from starlette.types import Message, Receive, Scope, Send

from deskhand.tools.control_plane.audit_trail import CLIENT_LEFT, AuditTrail, Json
from deskhand.vncbridge.auth.policy import Principal


class Notes:
    """The audit log of a test."""

    def __init__(self) -> None:
        self.noted: list[tuple[str, str, str, Json]] = []

    def note(self, actor: str, action: str, subject: str, details: Json | None = None) -> None:
        self.noted.append((actor, action, subject, details or {}))


def passed(scope: Scope, *messages: Message, body: bytes = b"", read: bool = True) -> Notes:
    """Return the notes of a request to an application that sends these messages."""

    async def app(_: Scope, receive: Receive, send: Send) -> None:
        if read:
            await receive()
        for message in messages:
            await send(message)

    async def receive() -> Message:
        return {"type": "http.request", "body": body}

    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    notes = Notes()
    asyncio.run(AuditTrail(app, notes)(scope, receive, send))
    assert sent == list(messages)
    return notes


def scope(path: str, **more: Any) -> Scope:
    state = {"principal": Principal("owner")}
    return {"type": "http", "method": "POST", "path": path, "state": state, **more}


OK: Message = {"type": "http.response.start", "status": 200, "headers": []}
END: Message = {"type": "http.response.body", "body": b""}


def test_an_answered_request_is_recorded_once() -> None:
    notes = passed(scope("/api/v0/tokens"), OK, END)
    assert [one[:3] for one in notes.noted] == [("owner", "request", "")]


def test_the_call_of_a_lease_is_read_on_its_way() -> None:
    path = "/api/v0/desktops/d1/desktop/lease"
    notes = passed(scope(path), OK, END, body=b'{"action": "take", "name": "Ada"}')
    ((actor, action, subject, details),) = notes.noted
    assert (actor, action, subject) == ("owner", "desktop.take_over", "d1")
    assert details["person"] == "Ada"


def test_a_sign_in_is_recorded_with_the_name_of_the_new_session() -> None:
    state = {"principal": None, "signed_in": Principal("browser")}
    client = ("127.0.0.1", 1)
    notes = passed(scope("/api/v0/login", state=state, client=client), OK, END)
    assert [one[:3] for one in notes.noted] == [("browser", "signed_in", "")]


def test_a_websocket_is_recorded_when_it_is_accepted() -> None:
    view = scope("/api/v0/desktops/d1/desktop/vnc", type="websocket")
    notes = passed(view, {"type": "websocket.accept"}, {"type": "websocket.close"})
    assert [one[:3] for one in notes.noted] == [("owner", "desktop.live_view", "d1")]


def test_other_events_of_the_server_pass() -> None:
    assert passed({"type": "lifespan"}, {"type": "lifespan.startup.complete"}).noted == []


def test_a_request_that_is_not_answered_is_recorded_once_it_has_ended() -> None:
    path = "/api/v0/desktops/d1/desktop/action"
    ((actor, action, subject, details),) = passed(scope(path)).noted
    assert (actor, action, subject) == ("owner", "desktop.request", "d1")
    assert details["status"] == CLIENT_LEFT
    assert passed(scope(path, type="websocket")).noted == []


def test_a_request_that_fails_is_recorded_too() -> None:
    async def app(_: Scope, receive: Receive, send: Send) -> None:
        raise OSError("lost")

    async def receive() -> Message:
        return {"type": "http.request", "body": b""}

    async def send(_: Message) -> None:
        """Send nothing."""

    notes = Notes()
    with pytest.raises(OSError, match="lost"):
        asyncio.run(AuditTrail(app, notes)(scope("/api/v0/tokens"), receive, send))
    assert [one[1] for one in notes.noted] == ["request"]


def test_the_chat_and_the_desktop_of_a_tool_call_are_recorded() -> None:
    state = {"principal": Principal("owner"), "tool_call": {"chat": "c1", "desktop": "d1"}}
    ((_, _, subject, details),) = passed(scope("/api/v0/tools/execute", state=state), OK).noted
    assert (subject, details["desktop"]) == ("c1", "d1")


@pytest.mark.parametrize("path", ["/mcp", "/mcp/"])
def test_a_call_over_mcp_is_recorded_when_its_stream_has_ended(path: str) -> None:
    call: dict[str, str] = {}
    noted = Notes()
    request = scope(path, state={"principal": Principal("owner"), "tool_call": call})

    async def app(_: Scope, receive: Receive, send: Send) -> None:
        await send(OK)
        assert not noted.noted
        call["tool"], call["chat"] = "execute", "c1"
        await send(END)

    async def receive() -> Message:
        raise AssertionError

    async def send(message: Message) -> None:
        pass

    asyncio.run(AuditTrail(app, noted)(request, receive, send))
    ((_, action, subject, details),) = noted.noted
    assert (action, subject) == ("request", "c1")
    assert (details["tool"], details["status"]) == ("execute", 200)


def test_what_only_lists_over_mcp_is_no_event() -> None:
    state = {"principal": Principal("owner"), "tool_call": {}}
    assert not passed(scope("/mcp", state=state), OK, END).noted


def test_the_grants_of_a_desktop_that_was_started_are_recorded() -> None:
    started = {"desktop": "d1", "grants": ["127.0.0.1:3000"]}
    state = {"principal": Principal("owner"), "started_desktop": started}
    ((_, _, _, details),) = passed(scope("/api/v0/desktops", state=state), OK).noted
    assert {"desktop": "d1", "grants": ["127.0.0.1:3000"]}.items() <= details.items()
