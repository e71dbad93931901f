import asyncio

import pytest
from starlette.types import Message, Receive, Scope, Send

from deskhand.vncbridge.server.shutdown_response import ShutdownResponse

START: Message = {"type": "http.response.start", "status": 200, "headers": []}


def sent_when_cancelled(*, ending: bool, begun: bool = False, kind: str = "http") -> list[Message]:
    """What is sent by an application that is cancelled while it waits."""
    sent: list[Message] = []

    async def scenario() -> None:
        waiting = asyncio.Event()

        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            if begun:
                await send(START)
            waiting.set()
            await asyncio.Event().wait()

        async def receive() -> Message:
            raise AssertionError("nothing more is read")

        async def send(message: Message) -> None:
            sent.append(message)

        wrapped = ShutdownResponse(app, lambda: ending)
        task = asyncio.create_task(wrapped({"type": kind}, receive, send))
        await waiting.wait()
        task.cancel()
        await task

    asyncio.run(scenario())
    return sent


def test_a_request_that_the_shutdown_interrupts_is_answered_503() -> None:
    start, body = sent_when_cancelled(ending=True)
    assert start["status"] == 503
    assert (b"retry-after", b"1") in start["headers"]
    assert body["body"] == b'{"message":"The service is shutting down."}'


@pytest.mark.parametrize(
    ("ending", "begun", "kind"),
    [(False, False, "http"), (True, True, "http"), (True, False, "websocket")],
)
def test_anything_else_is_broken_off(ending: bool, begun: bool, kind: str) -> None:
    with pytest.raises(asyncio.CancelledError):
        sent_when_cancelled(ending=ending, begun=begun, kind=kind)
