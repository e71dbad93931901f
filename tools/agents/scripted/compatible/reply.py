"""Serialization of a reply of chat completions: one JSON object, or server-sent events. Pure."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from deskhand.tools.agents.providers.compatible.computer_tool import ACTION
from deskhand.tools.agents.scripted.script.player import PlayedTurn
from deskhand.tools.agents.scripted.script.prompt_cache import CHARACTERS_PER_TOKEN, InputTokens
from deskhand.tools.agents.scripted.script.request import Request

Json = dict[str, Any]

DONE = b"data: [DONE]\n\n"
FINISH_REASONS = {
    "end_turn": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "refusal": "content_filter",
}
"""Reason of a script to the protocol's; another one is passed on."""


def whole(turn: PlayedTurn, request: Request, reply_id: str) -> Json:
    """Return the reply as one JSON object."""
    calls = [_call(block) for block in turn.content if block["type"] == "tool_use"]
    message: Json = {"role": "assistant", "content": _text(turn, "text") or None}
    if calls:
        message["tool_calls"] = calls
    choice = {"index": 0, "message": message, "finish_reason": _reason(turn)}
    return {
        **_head(request, reply_id),
        "object": "chat.completion",
        "choices": [choice],
        "usage": _usage(turn, request),
    }


def events(turn: PlayedTurn, request: Request, reply_id: str) -> Iterator[bytes]:
    """Yield the reply as chunks; the last has the tokens and no choice."""
    head = _head(request, reply_id)
    for delta in _deltas(turn):
        yield _event({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
    ended = {"index": 0, "delta": {}, "finish_reason": _reason(turn)}
    yield _event({**head, "choices": [ended]})
    yield _event({**head, "choices": [], "usage": _usage(turn, request)})
    yield DONE


def faulty(kind: str | None, given: Sequence[bytes]) -> list[bytes]:
    """Return the events as a faulty server sends them; all of them for another kind of fault."""
    half = list(given[: max(1, (len(given) - 3) // 2)])
    if kind in ("cut", "unfinished"):
        return half
    if kind == "stream_error":
        error = {"message": "overloaded, says the script", "code": 503}
        return [*half, _event({"error": error})]
    if kind == "malformed":
        # The pattern depends on the separators of ``json.dumps`` in ``_event``.
        return [event.replace(b'"arguments": "', b'"arguments": "]') for event in given]
    return list(given)


def _deltas(turn: PlayedTurn) -> Iterator[Json]:
    yield {"role": "assistant", "content": ""}
    # In a field that clients do not send back.
    for piece in _halves(_text(turn, "thinking")):
        yield {"reasoning_content": piece}
    for piece in _halves(_text(turn, "text")):
        yield {"content": piece}
    calls = [_call(block) for block in turn.content if block["type"] == "tool_use"]
    for index, call in enumerate(calls):
        function = call["function"]
        begun = {**call, "index": index, "function": {"name": function["name"], "arguments": ""}}
        yield {"tool_calls": [begun]}
        for piece in _halves(function["arguments"]):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def _call(block: Json) -> Json:
    name, arguments = block["name"], block["input"]
    if block.get("toolset_name"):
        name, arguments = block["toolset_name"], {ACTION: name, **arguments}
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"id": block["id"], "type": "function", "function": function}


def _halves(text: str) -> Iterator[str]:
    """Yield a text in two pieces, so that a client that reads only the first fails."""
    middle = len(text) // 2
    yield from (piece for piece in (text[:middle], text[middle:]) if piece)


def _text(turn: PlayedTurn, kind: str) -> str:
    return "".join(block[kind] for block in turn.content if block["type"] == kind)


def _reason(turn: PlayedTurn) -> str:
    return FINISH_REASONS.get(turn.stop_reason, turn.stop_reason)


def _head(request: Request, reply_id: str) -> Json:
    chunk = "chat.completion.chunk"
    return {"id": f"chatcmpl-{reply_id}", "object": chunk, "created": 0, "model": request.model}


def _usage(turn: PlayedTurn, request: Request) -> Json:
    tokens = request.tokens or InputTokens(0)
    written = 1 + sum(len(json.dumps(block)) for block in turn.content) // CHARACTERS_PER_TOKEN
    return {
        "prompt_tokens": tokens.total,
        "completion_tokens": written,
        "total_tokens": tokens.total + written,
    }


def _event(data: Json) -> bytes:
    return f"data: {json.dumps(data)}\n\n".encode()
