"""Serialization of a reply in the Messages protocol: one JSON object, or server-sent events."""

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from deskhand.tools.agents.scripted.script.player import PlayedTurn
from deskhand.tools.agents.scripted.script.prompt_cache import CHARACTERS_PER_TOKEN, InputTokens
from deskhand.tools.agents.scripted.script.request import Request

Json = dict[str, Any]


def whole(
    turn: PlayedTurn, request: Request, message_id: str, dropped: Sequence[Json] = ()
) -> Json:
    """Return the reply as one JSON object; ``dropped`` lists blocks of the request."""
    # Only a request with the beta gets the list, which is empty as a rule.
    listed = {"input_transformations": list(dropped)} if request.lists_dropped else {}
    return {
        **listed,
        "id": message_id,
        "type": "message",
        "role": "assistant",
        "model": request.model,
        "content": list(turn.content),
        "stop_reason": turn.stop_reason,
        "stop_sequence": None,
        "usage": usage(turn, request),
    }


def events(
    turn: PlayedTurn, request: Request, message_id: str, dropped: Sequence[Json] = ()
) -> Iterator[bytes]:
    """Yield the reply as events, in the order that the official client requires."""
    start = whole(turn, request, message_id, dropped)
    tokens = start["usage"]
    # ``message_start`` counts the tokens so far; the count in ``message_delta`` replaces it.
    start |= {"content": [], "stop_reason": None, "usage": {**tokens, "output_tokens": 1}}
    yield _event("message_start", {"message": start})
    for index, block in enumerate(turn.content):
        yield from _block(index, block)
    ended = {"stop_reason": turn.stop_reason, "stop_sequence": None}
    output = {"output_tokens": tokens["output_tokens"]}
    yield _event("message_delta", {"delta": ended, "usage": output})
    yield _event("message_stop", {})


def faulty(kind: str | None, events: list[bytes]) -> list[bytes]:
    """Return the events as a faulty provider sends them; all of them for another kind of fault."""
    half = events[: max(2, len(events) // 2)]
    if kind in ("cut", "unfinished"):
        return half
    if kind == "stream_error":
        error = {"type": "overloaded_error", "message": "overloaded, says the script"}
        return [*half, _event("error", {"error": error})]
    if kind == "malformed":
        # Corrupt the input of every call, so that it is no JSON.
        # The pattern depends on the separators of ``json.dumps`` in ``_event``.
        return [event.replace(b'"partial_json": "', b'"partial_json": "]') for event in events]
    if kind == "empty_summary":
        return [e for e in events if b'"compaction_delta"' not in e and b'"text_delta"' not in e]
    return events


def usage(turn: PlayedTurn, request: Request) -> Json:
    """Return the tokens of the request as they were counted, and a rough count of the reply."""
    tokens = request.tokens or InputTokens(0)
    written = sum(len(json.dumps(block)) for block in turn.content)
    return {
        "input_tokens": tokens.plain,
        "output_tokens": 1 + written // CHARACTERS_PER_TOKEN,
        "cache_creation_input_tokens": tokens.written,
        "cache_read_input_tokens": tokens.read,
    }


def _block(index: int, block: Json) -> Iterator[bytes]:
    if block["type"] == "text":
        empty = {**block, "text": ""}
        deltas: Iterable[Json] = _halves(block["text"], "text_delta", "text")
    elif block["type"] == "thinking":
        empty = {**block, "thinking": "", "signature": ""}
        deltas = chain(
            _halves(block["thinking"], "thinking_delta", "thinking"),
            [{"type": "signature_delta", "signature": block["signature"]}],
        )
    elif block["type"] == "compaction":
        empty = {**block, "content": None}
        deltas = [{"type": "compaction_delta", "content": block["content"]}]
    else:
        given = json.dumps(block["input"], ensure_ascii=False)
        empty = {**block, "input": {}}
        deltas = _halves(given, "input_json_delta", "partial_json")
    yield _event("content_block_start", {"index": index, "content_block": empty})
    for delta in deltas:
        yield _event("content_block_delta", {"index": index, "delta": delta})
    yield _event("content_block_stop", {"index": index})


def _halves(text: str, kind: str, key: str) -> Iterator[Json]:
    """Yield two deltas, so that a client that reads only the first fails."""
    middle = len(text) // 2
    yield {"type": kind, key: text[:middle]}
    yield {"type": kind, key: text[middle:]}


def _event(kind: str, data: Json) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n".encode()
