"""Endpoint of Google's Gemini protocol. Pure."""

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

from . import reply, signatures
from .accounting import account
from .protocol import read_request

Json = dict[str, Any]

STREAM, WHOLE = "streamGenerateContent", "generateContent"
# https://ai.google.dev/gemini-api/docs/troubleshooting
REFUSALS: Mapping[Problem, tuple[int, str]] = {
    "wrong_key": (400, "INVALID_ARGUMENT"),
    "no_such_model": (404, "NOT_FOUND"),
    "invalid": (400, "INVALID_ARGUMENT"),
    "too_large": (400, "INVALID_ARGUMENT"),
    "undecodable": (400, "INVALID_ARGUMENT"),
    "rate_limit": (429, "RESOURCE_EXHAUSTED"),
    "overloaded": (503, "UNAVAILABLE"),
    "server_error": (500, "INTERNAL"),
    "no_credit": (429, "RESOURCE_EXHAUSTED"),
}
MESSAGES: Mapping[Problem, str] = {
    "wrong_key": "API key not valid. Please pass a valid API key.",
    "too_large": "Request payload size exceeds the limit: 20971520 bytes.",
    "no_credit": "Your prepayment credits are depleted.",
}
"""Sentences of the provider that clients recognise."""


class GenerateContentEndpoint:
    """``POST /v1/models/MODEL:streamGenerateContent`` and ``:generateContent``."""

    paths = ("/v1/models/{call:path}", "/v1beta/models/{call:path}")

    def key(self, received: Received) -> str:
        """Return the key from ``x-goog-api-key``."""
        return received.headers.get("x-goog-api-key", "")

    def check_head(self, received: Received) -> str | None:
        """Demand a known method, and events for a stream."""
        method = received.path.rpartition(":")[2]
        if method not in (STREAM, WHOLE):
            return f"there is no method {method}"
        if method == STREAM and received.parameters.get("alt") != "sse":
            return "alt: must be sse"
        return None

    def read(self, received: Received, body: object, measure: Measure) -> Request:
        """Validate the body; the model is in the path."""
        called, _, method = received.path.partition("/models/")[2].rpartition(":")
        return read_request(called, method == STREAM, body, measure)

    def account(self, request: Request, entries: CacheEntries) -> Request:
        """Count tokens, and what the implicit cache reads."""
        return replace(request, tokens=account(request, entries))

    def binding(self, request: Request) -> Binding:
        """Refuse a call without a signature, or with one of another prefix."""
        return Binding(signatures.refusal(request))

    def seal(self, request: Request, turn: PlayedTurn) -> PlayedTurn:
        """Convert the reply to parts and sign it."""
        parts = signatures.signed(request, reply.parts_of(turn, request))
        return replace(turn, content=tuple({"type": "part", "part": part} for part in parts))

    def answer(
        self, turn: PlayedTurn, request: Request, reply_id: str, dropped: Sequence[Json]
    ) -> Answer:
        """Write the response."""
        whole = reply.whole(turn, request, reply_id)
        return Answer(whole, tuple(reply.events(turn, request, reply_id)))

    def faulty(self, kind: str | None, events: Sequence[bytes]) -> list[bytes]:
        """Break the events of a response."""
        return reply.faulty(kind, events)

    def refusal(self, problem: Problem, message: str) -> EndpointRefusal:
        """Write an object with ``error``."""
        code, status = REFUSALS[problem]
        text = MESSAGES.get(problem, message)
        return EndpointRefusal(code, {"error": {"code": code, "message": text, "status": status}})
