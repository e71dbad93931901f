"""Conversion of contents of Gemini's protocol to the one form in which scripts are played. Pure."""

from collections.abc import Iterable
from typing import Any

Json = dict[str, Any]


def canonical(contents: Iterable[Json]) -> tuple[Json, ...]:
    """Return the messages for the player; the contents are valid."""
    messages: list[Json] = []
    for content in contents:
        role = "assistant" if content["role"] == "model" else "user"
        blocks = [_block(part) for part in content["parts"]]
        # Responses and a new text of the user are two contents, and one message.
        if messages and messages[-1]["role"] == role:
            messages[-1]["content"] += blocks
        else:
            messages.append({"role": role, "content": blocks})
    return tuple(messages)


def _block(part: Json) -> Json:
    if "functionCall" in part:
        call = part["functionCall"]
        arguments = call.get("args", {})
        return {"type": "tool_use", "id": call.get("id"), "name": call["name"], "input": arguments}
    if "functionResponse" in part:
        return _result(part["functionResponse"])
    if "inlineData" in part:
        return {"type": "image", "source": part["inlineData"]}
    # A thought is no text for anybody, and the part of a signature may have none.
    kind = "thinking" if part.get("thought") or not part["text"] else "text"
    return {"type": kind, "text": part["text"]}


def _result(response: Json) -> Json:
    given = response["response"]
    said = given.get("error", given.get("output", ""))
    texts = said if isinstance(said, list) else [said]
    return {
        "type": "tool_result",
        "tool_use_id": response.get("id"),
        "content": [
            *({"type": "text", "text": str(text)} for text in texts if text),
            *({"type": "image", "source": p["inlineData"]} for p in response.get("parts", [])),
        ],
        "is_error": "error" in given,
    }
