"""Endpoint of OpenAI's Responses protocol. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from deskhand.tools.agents.scripted.script.endpoint import (
    Answer,
    Binding,
    EndpointRefusal,
    Problem,
    Received,
)
from deskhand.tools.agents.scripted.script.player import PlayedTurn
from deskhand.tools.agents.scripted.script.prompt_cache import CacheEntries
from deskhand.tools.agents.scripted.script.request import Measure, Request

from . import reply
from .accounting import account
from .binding import Prefix, removed
from .compaction import PATHS, compacted, read_compaction
from .protocol import read_request

Json = dict[str, Any]

# https://platform.openai.com/docs/guides/error-codes
REFUSALS: Mapping[Problem, tuple[int, str, str]] = {
    "wrong_key": (401, "invalid_request_error", "invalid_api_key"),
    "no_such_model": (404, "invalid_request_error", "model_not_found"),
    "invalid": (400, "invalid_request_error", "invalid_value"),
    "too_large": (413, "invalid_request_error", "request_too_large"),
    "undecodable": (400, "invalid_request_error", "invalid_image"),
    "rate_limit": (429, "requests", "rate_limit_exceeded"),
    "overloaded": (503, "service_unavailable_error", "server_is_overloaded"),
    "server_error": (500, "server_error", "server_error"),
    "no_credit": (429, "insufficient_quota", "insufficient_quota"),
}


class ResponsesEndpoint:
    """``POST /responses``, below ``/v1`` or not, as the address of a client ends."""

    paths = ("/v1/responses", "/responses", *PATHS)

    def key(self, received: Received) -> str:
        """Return the token from ``Authorization``."""
        return received.headers.get("authorization", "").removeprefix("Bearer ")

    def check_head(self, received: Received) -> str | None:
        """Demand JSON."""
        kind = received.headers.get("content-type", "")
        return None if kind.startswith("application/json") else "the body must be JSON"

    def read(self, received: Received, body: object, measure: Measure) -> Request:
        """Validate the body."""
        if received.path in PATHS:
            return read_compaction(body, measure)
        return read_request(body, measure)

    def account(self, request: Request, entries: CacheEntries) -> Request:
        """Count the tokens by the request's cache breakpoints."""
        return replace(request, tokens=account(request, entries))

    def binding(self, request: Request) -> Binding:
        """Remove reasoning of another prefix or model; the request is accepted."""
        return Binding(dropped=() if request.summarize else list(removed(request)))

    def seal(self, request: Request, turn: PlayedTurn) -> PlayedTurn:
        """Seal the reasoning items."""
        if request.summarize:
            return turn
        prefix = Prefix(request)
        prefix.extend(request.items)
        blocks: list[Json] = []
        for block in turn.content:
            sealed = block["type"] == "thinking"
            blocks.append({**block, "signature": prefix.seal} if sealed else block)
            prefix.extend(reply.items_of(blocks[-1:], ""))
        return replace(turn, content=tuple(blocks))

    def answer(
        self, turn: PlayedTurn, request: Request, reply_id: str, dropped: Sequence[Json]
    ) -> Answer:
        """Write the response."""
        if request.summarize:
            return Answer(compacted(turn, request, reply_id), ())
        whole = reply.whole(turn, request, reply_id, dropped)
        return Answer(whole, tuple(reply.events(turn, request, reply_id, dropped)))

    def faulty(self, kind: str | None, events: Sequence[bytes]) -> list[bytes]:
        """Break the events of a response."""
        return reply.faulty(kind, events)

    def refusal(self, problem: Problem, message: str) -> EndpointRefusal:
        """Write an object ``error``."""
        status, kind, code = REFUSALS[problem]
        # The window is a reason of its own, by which clients distinguish it from a mistake.
        if message.startswith("context_length_exceeded"):
            code = "context_length_exceeded"
        error = {"type": kind, "code": code, "message": message, "param": None}
        return EndpointRefusal(status, {"error": error})
