import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from fastapi import FastAPI, HTTPException, Request, Response
from starlette.types import Message

from deskhand.desktop.errors import DesktopRefused
from deskhand.desktop.own_api.own_api import ApiCaller, OwnApi
from deskhand.desktop.tool_calls.caller import TOOL
from deskhand.recording.step import Step
from deskhand.vncbridge.auth.credentials import Credentials
from deskhand.vncbridge.auth.middleware import install_auth
from deskhand.vncbridge.auth.policy import AccessPolicy, Principal

TOKEN = b"Bearer dh_test"
CHAT = b"5e0f3a52-0c1b-5f0e-9a34-0d8a4b9f6c11"


class Service:
    """An application with access control whose routes report what they receive."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.cancelled = asyncio.Event()
        self.entered = asyncio.Event()
        app = FastAPI()

        @app.post("/echo")
        async def echo(request: Request) -> dict[str, Any]:
            return {
                "body": (await request.body()).decode(),
                "query": dict(request.query_params),
                "headers": dict(request.headers),
                "tool": request.scope.get(TOOL),
            }

        @app.get("/picture")
        async def picture() -> Response:
            return Response(b"\x89PNG", media_type="image/png", headers={"ETag": '"7"'})

        @app.get("/refused")
        async def refused() -> None:
            raise HTTPException(409, {"message": "No.", "code": "human_in_control"})

        @app.get("/endless")
        async def endless(request: Request) -> None:
            await request.body()
            self.entered.set()
            try:
                await request.receive()
            except asyncio.CancelledError:
                self.cancelled.set()
                raise

        credentials = Credentials("cafe0123", lambda: 1_000_000.0)
        credentials.accept_token("dh_test", Principal("owner"))
        install_auth(app, AccessPolicy(), credentials)
        self.api = OwnApi(app, self.steps.append, iter((10.0, 12.5)).__next__)

    def caller(self, *headers: tuple[bytes, bytes], token: bytes = TOKEN) -> ApiCaller:
        base = [(b"host", b"localhost"), (b"authorization", token)]
        return self.api.for_request(
            {"type": "http", "scheme": "http", "headers": [*base, *headers], "client": None}
        )


def with_service(scenario: Callable[[Service], Awaitable[None]]) -> None:
    async def run() -> None:
        await scenario(Service())

    asyncio.run(run())


def test_a_route_receives_body_query_and_tool() -> None:
    async def scenario(service: Service) -> None:
        value = await service.caller().request(
            "POST", "/echo", json={"a": 1}, params={"b": "c d"}, tool="osworld.execute"
        )
        assert value["body"] == '{"a": 1}'
        assert value["query"] == {"b": "c d"}
        assert value["tool"] == "osworld.execute"
        assert value["headers"]["content-length"] == "8"

    with_service(scenario)


async def passed_on(service: Service, path: str) -> list[Message]:
    """Return the messages by which a client is answered."""
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def gone() -> Message:
        return {"type": "http.disconnect"}

    await service.caller().pass_on(
        *(path, gone, send),
        headers={"Content-Type": "image/x"},
        refused=lambda error: Response(str(error), error.status),
    )
    return sent


def test_the_bytes_of_a_route_are_passed_on() -> None:
    async def scenario(service: Service) -> None:
        start, *bodies = await passed_on(service, "/picture")
        assert start["status"] == 200
        headers = dict(start["headers"])
        assert headers[b"etag"] == b'"7"'
        assert [headers[name] for name in headers if name.lower() == b"content-type"] == [
            b"image/x"
        ]
        assert b"".join(one.get("body", b"") for one in bodies) == b"\x89PNG"

    with_service(scenario)


def test_a_refusal_is_answered_in_the_callers_format() -> None:
    async def scenario(service: Service) -> None:
        start, body = await passed_on(service, "/refused")
        assert (start["status"], body["body"]) == (409, b"No.")

    with_service(scenario)


def test_only_the_headers_that_decide_about_access_are_forwarded() -> None:
    async def scenario(service: Service) -> None:
        caller = service.caller(
            *((b"deskhand-chat-id", CHAT), (b"deskhand-tool-call-id", b"call-1")),
            *((b"content-length", b"99"), (b"accept", b"text/html")),
        )
        sent = (await caller.request("POST", "/echo", json={}))["headers"]
        assert set(sent) == {
            *("host", "authorization", "deskhand-chat-id", "content-type", "content-length")
        }
        assert caller.chat_id == CHAT.decode()

    with_service(scenario)


def test_the_tool_of_a_client_is_none() -> None:
    async def scenario(service: Service) -> None:
        caller = service.caller((b"deskhand.tool", b"forged"))
        assert (await caller.request("POST", "/echo", json={}))["tool"] is None
        assert caller.chat_id == ""

    with_service(scenario)


def test_a_body_may_be_streamed() -> None:
    async def parts() -> AsyncIterator[bytes]:
        yield b"one "
        yield b"two"

    async def scenario(service: Service) -> None:
        value = await service.caller().request("POST", "/echo", content=parts())
        assert value["body"] == "one two"
        assert value["headers"]["content-type"] == "application/octet-stream"

    with_service(scenario)


def test_bytes_and_headers_of_an_answer_are_returned() -> None:
    async def scenario(service: Service) -> None:
        caller = service.caller()
        assert await caller.request("GET", "/picture") == b"\x89PNG"
        reply = await caller.send("GET", "/picture", headers={"If-None-Match": '"6"'})
        assert (reply.status, reply.headers["etag"]) == (200, '"7"')

    with_service(scenario)


def test_a_refusal_of_a_route_is_raised_and_send_returns_it() -> None:
    async def scenario(service: Service) -> None:
        caller = service.caller()
        with pytest.raises(DesktopRefused) as caught:
            await caller.request("GET", "/refused")
        assert (caught.value.status, caught.value.code) == (409, "human_in_control")
        assert (await caller.send("GET", "/refused")).status == 409

    with_service(scenario)


def test_the_credential_of_the_client_decides() -> None:
    async def scenario(service: Service) -> None:
        with pytest.raises(DesktopRefused) as caught:
            await service.caller(token=b"Bearer dh_wrong").request("GET", "/picture")
        assert caught.value.status == 401

    with_service(scenario)


def test_a_cancelled_call_cancels_the_route() -> None:
    async def scenario(service: Service) -> None:
        call = asyncio.create_task(service.caller().request("GET", "/endless"))
        entered = asyncio.create_task(service.entered.wait())
        await asyncio.wait({call, entered}, return_when=asyncio.FIRST_COMPLETED)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert service.cancelled.is_set()

    with_service(scenario)


def test_a_step_has_the_times_of_its_block() -> None:
    async def scenario(service: Service) -> None:
        with service.caller((b"coder-chat-id", CHAT)).step("osworld.execute", "ls"):
            pass
        assert service.steps == [
            Step(
                chat_id=CHAT.decode(),
                tool="osworld.execute",
                title="ls",
                started=10.0,
                ended=12.5,
            )
        ]

    with_service(scenario)


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (DesktopRefused(409, "No.", "a person"), "No. a person"),
        (asyncio.CancelledError(), "cancelled"),
    ],
)
def test_a_step_that_fails_has_its_error(error: BaseException, text: str) -> None:
    async def scenario(service: Service) -> None:
        with pytest.raises(type(error)), service.caller().step("osworld.open", "a page"):
            raise error
        assert service.steps[0].error == text

    with_service(scenario)
