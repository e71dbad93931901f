import asyncio
import json
from typing import Any

import pytest
from starlette.types import Message, Receive, Scope, Send

from deskhand.tools.credentials.store_faults import StoreFaultMiddleware
from deskhand.tools.store.errors import StoreUnavailable

FAULT = StoreUnavailable("postgresql://db/deskhand", "the server is away", may_pass=True)


def sent(kind: str, *, begins: bool = False, fault: Exception = FAULT) -> list[Message]:
    """Return what is sent for a request that meets a fault."""
    messages: list[Message] = []

    async def failing(_scope: Scope, _receive: Receive, send: Send) -> None:
        if begins:
            await send({"type": "http.response.start", "status": 200, "headers": []})
        raise fault

    async def receive() -> Message:
        return {"type": "http.request"}

    async def send(message: Message) -> None:
        messages.append(message)

    scope: dict[str, Any] = {"type": kind, "extensions": {"websocket.http.response": {}}}
    asyncio.run(StoreFaultMiddleware(failing)(scope, receive, send))
    return messages


def test_a_request_is_answered_with_503_and_the_time_of_the_next_attempt() -> None:
    head, body = sent("http")
    assert head["status"] == 503
    assert (b"retry-after", b"1") in head["headers"]
    assert json.loads(body["body"])["message"] == "The database cannot be used."


def test_the_handshake_of_a_websocket_is_refused_with_503() -> None:
    assert sent("websocket")[0]["status"] == 503


def test_a_response_that_has_begun_is_not_answered_again() -> None:
    with pytest.raises(StoreUnavailable):
        sent("http", begins=True)


def test_a_defect_is_left_to_the_server() -> None:
    with pytest.raises(ZeroDivisionError):
        sent("http", fault=ZeroDivisionError())
