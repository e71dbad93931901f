"""A server of scripted models: speaks the provider's protocol on a loopback port.

The program reaches it through the same SDK and adapter as the provider, so that demos and tests
without a key exercise the real path, faults of the network included.
"""

import asyncio
import hashlib
import json
import secrets
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Self

from starlette.applications import Starlette
from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from deskhand.tools.decoder.errors import NotDecodable
from deskhand.vncbridge.server.http_protocol import mark_proven
from deskhand.vncbridge.server.server import Address, Serving, listening

from .anthropic import sse
from .anthropic.binding import REFUSAL, mismatches, signed
from .anthropic.protocol import read_request
from .log import LogEntry, RequestLog
from .script import decode
from .script.library import packaged_scripts
from .script.picture_header import measure
from .script.player import PlayedTurn, play
from .script.request import InvalidRequest, Request
from .script.script import Fault, Script

Json = dict[str, Any]

PREFIX = "scripted:"
LARGEST_BODY = 32 * 1024 * 1024
"""Limit of the provider for one request."""
REFUSALS = {
    "rate_limit": (429, "rate_limit_error", "too many requests, says the script"),
    "overloaded": (529, "overloaded_error", "overloaded, says the script"),
    "server_error": (500, "api_error", "something broke, says the script"),
}
FAULTS_REMEMBERED = 1000
"""Requests for which the number of faults is kept: a bound on the memory of a long run."""

KEEP_ALIVE = 600
"""Seconds for which an idle connection is kept."""


