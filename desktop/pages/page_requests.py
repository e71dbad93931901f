"""Requests to the browser over its debugging pipe: answers find their requests, events a tab.

One client of the pipe serves all tabs. A session of the browser itself is the parent of those of
the tabs, so that all events belong to this client alone.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol

from deskhand.desktop.browser.debugging_pipe import PipeClient
from deskhand.desktop.browser.first_page import FirstPage

from .errors import PageRequestFailed, PageSilent

Json = dict[str, Any]

ANSWER_SECONDS = 10.0
FIRST_PAGE_SECONDS = 5.0
"""Limit for a browser without a page, which may be used too."""


class BrowserPipe(Protocol):
    """A debugging pipe that a client may join."""

    @property
    def closed(self) -> bool:
        """True after the end of the pipe."""

    def connect(self) -> PipeClient:
        """Return a new client."""


@dataclass(frozen=True)
class _Waiting:
    """A request without an answer."""

    session: str
    answer: asyncio.Future[Json]

    def end(self, reason: str) -> None:
        if not self.answer.done():
            self.answer.set_exception(PageSilent(reason))


class PageRequests:
    """One client of a browser's pipe; ``on_event`` gets method, parameters and session."""

    def __init__(self, pipe: BrowserPipe, on_event: Callable[[str, Json, str], None]) -> None:
        self.pipe = pipe
        self._on_event = on_event
        self._client = pipe.connect()
        self._answers: dict[int, _Waiting] = {}
        self._last = 100
        self._browser = ""
        self._reading: asyncio.Task[None] | None = None

    async def open(self, *, shown: bool = False) -> None:
        """Wait until the first page is shown, and attach to the browser.

        ``shown`` if it is known to be: the browser announces its pages to one client only.

        Raises:
            PageSilent: If it does not answer.
        """
        if not shown:
            with suppress(TimeoutError):
                async with asyncio.timeout(FIRST_PAGE_SECONDS):
                    await self._first_page()
        self._reading = asyncio.create_task(self._read())
        answer = await self.ask("Target.attachToBrowserTarget")
        self._browser = str(answer["sessionId"])

    async def ask(
        self,
        method: str,
        parameters: Json | None = None,
        session: str = "",
        seconds: float = ANSWER_SECONDS,
    ) -> Json:
        """Send a request to a session, or to the browser, and return its result.

        Raises:
            PageRequestFailed: If the browser refuses it.
            PageSilent: If there is no answer in time, or its page crashes meanwhile.
        """
        if self.pipe.closed:
            raise PageSilent("the browser has ended")
        self._last += 1
        number = self._last
        request: Json = {"id": number, "method": method, "params": parameters or {}}
        target = session or self._browser
        answer: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        self._answers[number] = _Waiting(target, answer)
        self._client.send(request | ({"sessionId": target} if target else {}))
        try:
            async with asyncio.timeout(seconds):
                message = await answer
        except TimeoutError:
            raise PageSilent(f"no answer to {method} within {seconds:g} s") from None
        finally:
            self._answers.pop(number, None)
        if "error" in message:
            raise PageRequestFailed(str(message["error"].get("message", "")))
        result: Json = message.get("result", {})
        return result

    async def close(self) -> None:
        """Leave the pipe; the sessions end."""
        self._client.close()
        if self._reading is not None:
            await asyncio.wait([self._reading])

    async def _first_page(self) -> None:
        page = FirstPage()
        self._client.send(page.begin())
        async for message in self._client.messages():
            for request in page.received(message):
                self._client.send(request)
            if page.shown:
                return

    async def _read(self) -> None:
        async for message in self._client.messages():
            waiting = self._answers.get(message["id"]) if "id" in message else None
            if waiting is not None and not waiting.answer.done():
                waiting.answer.set_result(message)
            elif "method" in message:
                parameters = message.get("params")
                method, session = str(message["method"]), str(message.get("sessionId", ""))
                self._on_event(method, parameters if isinstance(parameters, dict) else {}, session)
                if method == "Inspector.targetCrashed":
                    self._end_waiting("the page has crashed", session)
        self._end_waiting("the browser has ended")

    def _end_waiting(self, reason: str, session: str = "") -> None:
        """End the requests to a session, or all."""
        for waiting in self._answers.values():
            if session in ("", waiting.session):
                waiting.end(reason)
