"""One client of CDP: its WebSocket on one side, a session on the browser's pipe on the other.

The client keeps its connection while a person is in control in public; then each request that acts
is refused. A private take-over closes it, as the pages are part of the screen. When the client
leaves, or a person takes control, what it holds down is released.
"""

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any, NoReturn, Protocol

from deskhand.desktop.actions.catalog import ActionRecord
from deskhand.desktop.browser.debugging_pipe import PipeClient
from deskhand.desktop.errors import Occupied
from deskhand.vncbridge.rfb.viewers import PRIVATE
from deskhand.vncbridge.websocket.client_stream import (
    NORMAL,
    ClientStream,
    CloseReason,
    StreamEnded,
)
from deskhand.vncbridge.websocket.tunnel import until_one_ends

from .guard import acts, refusal, shows_screen, with_downloads
from .held_input import HeldInput
from .root_session import RootSession
from .steps import step_of
from .unanswered import ENDED, NO_ANSWER, UnansweredScreenshots

Json = dict[str, Any]

SERVER_ERROR = -32000
"""Code with which Chromium refuses requests itself."""
PARSE_ERROR = -32700
"""JSON-RPC 2.0, section 5.1."""
LEASE_SECONDS = 60.0


class LeaseView(Protocol):
    """The lease, as a client of CDP is subject to it."""

    @property
    def private(self) -> bool:
        """True while only the person in control may see the screen."""

    @property
    def person(self) -> object | None:
        """The person in control."""

    @property
    def revision(self) -> int:
        """A number that grows with every change."""

    async def changed(self, revision: int, seconds: float) -> None:
        """Wait until the revision differs, for at most so long."""

    def check_act(self, chat: str) -> None:
        """Check that an agent may act. Raises ``Occupied``."""

    def check_view(self) -> None:
        """Check that agents may see the screen. Raises ``Occupied``."""


@dataclass(frozen=True)
class CdpDesktop:
    """The parts of the desktop that clients of CDP are subject to."""

    control: LeaseView
    record: Callable[[ActionRecord], None]
    roots: tuple[str, ...]
    """The only trees whose files may be read; none: all."""
    downloads: str
    screenshot_seconds: float = 20.0
    """Time after which a screenshot fails that the browser does not answer."""
    clock: Callable[[], float] = time.monotonic


class CdpConnection:
    """The requests of one client, and what comes back."""

    def __init__(
        self, desktop: CdpDesktop, client: PipeClient, root: RootSession, chat: str
    ) -> None:
        self._desktop = desktop
        self._client = client
        self._root = root
        self._chat = chat
        self._held = HeldInput()
        self._screenshots = UnansweredScreenshots(desktop.screenshot_seconds)
        self._asked = asyncio.Event()
        # Clients count upwards from 0 or 1: ids of our own requests are negative.
        self._own_ids = count(-1, -1)

    async def serve(self, stream: ClientStream) -> CloseReason:
        """Relay until either side ends; return the reason for the client."""
        try:
            return await until_one_ends(
                self._to_browser(stream),
                self._to_client(stream),
                self._watch_control(),
                self._watch_screenshots(stream),
            )
        finally:
            self._release()
            self._client.close()

    async def _to_browser(self, stream: ClientStream) -> NoReturn:
        while True:
            try:
                message = json.loads(await stream.receive())
            except (ValueError, RecursionError):
                message = None
            if isinstance(message, dict):
                answer = self._requested(message)
            else:
                answer = _error({}, PARSE_ERROR, "A message is one JSON object.")
            if answer is not None:
                await stream.send(json.dumps(answer))

    async def _to_client(self, stream: ClientStream) -> NoReturn:
        async for message in self._client.messages():
            if self._root.ends(message):
                break
            own = type(message.get("id")) is int and message["id"] < 0
            passed = None if own else self._root.to_client(message)
            if passed is None or not self._screenshots.passes(passed):
                continue
            for request in self._screenshots.ended(passed):
                await stream.send(json.dumps(_error(request, SERVER_ERROR, ENDED)))
            await stream.send(json.dumps(passed))
        raise StreamEnded(CloseReason(NORMAL, "The browser or the page has ended."))

    async def _watch_control(self) -> NoReturn:
        control = self._desktop.control
        while not control.private:
            await control.changed(control.revision, LEASE_SECONDS)
            if control.person is not None:
                self._release()
        raise StreamEnded(PRIVATE)

    async def _watch_screenshots(self, stream: ClientStream) -> NoReturn:
        while True:
            self._asked.clear()
            due = self._screenshots.due
            if due is None:
                await self._asked.wait()
                continue
            await asyncio.sleep(max(due - self._desktop.clock(), 0.0))
            for request in self._screenshots.late(self._desktop.clock()):
                await stream.send(json.dumps(_error(request, SERVER_ERROR, NO_ANSWER)))

    def _requested(self, message: Json) -> Json | None:
        """Pass a request to the browser, or return the error for the client."""
        method = str(message.get("method"))
        given = message.get("params")
        parameters: Json = given if isinstance(given, dict) else {}
        refused = refusal(method, parameters, self._desktop.roots)
        if acts(method):
            refused = refused or self._refusal_to_act()
        if shows_screen(method):
            refused = refused or self._refusal_to_view()
        self._note(method, parameters, refused)
        if refused:
            return _error(message, SERVER_ERROR, refused)
        changed = with_downloads(method, parameters, self._desktop.downloads)
        passed = self._root.to_browser({**message, "params": changed} if changed else message)
        self._held.note(passed)
        if self._screenshots.asked(message, self._desktop.clock()):
            self._asked.set()
        self._client.send(passed)
        return None

    def _refusal_to_act(self) -> str:
        try:
            self._desktop.control.check_act(self._chat)
        except Occupied as error:
            return f"{error.code}: {error}"
        return ""

    def _refusal_to_view(self) -> str:
        try:
            self._desktop.control.check_view()
        except Occupied as error:
            return f"{error.code}: {error}"
        return ""

    def _note(self, method: str, parameters: Json, refused: str) -> None:
        step = step_of(method, parameters)
        if step is None:
            return
        now = self._desktop.clock()
        record = ActionRecord(
            tool_call_id="",
            chat_id=self._chat,
            action=step.action,
            model_point=None,
            native_point=None,
            text=step.text,
            started=now,
            ended=now,
            changed_fraction=None,
            error=refused or None,
            timings={},
            tool=f"cdp.{method}",
        )
        self._desktop.record(record)

    def _release(self) -> None:
        for request in self._held.releases():
            self._client.send({**request, "id": next(self._own_ids)})


def _error(request: Json, code: int, text: str) -> Json:
    answer: Json = {"id": request.get("id"), "error": {"code": code, "message": text}}
    return answer | {name: request[name] for name in ("sessionId",) if name in request}
