"""A server of scripted models: speaks the providers' protocols on a loopback port.

The program reaches it through the same SDKs and adapters as the providers, so that demos and tests
without a key exercise the real path, faults of the network included. Each protocol is an
:class:`~deskhand.tools.agents.scripted.script.endpoint.Endpoint`; all of them are served at once.
"""

import asyncio
import hashlib
import json
import secrets
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import ExitStack
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

from .anthropic.endpoint import MessagesEndpoint
from .compatible.endpoint import CompletionsEndpoint
from .gemini.endpoint import GenerateContentEndpoint
from .log import LogEntry, RequestLog
from .openai.endpoint import ResponsesEndpoint
from .script import decode
from .script.endpoint import Endpoint, Problem, Received
from .script.library import packaged_scripts
from .script.picture_header import measure
from .script.player import EMPTY_SUMMARY, PlayedTurn, play, with_one_id, without_summary
from .script.prompt_cache import CacheEntries
from .script.request import InvalidRequest, Request
from .script.script import Fault, Script

Json = dict[str, Any]

PREFIX = "scripted:"
LARGEST_BODY = 32 * 1024 * 1024
"""Limit of the provider for one request."""
REFUSALS: dict[str, tuple[Problem, str]] = {
    "rate_limit": ("rate_limit", "too many requests, says the script"),
    "overloaded": ("overloaded", "overloaded, says the script"),
    "server_error": ("server_error", "something broke, says the script"),
    "no_credit": ("no_credit", "the account has no credit, says the script"),
    "refused_image": ("invalid", "Could not process image, says the script"),
}
ENDPOINTS: tuple[Endpoint, ...] = (
    MessagesEndpoint(),
    GenerateContentEndpoint(),
    CompletionsEndpoint(),
    ResponsesEndpoint(),
)
FAULTS_REMEMBERED = 1000
"""Requests for which the number of faults is kept: a bound on the memory of a long run."""

KEEP_ALIVE = 600
"""Seconds for which an idle connection is kept."""


class ScriptedModelServer:
    """Serves all endpoints while it is entered; the model's name is the script's.

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
        self._cache = CacheEntries()
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

    @property
    def scripts(self) -> tuple[Script, ...]:
        """The same scripts, in the order of their names."""
        return tuple(self._scripts[name] for name in self.names)

    def add(self, script: Script) -> None:
        """Play one more script from now on, in place of one with the same name."""
        self._scripts[script.name] = script

    async def received(self, times: int) -> None:
        """Return when the server has received that many requests."""
        while len(self.log) < times:
            self._received.clear()
            await self._received.wait()

    async def __aenter__(self) -> Self:
        app = Starlette(routes=[*self._routes()])
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

    def _routes(self) -> Iterator[Route]:
        for endpoint in ENDPOINTS:
            for path in endpoint.paths:
                yield Route(path, partial(self._post, endpoint), methods=["POST"])

    async def _post(self, endpoint: Endpoint, http: HttpRequest) -> Response:
        body = await http.body()
        headers, parameters = dict(http.headers), dict(http.query_params)
        received = Received(http.url.path, headers, body, parameters)
        refusal = self._check_head(endpoint, http, received)
        if refusal is not None:
            return refusal
        try:
            request = endpoint.read(received, json.loads(body), measure)
        except ValueError:
            return self._refuse(endpoint, "invalid", "the body is not JSON")
        except InvalidRequest as error:
            return self._refuse(endpoint, "invalid", str(error))
        script = self._scripts.get(request.model.removeprefix(PREFIX))
        if script is None:
            known = ", ".join(self.names)
            problem = f"no script {request.model!r}; there are {known}"
            return self._refuse(endpoint, "no_such_model", problem, request)
        binding = await asyncio.to_thread(endpoint.binding, request)
        if binding.refusal is not None:
            return self._refuse(endpoint, "invalid", binding.refusal, request)
        try:
            request = await asyncio.to_thread(endpoint.account, request, self._cache)
        except InvalidRequest as error:
            return self._refuse(endpoint, "invalid", str(error), request)
        # Decoding pictures takes tens of milliseconds, which must not block the event loop.
        nonce = secrets.token_hex(6)
        try:
            turn = await asyncio.to_thread(play, script, request, self._decode, nonce)
        except NotDecodable as error:
            return self._refuse(endpoint, "undecodable", f"a picture: {error}", request)
        fault = self._due_fault(turn.fault, body)
        if fault is not None and fault.kind == "same_id":
            turn = with_one_id(turn)
        if fault is not None and fault.kind == EMPTY_SUMMARY:
            turn = without_summary(turn)
        turn = await asyncio.to_thread(endpoint.seal, request, turn)
        return await self._deliver(endpoint, turn, request, fault, binding.dropped)

    def _check_head(
        self, endpoint: Endpoint, http: HttpRequest, received: Received
    ) -> Response | None:
        # Bytes, because ``compare_digest`` raises an error for a ``str`` with other characters than
        # ASCII.
        if not secrets.compare_digest(endpoint.key(received).encode(), self.api_key.encode()):
            return self._refuse(endpoint, "wrong_key", "the key is not this server's")
        mark_proven(http.scope)
        problem = endpoint.check_head(received)
        if problem is not None:
            return self._refuse(endpoint, "invalid", problem)
        if len(received.body) > LARGEST_BODY:
            return self._refuse(endpoint, "too_large", "the body is larger than 32 MB")
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
        self,
        endpoint: Endpoint,
        turn: PlayedTurn,
        request: Request,
        fault: Fault | None,
        dropped: Sequence[Json],
    ) -> Response:
        kind = fault.kind if fault else None
        if kind in REFUSALS:
            problem, message = REFUSALS[kind]
            return self._refuse(endpoint, problem, message, request, turn.step, kind)
        # Before the pause, so that ``received`` returns while the answer is still held back.
        self._log_request(200, request, turn.step, kind)
        if fault is not None and kind == "slow":
            await self._pause(fault.seconds)
        answer = endpoint.answer(turn, request, secrets.token_hex(12), dropped)
        if not request.stream:
            return JSONResponse(answer.whole)
        events = endpoint.faulty(kind, answer.events)
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
        endpoint: Endpoint,
        problem: Problem,
        message: str,
        request: Request | None = None,
        step: int | None = None,
        fault: str | None = None,
    ) -> Response:
        refusal = endpoint.refusal(problem, message)
        self._log_request(refusal.status, request, step, fault, message)
        return JSONResponse(refusal.body, status_code=refusal.status)

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
