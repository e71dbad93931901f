import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any, cast

from deskhand.desktop.actions.catalog import ActionRecord
from deskhand.desktop.browser.debugging_pipe import PipeClient
from deskhand.desktop.dialects.cdp.connection import CdpConnection, CdpDesktop
from deskhand.desktop.dialects.cdp.root_session import RootSession
from deskhand.vncbridge.websocket.client_stream import ClientStream

PATIENCE = 20.0


class FreeLease:
    """A lease that nobody holds."""

    private = False
    person = None
    revision = 0

    async def changed(self, revision: int, seconds: float) -> None:
        await asyncio.Event().wait()

    def check_act(self, chat: str) -> None:
        pass

    def check_view(self) -> None:
        pass


class SilentBrowser:
    """A client of a pipe whose browser answers nothing."""

    def __init__(self) -> None:
        self.sent: list[Any] = []

    def send(self, message: Any) -> None:
        self.sent.append(message)

    async def messages(self) -> AsyncIterator[Any]:
        await asyncio.Event().wait()
        yield {}

    def close(self) -> None:
        pass


class OneRequest:
    """A WebSocket by which a client sends one message."""

    def __init__(self, message: Any) -> None:
        self._messages = [json.dumps(message)]
        self.answers: asyncio.Queue[Any] = asyncio.Queue()

    async def receive(self) -> str:
        if not self._messages:
            await asyncio.Event().wait()
        return self._messages.pop()

    async def send(self, message: str) -> None:
        self.answers.put_nowait(json.loads(message))


def test_a_screenshot_that_the_browser_drops_is_answered_with_an_error() -> None:
    async def scenario() -> None:
        steps: list[ActionRecord] = []
        browser, stream = SilentBrowser(), OneRequest({"id": 7, "method": "Page.captureScreenshot"})
        desktop = CdpDesktop(FreeLease(), steps.append, (), "/downloads", screenshot_seconds=0.0)
        connection = CdpConnection(desktop, cast(PipeClient, browser), RootSession("s1"), "")
        serving = asyncio.create_task(connection.serve(cast(ClientStream, stream)))
        answer = await asyncio.wait_for(stream.answers.get(), PATIENCE)
        assert answer["id"] == 7
        assert "no screenshot in time" in answer["error"]["message"]
        assert browser.sent == [{"id": 7, "method": "Page.captureScreenshot", "sessionId": "s1"}]
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)

    asyncio.run(scenario())
