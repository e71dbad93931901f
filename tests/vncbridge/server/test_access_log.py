import asyncio
import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from starlette.types import Message, Receive, Scope, Send

from deskhand.vncbridge.auth.policy import Principal
from deskhand.vncbridge.server.access_log import AccessLog
from deskhand.vncbridge.server.json_logs import logged

CHAT, PARENT = str(uuid4()), str(uuid4())


class Clock:
    """Goes on half a second each time it is looked at."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 0.5
        return self.now


@pytest.fixture
def file(tmp_path: Path) -> Iterator[Path]:
    with logged(tmp_path / "logs"):
        yield tmp_path / "logs" / "access.jsonl"


def ask(*messages: Message, error: Exception | None = None, **more: Any) -> None:
    headers = more.pop("headers", {})
    pairs = [(key.lower().encode(), value.encode()) for key, value in headers.items()]
    scope: Scope = {"type": "http", "method": "GET", "path": "/api/v0/x", "headers": pairs} | more

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        scope.setdefault("state", {})["principal"] = Principal("owner")
        for message in messages:
            await send(message)
        if error is not None:
            raise error

    async def receive() -> Message:
        raise AssertionError

    async def send(message: Message) -> None:
        pass

    log = AccessLog(app, clock=Clock(), wall=lambda: 0.0, new_id=lambda: "r1")
    asyncio.run(log(scope, receive, send))


def lines(file: Path) -> list[Any]:
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


STARTED: Message = {"type": "http.response.start", "status": 200, "headers": []}


def test_a_request_is_one_line_with_its_chat(file: Path) -> None:
    headers = {
        "Deskhand-Chat-Id": CHAT,
        "Coder-Ancestor-Chat-Ids": json.dumps([PARENT, "no uuid"]),
        "Deskhand-Tool-Call-Id": "call-1",
        "Authorization": "Bearer dh_secret",
    }
    ask(STARTED, headers=headers, query_string=b"ticket=secret")
    assert lines(file) == [
        {
            "time": "1970-01-01T00:00:00.000+00:00",
            "method": "GET",
            "path": "/api/v0/x",
            "status": 200,
            "duration_ms": 500.0,
            "caller": "owner",
            "chat_id": CHAT,
            "ancestor_chat_ids": [PARENT],
            "tool_call_id": "call-1",
            "request_id": "r1",
        }
    ]
    assert "secret" not in file.read_text()


@pytest.mark.parametrize("ancestors", ["{", "5", "[]", "[" * 20_000])
def test_without_a_chat_there_are_no_fields_of_one(file: Path, ancestors: str) -> None:
    ask(STARTED, headers={"Deskhand-Ancestor-Chat-Ids": ancestors})
    ask(STARTED, headers={"Coder-Chat-Id": "x"})
    ask(STARTED, headers={"Coder-Chat-Id": CHAT, "Coder-Ancestor-Chat-Ids": ancestors})
    assert [line.get("chat_id") for line in lines(file)] == [None, None, CHAT]
    assert not any("ancestor_chat_ids" in line for line in lines(file))


@pytest.mark.parametrize(
    ("path", "chat"),
    [
        (f"/api/v0/chats/{CHAT}/messages", CHAT),
        (f"/api/v0/runs/{CHAT}", CHAT),
        (f"/api/v0/chats/{'a' * 36}", None),
        (f"/api/v0/files/{CHAT}", None),
    ],
    # The id is another one in each worker.
    ids=["chat", "run", "no uuid", "file"],
)
def test_a_request_about_a_run_names_it(file: Path, path: str, chat: str | None) -> None:
    ask(STARTED, path=path)
    assert lines(file)[0].get("chat_id") == chat


def test_records_of_a_request_have_its_id(file: Path) -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        logging.getLogger("deskhand.tools.somewhere").info("in it")

    async def receive() -> Message:
        raise AssertionError

    async def send(message: Message) -> None:
        raise AssertionError

    scope: Scope = {"type": "http", "method": "GET", "path": "/x", "headers": []}
    asyncio.run(AccessLog(app, new_id=lambda: "r7")(scope, receive, send))
    (record,) = lines(file.with_name("service.jsonl"))
    assert record["request_id"] == lines(file)[0]["request_id"] == "r7"


def test_what_breaks_is_logged_too(file: Path) -> None:
    with pytest.raises(RuntimeError):
        ask(error=RuntimeError())
    assert lines(file)[0]["status"] == 500


def test_websockets_are_logged_by_how_they_were_answered(file: Path) -> None:
    accepted: Message = {"type": "websocket.accept"}
    closed: Message = {"type": "websocket.close"}
    denied: Message = {"type": "websocket.http.response.start", "status": 429, "headers": []}
    for messages in ((accepted, closed), (closed,), (denied,)):
        ask(*messages, type="websocket", method="WEBSOCKET")
    assert [line["status"] for line in lines(file)] == [101, 403, 429]


def test_signs_of_life_are_not_logged(file: Path) -> None:
    ask(STARTED, path="/healthz")
    ask(type="lifespan")
    assert lines(file) == []


def test_the_chat_of_a_credential_is_logged_too(file: Path) -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        # As access control does for a credential that is bound to a chat.
        scope["headers"] = [*scope["headers"], (b"deskhand-chat-id", CHAT.encode())]

    async def unused(message: Message | None = None) -> Message:
        raise AssertionError

    scope: Scope = {"type": "http", "method": "GET", "path": "/x", "headers": []}
    asyncio.run(AccessLog(app)(scope, unused, unused))  # type: ignore[arg-type]
    assert lines(file)[0]["chat_id"] == CHAT


def test_a_line_is_built_only_where_it_is_written(tmp_path: Path) -> None:
    looks: list[str] = []

    class Caller:
        @property
        def name(self) -> str:
            looks.append("looked")
            return "owner"

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        scope["state"] = {"principal": Caller()}

    async def unused(message: Message | None = None) -> Message:
        raise AssertionError

    def request() -> None:
        scope: Scope = {"type": "http", "method": "GET", "path": "/x", "headers": []}
        asyncio.run(AccessLog(app)(scope, unused, unused))  # type: ignore[arg-type]

    request()
    assert looks == []
    with logged(tmp_path / "logs"):
        request()
    assert looks == ["looked"]
