"""Serialization of a reply of the Responses protocol: one JSON object, or server-sent events."""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from deskhand.tools.agents.scripted.script.player import PlayedTurn
from deskhand.tools.agents.scripted.script.prompt_cache import CHARACTERS_PER_TOKEN
from deskhand.tools.agents.scripted.script.request import Request

from .actions import actions_of

Json = dict[str, Any]

COMPUTER = "computer"
INCOMPLETE = {"max_tokens": "max_output_tokens", "pause_turn": "steered"}
"""Stop reason of a script to the reason of an incomplete response."""
_PREFIXES = {"reasoning": "rs", "message": "msg", "function_call": "fc", "computer_call": "cu"}
WINDOW_EXCEEDED = "model_context_window_exceeded"


def items_of(content: Iterable[Json], reply_id: str, *, refusal: bool = False) -> list[Json]:
    """Return the items for the canonical blocks of a reply."""
    items: list[Json] = []
    calls: list[Json] = []
    for block in content:
        if block["type"] == "tool_use" and block.get("toolset_name") == COMPUTER:
            if any(call["id"] == block["id"] for call in calls):
                items.append(_computer_call(calls))
                calls = []
            calls.append(block)
            continue
        if calls:
            items.append(_computer_call(calls))
            calls = []
        items.append(_item(block, refusal))
    if calls:
        items.append(_computer_call(calls))
    return [
        {"id": f"{_PREFIXES[item['type']]}_{reply_id}{index}", "status": "completed", **item}
        for index, item in enumerate(items)
    ]


def _item(block: Json, refusal: bool) -> Json:
    if block["type"] == "thinking":
        text = block["thinking"]
        summary = [{"type": "summary_text", "text": text}] if text else []
        return {"type": "reasoning", "summary": summary, "encrypted_content": block["signature"]}
    if block["type"] == "text":
        part = {"type": "output_text", "text": block["text"], "annotations": []}
        if refusal:
            part = {"type": "refusal", "refusal": block["text"]}
        return {"type": "message", "role": "assistant", "content": [part]}
    name, given = block["name"], block["input"]
    if "toolset_name" in block:
        name, given = block["toolset_name"], {"action": name, **given}
    arguments = json.dumps(given, ensure_ascii=False)
    call = {"type": "function_call", "call_id": block["id"], "name": name}
    return {**call, "arguments": arguments}


def _computer_call(calls: Sequence[Json]) -> Json:
    return {
        "type": "computer_call",
        "call_id": calls[0]["id"],
        "actions": actions_of(calls),
        "pending_safety_checks": [one for call in calls for one in call.get("checks", ())],
    }


def whole(turn: PlayedTurn, request: Request, reply_id: str, dropped: Sequence[Json] = ()) -> Json:
    """Return the reply as one JSON object; ``dropped`` lists items of the request."""
    reason = INCOMPLETE.get(turn.stop_reason)
    items = items_of(turn.content, reply_id, refusal=turn.stop_reason == "refusal")
    return {
        "id": f"resp_{reply_id}",
        "object": "response",
        "created_at": 0,
        "model": request.model,
        "status": "incomplete" if reason else "completed",
        "incomplete_details": {"reason": reason} if reason else None,
        "error": None,
        "output": items,
        "input_transformations": list(dropped),
        "usage": usage(turn, request),
    }


def events(
    turn: PlayedTurn, request: Request, reply_id: str, dropped: Sequence[Json] = ()
) -> Iterator[bytes]:
    """Yield the reply as events, in the order of the provider."""
    response = whole(turn, request, reply_id, dropped)
    begun = {**response, "status": "in_progress", "output": [], "usage": None}
    parts: list[Json] = [
        {"type": "response.created", "response": begun},
        {"type": "response.in_progress", "response": begun},
    ]
    for index, item in enumerate(response["output"]):
        parts += _item_events(index, item)
    parts.append(_end(turn, response))
    for number, part in enumerate(parts):
        yield _event({**part, "sequence_number": number})


def faulty(kind: str | None, events: Sequence[bytes]) -> list[bytes]:
    """Return the events as a faulty provider sends them; all of them for another kind of fault."""
    half = list(events[: max(2, len(events) // 2)])
    if kind in ("cut", "unfinished"):
        return half
    if kind == "stream_error":
        message = "overloaded, says the script"
        return [*half, _event({"type": "error", "code": "server_error", "message": message})]
    if kind == "malformed":
        # The pattern depends on the separators of ``json.dumps`` in ``_event``.
        return [event.replace(b'"output_index": ', b'"output_index": ]') for event in events]
    return list(events)


def usage(turn: PlayedTurn, request: Request) -> Json:
    """Return the tokens; those of the input include what was read from the cache and written."""
    tokens = request.tokens
    written = sum(len(json.dumps(block)) for block in turn.content)
    output = 1 + written // CHARACTERS_PER_TOKEN
    total = tokens.total if tokens else 0
    return {
        "input_tokens": total,
        "input_tokens_details": {
            "cached_tokens": tokens.read if tokens else 0,
            "cache_write_tokens": tokens.written if tokens else 0,
        },
        "output_tokens": output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": total + output,
    }


def _end(turn: PlayedTurn, response: Json) -> Json:
    if turn.stop_reason == WINDOW_EXCEEDED:
        error = {"code": "context_length_exceeded", "message": "the window is full"}
        failed = {**response, "status": "failed", "error": error, "output": []}
        return {"type": "response.failed", "response": failed}
    kind = "incomplete" if response["incomplete_details"] else "completed"
    return {"type": f"response.{kind}", "response": response}


def _item_events(index: int, item: Json) -> Iterator[Json]:
    place = {"output_index": index, "item_id": item["id"]}
    added = {**item, "status": "in_progress"}
    if item["type"] == "message":
        added["content"] = []
    yield {"type": "response.output_item.added", "output_index": index, "item": added}
    if item["type"] == "message":
        part = item["content"][0]
        kind = "output_text" if part["type"] == "output_text" else "refusal"
        text = part.get("text") or part.get("refusal")
        for piece in _halves(text):
            yield {"type": f"response.{kind}.delta", **place, "content_index": 0, "delta": piece}
    elif item["type"] == "function_call":
        for piece in _halves(item["arguments"]):
            yield {"type": "response.function_call_arguments.delta", **place, "delta": piece}
    elif item["type"] == "reasoning":
        for part in item["summary"]:
            for piece in _halves(part["text"]):
                kind = "response.reasoning_summary_text.delta"
                yield {"type": kind, **place, "summary_index": 0, "delta": piece}
    yield {"type": "response.output_item.done", "output_index": index, "item": item}


def _halves(text: str) -> tuple[str, str]:
    """Return two pieces, so that a client that reads only the first fails."""
    middle = len(text) // 2
    return text[:middle], text[middle:]


def _event(data: Json) -> bytes:
    return f"event: {data['type']}\ndata: {json.dumps(data)}\n\n".encode()
