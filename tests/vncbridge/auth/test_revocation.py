import asyncio
from collections.abc import Awaitable, Callable

import pytest
from starlette.types import Message, Receive, Scope, Send

from deskhand.vncbridge.auth.policy import Principal
from deskhand.vncbridge.auth.revocation import CredentialLifetimes
from deskhand.vncbridge.server.websocket_protocol import EXTENSION

LIMIT = 20.0
SOCKET: Scope = {"type": "websocket"}
REQUEST: Scope = {"type": "http"}
EVENTS: Message = {
    "type": "http.response.start",
    "status": 200,
    "headers": [(b"content-type", b"text/event-stream; charset=utf-8")],
}
PLAIN: Message = {"type": "http.response.start", "status": 200, "headers": []}
ACCEPT: Message = {"type": "websocket.accept"}
ANN = Principal("Ann", via=("session:1", "token:1"))


class Wire:
    """What a client gets, and the application behind it, which goes on until it is asked to end."""

    def __init__(self, begins: Message) -> None:
        self.got: list[Message] = []
        self.begun = asyncio.Event()
        self.may_begin = asyncio.Event()
        self.may_end = asyncio.Event()
        self.may_begin.set()
        self._begins = begins

    async def send(self, message: Message) -> None:
        self.got.append(message)

    async def receive(self) -> Message:
        raise NotImplementedError

    async def app(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.may_begin.wait()
        await send(self._begins)
        self.begun.set()
        await self.may_end.wait()
        await send({"type": "http.response.body", "body": b"whole"})


def played(scenario: Callable[[], Awaitable[None]]) -> None:
    async def run() -> None:
        async with asyncio.timeout(LIMIT):
            await scenario()

    asyncio.run(run())


@pytest.mark.parametrize("name", ["session:1", "token:1"])
@pytest.mark.parametrize(
    ("scope", "begins", "goodbye"),
    [
        (
            SOCKET,
            ACCEPT,
            {"type": "websocket.close", "code": 1008, "reason": "Your credential has ended."},
        ),
        (REQUEST, EVENTS, {"type": "http.response.body", "body": b""}),
    ],
)
def test_a_stream_ends_with_what_its_credential_stands_on(
    name: str, scope: Scope, begins: Message, goodbye: Message
) -> None:
    async def scenario() -> None:
        requests, wire = CredentialLifetimes(lambda: 0.0), Wire(begins)
        serving = asyncio.create_task(requests.serve(ANN, wire.app, scope, wire.receive, wire.send))
        await wire.begun.wait()
        requests.end("token:2")
        requests.end(name)
        requests.end(name)
        await serving
        assert wire.got == [begins, goodbye]

    played(scenario)


def test_a_client_that_reads_nothing_is_dropped() -> None:
    async def scenario() -> None:
        requests, wire, dropped = (
            CredentialLifetimes(lambda: 0.0),
            Wire(ACCEPT),
            list[tuple[int, str]](),
        )
        extension = {"drop": lambda code, reason: dropped.append((code, reason))}
        scope = {**SOCKET, "extensions": {EXTENSION: extension}}
        serving = asyncio.create_task(requests.serve(ANN, wire.app, scope, wire.receive, wire.send))
        await wire.begun.wait()
        requests.end("token:1")
        await serving
        assert dropped == [(1008, "Your credential has ended.")]
        assert wire.got == [ACCEPT]

    played(scenario)


def test_a_stream_ends_when_its_credential_runs_out() -> None:
    async def scenario() -> None:
        requests, wire = CredentialLifetimes(lambda: 100.0), Wire(ACCEPT)
        await requests.serve(Principal("Ann", ends=99.0), wire.app, SOCKET, wire.receive, wire.send)
        assert wire.got[-1]["code"] == 1008

    played(scenario)


def test_a_stream_that_begins_after_the_end_is_broken_off() -> None:
    async def scenario() -> None:
        requests, wire = CredentialLifetimes(lambda: 0.0), Wire(EVENTS)
        wire.may_begin.clear()
        serving = asyncio.create_task(
            requests.serve(ANN, wire.app, REQUEST, wire.receive, wire.send)
        )
        await asyncio.sleep(0)
        requests.end("session:1")
        wire.may_begin.set()
        await serving
        assert wire.got == [EVENTS, {"type": "http.response.body", "body": b""}]

    played(scenario)


@pytest.mark.parametrize(("principal", "begins"), [(ANN, PLAIN), (Principal("owner"), EVENTS)])
def test_other_answers_are_given_whole(principal: Principal, begins: Message) -> None:
    async def scenario() -> None:
        requests, wire = CredentialLifetimes(lambda: 0.0), Wire(begins)
        serving = asyncio.create_task(
            requests.serve(principal, wire.app, REQUEST, wire.receive, wire.send)
        )
        await wire.begun.wait()
        requests.end("session:1")
        wire.may_end.set()
        await serving
        assert wire.got[-1]["body"] == b"whole"

    played(scenario)


def test_a_cancelled_server_still_ends_its_requests() -> None:
    async def scenario() -> None:
        requests, wire = CredentialLifetimes(lambda: 0.0), Wire(ACCEPT)
        serving = asyncio.create_task(
            requests.serve(ANN, wire.app, SOCKET, wire.receive, wire.send)
        )
        await wire.begun.wait()
        serving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await serving
        assert wire.got == [ACCEPT]

    played(scenario)
