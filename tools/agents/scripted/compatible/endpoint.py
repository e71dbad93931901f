"""Endpoint of chat completions, as an OpenAI-compatible server has it. Pure."""

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
from deskhand.tools.agents.scripted.script.prompt_cache import (
    CacheEntries,
    InputTokens,
    picture_tokens,
    text_tokens,
)
from deskhand.tools.agents.scripted.script.request import Measure, Request

from . import reply
from .protocol import read_request

Json = dict[str, Any]

REFUSALS: Mapping[Problem, tuple[int, str]] = {
    "wrong_key": (401, "invalid_api_key"),
    "no_such_model": (404, "model_not_found"),
    "invalid": (400, "invalid_request"),
    "too_large": (413, "request_too_large"),
    "undecodable": (400, "invalid_image"),
    "rate_limit": (429, "rate_limit_exceeded"),
    "overloaded": (503, "overloaded"),
    "server_error": (500, "server_error"),
    "no_credit": (429, "insufficient_quota"),
}


class CompletionsEndpoint:
    """``POST /v1/chat/completions``."""

    paths = ("/v1/chat/completions",)

    def key(self, received: Received) -> str:
        """Return the token from ``Authorization``."""
        return received.headers.get("authorization", "").removeprefix("Bearer ")

    def check_head(self, received: Received) -> str | None:
        """Demand JSON."""
        kind = received.headers.get("content-type", "")
        return None if kind == "application/json" else "content-type: must be application/json"

    def read(self, received: Received, body: object, measure: Measure) -> Request:
        """Validate the body."""
        return read_request(body, measure)

    def account(self, request: Request, entries: CacheEntries) -> Request:
        """Count tokens; such a server reports no cache."""
        texts = text_tokens([request.system, list(request.offered), list(request.messages)])
        sizes = (one.measured for one in request.pictures)
        seen = sum(picture_tokens(size.width, size.height) for size in sizes)
        return replace(request, tokens=InputTokens(texts + seen))

    def binding(self, request: Request) -> Binding:
        """Accept everything: no reasoning comes back."""
        return Binding()

    def seal(self, request: Request, turn: PlayedTurn) -> PlayedTurn:
        """Return the reply as it is."""
        return turn

    def answer(
        self, turn: PlayedTurn, request: Request, reply_id: str, dropped: Sequence[Json]
    ) -> Answer:
        """Write the completion."""
        whole = reply.whole(turn, request, reply_id)
        return Answer(whole, tuple(reply.events(turn, request, reply_id)))

    def faulty(self, kind: str | None, events: Sequence[bytes]) -> list[bytes]:
        """Break the chunks of a completion."""
        return reply.faulty(kind, events)

    def refusal(self, problem: Problem, message: str) -> EndpointRefusal:
        """Write an object with ``error``."""
        status, code = REFUSALS[problem]
        error = {"message": message, "type": code, "code": code, "param": None}
        return EndpointRefusal(status, {"error": error})
