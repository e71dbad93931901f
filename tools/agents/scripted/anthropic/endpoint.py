"""Endpoint of Anthropic's Messages protocol. Pure."""

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

from . import older_tools, sse
from .accounting import account
from .betas import read_betas
from .binding import REFUSAL, mismatches, signed
from .protocol import read_request

Json = dict[str, Any]

# https://docs.claude.com/en/api/errors
REFUSALS: Mapping[Problem, tuple[int, str]] = {
    "wrong_key": (401, "authentication_error"),
    "no_such_model": (404, "not_found_error"),
    "invalid": (400, "invalid_request_error"),
    "too_large": (413, "request_too_large"),
    "undecodable": (422, "invalid_request_error"),
    "rate_limit": (429, "rate_limit_error"),
    "overloaded": (529, "overloaded_error"),
    "server_error": (500, "api_error"),
    "no_credit": (402, "billing_error"),
}


class MessagesEndpoint:
    """``POST /v1/messages``."""

    paths = ("/v1/messages",)

    def key(self, received: Received) -> str:
        """Return the key from ``x-api-key``, or the token from ``Authorization``."""
        bearer = received.headers.get("authorization", "").removeprefix("Bearer ")
        return received.headers.get("x-api-key", bearer)

    def check_head(self, received: Received) -> str | None:
        """Demand the version of the protocol."""
        present = "anthropic-version" in received.headers
        return None if present else "anthropic-version: is missing"

    def read(self, received: Received, body: object, measure: Measure) -> Request:
        """Validate the body; the betas are in its header."""
        betas = read_betas(received.headers.get("anthropic-beta", ""))
        if not isinstance(body, dict):
            return read_request(body, measure, betas)
        request = read_request(older_tools.with_toolset(body, betas), measure, betas)
        return replace(request, offered=tuple(body.get("tools", [])))

    def account(self, request: Request, entries: CacheEntries) -> Request:
        """Count tokens, and what the cache marks read and write."""
        return replace(request, tokens=account(request, entries))

    def binding(self, request: Request) -> Binding:
        """Refuse a block of another prefix, unless the request allows to drop it."""
        wrong = mismatches(request)
        # A block of another model is dropped without an error.
        refused = [one for one in wrong if one.reason == "prefix_binding_mismatch"]
        if refused and not request.drop_block:
            return Binding(f"{refused[0].path}: {REFUSAL}")
        return Binding(dropped=[one.to_json() for one in wrong])

    def seal(self, request: Request, turn: PlayedTurn) -> PlayedTurn:
        """Sign the thinking blocks, or the compaction; this protocol has no safety checks."""
        content = ({k: v for k, v in block.items() if k != "checks"} for block in turn.content)
        return replace(turn, content=signed(request, content))

    def answer(
        self, turn: PlayedTurn, request: Request, reply_id: str, dropped: Sequence[Json]
    ) -> Answer:
        """Write the message."""
        message_id = f"msg_{reply_id}"
        if older_tools.is_older(request.offered):
            turn = replace(turn, content=older_tools.without_toolset(turn.content))
        whole = sse.whole(turn, request, message_id, dropped)
        return Answer(whole, tuple(sse.events(turn, request, message_id, dropped)))

    def faulty(self, kind: str | None, events: Sequence[bytes]) -> list[bytes]:
        """Break the events of a message."""
        return sse.faulty(kind, list(events))

    def refusal(self, problem: Problem, message: str) -> EndpointRefusal:
        """Write an object of the type ``error``."""
        status, kind = REFUSALS[problem]
        return EndpointRefusal(
            status, {"type": "error", "error": {"type": kind, "message": message}}
        )