class ScriptedModelServer:
    """Serves ``POST /v1/messages`` while it is entered; the model's name is the script's.

    Only requests with :attr:`api_key` are answered: other users of this machine can reach the
    port too.
    """

    def __init__(
        self,
        scripts: Iterable[Script] = (),
        *,
        log_file: Path | None = None,
        port: int = 0,
        pixels: decode.RgbDecoder = decode.decoded_here,
    ) -> None:
        self._scripts = {script.name: script for script in (*packaged_scripts(), *scripts)}
        self._log = RequestLog(log_file)
        self._port = port
        self._decode = partial(decode.pixels, decode=pixels)
        self._seen: dict[str, int] = {}
        self._closing = asyncio.Event()
        self._received = asyncio.Event()
        self._releases = ExitStack()
        self._server: Serving | None = None
        self._serving: asyncio.Task[None] | None = None
        self.api_key = secrets.token_urlsafe(24)
        self.url = ""

    @property
    def log(self) -> Sequence[LogEntry]:
        """The newest requests, the latest at the end."""
        return self._log.entries

    @property
    def names(self) -> tuple[str, ...]:
        """The scripts that can be played."""
        return tuple(sorted(self._scripts))

    async def received(self, times: int) -> None:
        """Return when the server has received that many requests."""
        while len(self.log) < times:
            self._received.clear()
            await self._received.wait()

    async def __aenter__(self) -> Self:
        app = Starlette(routes=[Route("/v1/messages", self._messages, methods=["POST"])])
        self._server = Serving(app)
        # A connection that is closed while a request is on its way costs the client a retry.
        self._server.config.timeout_keep_alive = KEEP_ALIVE
        with ExitStack() as releases:
            releases.enter_context(self._log)
            wanted = Address("127.0.0.1", self._port)
            bound, address = releases.enter_context(listening(wanted))
            # If the port cannot be bound, the inner stack closes the log; otherwise ``__aexit__``
            # closes both.
            self._releases = releases.pop_all()
        self.url = address.url
        self._serving = asyncio.create_task(
            self._server.serve(sockets=[bound]), name="scripted model"
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        # Before the server ends: an answer that the fault ``slow`` holds back would delay its end.
        self._closing.set()
        if self._server is not None:
            self._server.ask_to_end()
        if self._serving is not None:
            await self._serving
        self._releases.close()

    async def _messages(self, http: HttpRequest) -> Response:
        body = await http.body()
        refusal = self._check_head(http, body)
        if refusal is not None:
            return refusal
        try:
            betas = frozenset(http.headers.get("anthropic-beta", "").replace(" ", "").split(","))
            request = read_request(json.loads(body), measure, betas)
        except ValueError:
            return self._refuse(400, "invalid_request_error", "the body is not JSON")
        except InvalidRequest as error:
            return self._refuse(400, "invalid_request_error", str(error))
        script = self._scripts.get(request.model.removeprefix(PREFIX))
        if script is None:
            known = ", ".join(self.names)
            problem = f"no script {request.model!r}; there are {known}"
            return self._refuse(404, "not_found_error", problem, request)
        wrong = await asyncio.to_thread(mismatches, request)
        # A block of another model is dropped without an error, one of another prefix only if the
        # request allows it.
        refused = [one for one in wrong if one.reason == "prefix_binding_mismatch"]
        if refused and not request.drop_block:
            problem = f"{refused[0].path}: {REFUSAL}"
            return self._refuse(400, "invalid_request_error", problem, request)
        # Decoding pictures takes tens of milliseconds, which must not block the event loop.
        nonce = secrets.token_hex(6)
        try:
            turn = await asyncio.to_thread(play, script, request, self._decode, nonce)
        except NotDecodable as error:
            return self._refuse(422, "invalid_request_error", f"a picture: {error}", request)
        turn = replace(turn, content=await asyncio.to_thread(signed, request, turn.content))
        dropped = [one.to_json() for one in wrong]
        return await self._deliver(turn, request, self._due_fault(turn.fault, body), dropped)

    def _check_head(self, http: HttpRequest, body: bytes) -> Response | None:
        # The protocol accepts a key in ``x-api-key`` and a token in ``Authorization``.
        bearer = http.headers.get("authorization", "").removeprefix("Bearer ")
        given = http.headers.get("x-api-key", bearer)
        # Bytes, because ``compare_digest`` raises an error for a ``str`` with other characters than
        # ASCII.
        if not secrets.compare_digest(given.encode(), self.api_key.encode()):
            return self._refuse(401, "authentication_error", "the key is not this server's")
        mark_proven(http.scope)
        if "anthropic-version" not in http.headers:
            return self._refuse(400, "invalid_request_error", "anthropic-version: is missing")
        if len(body) > LARGEST_BODY:
            return self._refuse(413, "request_too_large", "the body is larger than 32 MB")
        return None

    def _due_fault(self, fault: Fault | None, body: bytes) -> Fault | None:
        """Return the fault, unless this request has already met it as often as the script wants."""
        if fault is None:
            return None
        # A retry sends the same bytes, and the next request of a chat never does.
        key = hashlib.sha256(body).hexdigest()
        met = self._seen.get(key, 0)
        self._seen[key] = met + 1
        # A dictionary keeps the order of insertion, so that its first key is the oldest request.
        while len(self._seen) > FAULTS_REMEMBERED:
            del self._seen[next(iter(self._seen))]
        return fault if met < fault.times else None

    async def _deliver(
        self, turn: PlayedTurn, request: Request, fault: Fault | None, dropped: Sequence[Json]
    ) -> Response:
        kind = fault.kind if fault else None
        if kind in REFUSALS:
            status, name, problem = REFUSALS[kind]
            return self._refuse(status, name, problem, request, turn.step, kind)
        # Before the pause, so that ``received`` returns while the answer is still held back.
        self._log_request(200, request, turn.step, kind)
        if fault is not None and kind == "slow":
            await self._pause(fault.seconds)
        message_id = f"msg_{secrets.token_hex(12)}"
        if not request.stream:
            return JSONResponse(sse.whole(turn, request, message_id, dropped))
        events = sse.faulty(kind, list(sse.events(turn, request, message_id, dropped)))
        # ``StreamingResponse`` would end the body regularly, so that the client saw a complete
        # answer.
        if kind == "cut":
            return _CutResponse(events)
        return StreamingResponse(_each(events), media_type="text/event-stream")

    async def _pause(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._closing.wait()
        except TimeoutError:
            return

    def _refuse(
        self,
        status: int,
        kind: str,
        problem: str,
        request: Request | None = None,
        step: int | None = None,
        fault: str | None = None,
    ) -> Response:
        self._log_request(status, request, step, fault, problem)
        error = {"type": kind, "message": problem}
        return JSONResponse({"type": "error", "error": error}, status_code=status)

    def _log_request(
        self,
        status: int,
        request: Request | None,
        step: int | None = None,
        fault: str | None = None,
        error: str | None = None,
    ) -> None:
        model = request.model if request else ""
        messages = len(request.messages) if request else 0
        pictures = tuple(p.measured for p in request.pictures) if request else ()
        self._log.add(LogEntry(model, status, messages, pictures, step, fault, error))
        self._received.set()


class _CutResponse(Response):
    """Response without its end: the server closes the connection, as after a network failure."""

    def __init__(self, events: list[bytes]) -> None:
        super().__init__()
        self._events = events

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = [(b"content-type", b"text/event-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        for event in self._events:
            await send({"type": "http.response.body", "body": event, "more_body": True})


async def _each(events: list[bytes]) -> AsyncIterator[bytes]:
    for event in events:
        yield event
