import asyncio
import json
import threading
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from deskhand.desktop.display.hang_guard import HangGuard, HangTimeouts, Message

SOON = HangTimeouts(unprobed=0.01, reply=0.01)
SCREENSHOT = "/api/v0/desktop/screenshot"


class Server:
    """An X server that answers as it is set to."""

    def __init__(self, *, x: bool, rfb: bool) -> None:
        self.x, self.rfb = x, rfb
        self.probed = threading.Semaphore(0)

    def x_responds(self, timeout: float) -> bool:
        self.probed.release()
        return self.x

    def rfb_responds(self, timeout: float) -> bool:
        return self.rfb


class App:
    """An application that answers when it may, and also when it is cancelled."""

    def __init__(self, *, begins: bool = False) -> None:
        self.go, self.cancelled, self.released = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self._begins = begins

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if self._begins:
            await send({"type": "http.response.start", "status": 200, "headers": []})
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            # As an action that is cancelled releases its keys, which waits for the server.
            await self.released.wait()
            await send({"type": "http.response.start", "status": 409, "headers": []})
            raise RuntimeError("the display is gone") from None
        await send({"type": "http.response.body", "body": b"done"})


def run(scenario: Callable[[], Coroutine[Any, Any, None]]) -> None:
    async def limited() -> None:
        async with asyncio.timeout(20):
            await scenario()

    asyncio.run(limited())


async def answered(guard: HangGuard, path: str = SCREENSHOT, kind: str = "http") -> list[Message]:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        raise AssertionError

    await guard({"type": kind, "path": path}, receive, send)
    return sent


def test_a_call_is_answered_while_the_server_answers_nobody() -> None:
    async def scenario() -> None:
        app = App()
        guard = HangGuard(app, lambda: Server(x=False, rfb=False), SOON)
        start, body = await answered(guard)
        assert start["status"] == 503
        assert dict(start["headers"])[b"retry-after"] == b"1"
        assert "does not answer" in json.loads(body["body"])["detail"]
        await app.cancelled.wait()
        app.released.set()
        await guard.close()
        # The response of the abandoned work has no receiver.
        assert body["type"] == "http.response.body"

    run(scenario)


@pytest.mark.parametrize(
    "route",
    [
        *("action", "actions", "windows", "windows/focus", "clipboard", "accessibility"),
        *("applications", "launch", "open", "recording/start"),
    ],
)
def test_every_route_that_needs_the_display_is_guarded(route: str) -> None:
    async def scenario() -> None:
        app = App()
        app.released.set()
        guard = HangGuard(app, lambda: Server(x=False, rfb=False), HangTimeouts(0.0, 0.0))
        assert (await answered(guard, f"/api/v0/desktop/{route}"))[0]["status"] == 503
        await guard.close()

    run(scenario)


@pytest.mark.parametrize(("x", "rfb"), [(True, False), (False, True)])
def test_a_call_goes_on_while_the_server_answers_or_is_grabbed(x: bool, rfb: bool) -> None:
    async def scenario() -> None:
        app, server = App(), Server(x=x, rfb=rfb)
        guard = HangGuard(app, lambda: server, SOON)
        calls = [asyncio.create_task(answered(guard)) for _ in range(2)]
        for _ in range(3):
            await asyncio.to_thread(server.probed.acquire)
        app.go.set()
        assert [[m["body"] for m in await call] for call in calls] == [[b"done"]] * 2
        await guard.close()

    run(scenario)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/api/v0/desktop/events", "http"),
        ("/api/v0/desktop", "http"),
        ("/api/v0/desktop/recording/stop", "http"),
        ("/api/v0/read-file", "http"),
        (SCREENSHOT, "websocket"),
    ],
)
def test_other_requests_are_not_guarded(path: str, kind: str) -> None:
    async def scenario() -> None:
        app = App()
        guard = HangGuard(app, lambda: Server(x=False, rfb=False), HangTimeouts(0.0, 0.0))
        call = asyncio.create_task(answered(guard, path, kind))
        for _ in range(20):
            await asyncio.sleep(0)
        app.go.set()
        assert [message["type"] for message in await call] == ["http.response.body"]
        await guard.close()

    run(scenario)


def test_a_response_that_has_begun_is_finished() -> None:
    async def scenario() -> None:
        app, server = App(begins=True), Server(x=False, rfb=False)
        guard = HangGuard(app, lambda: server, SOON)
        call = asyncio.create_task(answered(guard))
        await asyncio.to_thread(server.probed.acquire)
        app.go.set()
        assert [message.get("status") for message in await call] == [200, None]
        await guard.close()

    run(scenario)


def test_a_client_that_goes_away_cancels_its_call() -> None:
    async def scenario() -> None:
        app = App()
        app.released.set()
        guard = HangGuard(app, lambda: Server(x=True, rfb=True), SOON)
        call = asyncio.create_task(answered(guard))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        call.cancel()
        await asyncio.wait({call})
        assert app.cancelled.is_set()
        assert call.cancelled()
        await guard.close()

    run(scenario)
