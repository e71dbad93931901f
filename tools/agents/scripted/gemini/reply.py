"""Serialization of a reply of Gemini's protocol: one JSON object, or server-sent events. Pure."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from deskhand.tools.agents.providers.gemini.functions import Size, function_of
from deskhand.tools.agents.scripted.script.player import PlayedTurn
from deskhand.tools.agents.scripted.script.prompt_cache import CHARACTERS_PER_TOKEN, InputTokens
from deskhand.tools.agents.scripted.script.request import Request

Json = dict[str, Any]

USUAL_SIZE: Size = (1280, 720)
SAFETY = "safety_decision"
BLOCKED = "blocked"
"""``stop_reason`` of a script for a prompt that the provider blocks."""
FINISH_REASONS = {
    "end_turn": "STOP",
    "tool_use": "STOP",
    "max_tokens": "MAX_TOKENS",
    "refusal": "SAFETY",
    "pause_turn": "TOO_MANY_TOOL_CALLS",
}
"""Reason of a script to the provider's; another one is passed on in upper case."""


def parts_of(turn: PlayedTurn, request: Request) -> list[Json]:
    """Return the parts of a reply, without signatures."""
    newest = request.pictures[-1].measured if request.pictures else None
    size = (newest.width, newest.height) if newest else USUAL_SIZE
    said = next((block["text"] for block in turn.content if block["type"] == "text"), "")
    return [_part(b, size, said) for b in turn.content if b.get("thinking", True)]


def whole(turn: PlayedTurn, request: Request, reply_id: str) -> Json:
    """Return the reply as one JSON object; its blocks are the signed parts."""
    parts = [block["part"] for block in turn.content]
    last = _end(turn, request, reply_id)
    if turn.stop_reason != BLOCKED:
        last["candidates"][0]["content"] = {"role": "model", "parts": parts}
    return last


def events(turn: PlayedTurn, request: Request, reply_id: str) -> Iterator[bytes]:
    """Yield the reply as events, the last of which has the reason for the end."""
    if turn.stop_reason != BLOCKED:
        for block in turn.content:
            for part in _pieces(block["part"]):
                content = {"role": "model", "parts": [part]}
                candidate = {"content": content, "index": 0}
                yield _event({"candidates": [candidate], "responseId": reply_id})
    yield _event(_end(turn, request, reply_id))


def faulty(kind: str | None, given: Sequence[bytes]) -> list[bytes]:
    """Return the events as a faulty provider sends them; all of them for another kind of fault."""
    half = list(given[: len(given) // 2])
    if kind in ("cut", "unfinished"):
        return half
    if kind == "stream_error":
        message = "overloaded, says the script"
        error = {"code": 503, "message": message, "status": "UNAVAILABLE"}
        return [*half, _event({"error": error})]
    if kind == "malformed":
        candidate = {"finishReason": "MALFORMED_FUNCTION_CALL", "index": 0}
        return [_event({"candidates": [candidate]})]
    return list(given)


def _part(block: Json, size: Size, said: str) -> Json:
    if block["type"] == "text":
        return {"text": block["text"]}
    if block["type"] == "thinking":
        return {"text": block["thinking"], "thought": True}
    name, arguments = block["name"], block["input"]
    if block.get("toolset_name") == "browser":
        name, arguments = "browser", {"action": name, **arguments}
    elif block.get("toolset_name"):
        function = function_of(name, arguments, size)
        name = function.name
        asked = {"decision": "require_confirmation", "explanation": _explanation(block)}
        own = {SAFETY: asked} if block.get("checks") else {}
        arguments = {**function.arguments, "intent": said or f"Next: {name}.", **own}
    return {"functionCall": {"id": block["id"], "name": name, "args": arguments}}


def _explanation(block: Json) -> str:
    # One decision covers all checks of a call.
    return " ".join(check["message"] for check in block.get("checks", ()))


def _pieces(part: Json) -> Iterator[Json]:
    """Yield a part; a plain text in two, so that a client that reads only the first fails."""
    if set(part) == {"text"} and len(part["text"]) > 1:
        middle = len(part["text"]) // 2
        yield {"text": part["text"][:middle]}
        yield {"text": part["text"][middle:]}
    else:
        yield part


def _end(turn: PlayedTurn, request: Request, reply_id: str) -> Json:
    data = {
        "usageMetadata": _usage(turn, request),
        "modelVersion": request.model,
        "responseId": reply_id,
    }
    if turn.stop_reason == BLOCKED:
        return {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, **data}
    reason = FINISH_REASONS.get(turn.stop_reason, turn.stop_reason.upper())
    return {"candidates": [{"finishReason": reason, "index": 0}], **data}


def _usage(turn: PlayedTurn, request: Request) -> Json:
    """Return the counts, of which the prompt's includes the cached tokens."""
    tokens = request.tokens or InputTokens(0)
    parts = [block["part"] for block in turn.content]
    thoughts = sum(len(part["text"]) for part in parts if part.get("thought"))
    others = sum(len(json.dumps(part)) for part in parts if not part.get("thought"))
    written, thought = 1 + others // CHARACTERS_PER_TOKEN, thoughts // CHARACTERS_PER_TOKEN
    return {
        "promptTokenCount": tokens.total,
        "cachedContentTokenCount": tokens.read,
        "candidatesTokenCount": written,
        "thoughtsTokenCount": thought,
        "totalTokenCount": tokens.total + written + thought,
    }


def _event(data: Json) -> bytes:
    return f"data: {json.dumps(data)}\r\n\r\n".encode()
