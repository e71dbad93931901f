"""Conversion between our conversation and the JSON of Anthropic's Messages protocol. Pure."""

import base64
import json
from collections.abc import Iterable, Mapping
from typing import Any

from deskhand.tools.agents.providers.port import Prompt
from deskhand.tools.conversation.conversation import (
    Block,
    Image,
    Message,
    ReplyBlock,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from deskhand.tools.kit.support.spec import ToolSpec

from .cache_marks import cache_marks

Json = dict[str, Any]

COMPUTER = "computer"
THINKING = ("thinking", "redacted_thinking")
"""Blocks that must be sent back unchanged, or the provider refuses the calls after them."""

COMPUTER_TOOLSET = "computer_toolset_20260801"
BINDING_BETA = "thinking-binding-controls-2026-08-01"
"""Permits ``thinking.block_binding`` in a request, which is an unknown key without it."""


def request(prompt: Prompt, pictures: Mapping[str, bytes], *, drop_block: bool = False) -> Json:
    """Return the body for ``prompt``; ``pictures`` holds the bytes of each file id in it.

    A picture without bytes becomes a line of text.

    ``drop_block`` asks the provider to drop thinking blocks that do not fit their prefix, instead
    of refusing the request. It needs the header of :func:`headers`.
    """
    messages = [_message(m, pictures) for m in _merged(prompt.messages)]
    messages = [m for m in messages if m["content"]]
    # The places of joined messages are others than those that the prompt knows.
    settled = prompt.settled if len(messages) == len(prompt.messages) else ()
    marks = cache_marks([m["role"] for m in messages], settled)
    for index in marks.messages:
        _mark(messages[index]["content"][-1])
    body: Json = {
        "model": prompt.model,
        "max_tokens": prompt.max_tokens,
        "messages": messages,
    }
    if prompt.system.strip():
        system = _text(prompt.system)
        if marks.system:
            _mark(system)
        body["system"] = [system]
    tools = [_tool(spec) for spec in prompt.tools]
    if prompt.computer:
        tools.insert(0, {"type": COMPUTER_TOOLSET})
    if tools:
        body["tools"] = tools
    if drop_block:
        binding = {"prefix_mismatch_behavior": "drop_block"}
        body["thinking"] = {"type": "adaptive", "block_binding": binding}
    return body


def headers(body: Json) -> dict[str, str]:
    """Return the additional headers that a body of :func:`request` needs."""
    return {"anthropic-beta": BINDING_BETA} if "thinking" in body else {}


def size(body: Json) -> int:
    """Return the bytes of a body on the wire."""
    # The form in which the official client sends it.
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    return len(text.encode("utf-8", "surrogatepass"))


def picture_count(messages: Iterable[Message]) -> int:
    """Return the number of pictures in a request with these messages."""
    flat = (
        inner
        for message in messages
        for block in message.content
        for inner in (block.content if isinstance(block, ToolResult) else (block,))
    )
    return sum(isinstance(block, Image) for block in flat)


def picture_ids(messages: Iterable[Message]) -> tuple[str, ...]:
    """Return the file ids whose bytes :func:`request` needs, each once, in order."""
    found: dict[str, None] = {}
    for message in messages:
        for block in message.content:
            inner = block.content if isinstance(block, ToolResult) else (block,)
            found.update((b.file_id, None) for b in inner if isinstance(b, Image))
    return tuple(found)


def reply_block(block: Mapping[str, Any]) -> ReplyBlock | None:
    """Convert one content block of a reply; return ``None`` for a kind that is not used."""
    if block["type"] == "text":
        return Text(block["text"]) if block["text"] else None
    if block["type"] == "tool_use":
        # A model can return an input that is no object; the tool then reports what is missing.
        given = block["input"]
        arguments = given if isinstance(given, dict) else {}
        return ToolCall(block["id"], block["name"], arguments, block.get("toolset_name"))
    # Without its signature a thinking block cannot be sent back.
    sealed = block["type"] in THINKING and (block.get("signature") or block.get("data"))
    return Thinking(dict(block)) if sealed else None


def _merged(messages: Iterable[Message]) -> list[Message]:
    """Join consecutive messages of one role, as the provider would: marks must be at real ends."""
    merged: list[Message] = []
    for message in messages:
        if merged and merged[-1].role == message.role:
            merged[-1] = Message(message.role, merged[-1].content + message.content)
        else:
            merged.append(message)
    return merged


def _message(message: Message, pictures: Mapping[str, bytes]) -> Json:
    results = [b for b in message.content if isinstance(b, ToolResult)]
    others = [b for b in message.content if not isinstance(b, ToolResult)]
    # The provider takes only text in a failed result, so that its pictures follow all results.
    failed = [b for r in results if r.is_error for b in r.content if isinstance(b, Image)]
    content = [_block(b, pictures) for b in (*results, *failed, *others) if not _blank(b)]
    return {"role": message.role, "content": content}


def _blank(block: Block) -> bool:
    return isinstance(block, Text) and not block.text.strip()


def _block(block: Block, pictures: Mapping[str, bytes]) -> Json:
    match block:
        case Text(text):
            return _text(text)
        case Image():
            return _picture(block, pictures)
        case ToolCall():
            return _with_toolset(
                {
                    "type": "tool_use",
                    "id": block.id,
                    "name": block.name,
                    "input": block.arguments,
                },
                block.toolset,
            )
        case Thinking(data):
            return dict(data)
    return _result(block, pictures)


def _result(result: ToolResult, pictures: Mapping[str, bytes]) -> Json:
    content = [b for b in result.content if not _blank(b)]
    if result.is_error:
        # The provider accepts only text in a failed result.
        content = [b for b in content if isinstance(b, Text)] or [Text("The tool failed.")]
    data: Json = {"type": "tool_result", "tool_use_id": result.call_id}
    if content:
        data["content"] = [_block(b, pictures) for b in content]
    if result.is_error:
        data["is_error"] = True
    return _with_toolset(data, result.toolset)


def _with_toolset(data: Json, toolset: str | None) -> Json:
    return data if toolset is None else {**data, "toolset_name": toolset}


def _text(text: str) -> Json:
    return {"type": "text", "text": text}


def _picture(picture: Image, pictures: Mapping[str, bytes]) -> Json:
    if picture.file_id not in pictures:
        return _text(f"[A picture that was removed: file {picture.file_id}]")
    data = base64.b64encode(pictures[picture.file_id]).decode("ascii")
    source = {"type": "base64", "media_type": picture.media_type, "data": data}
    return {"type": "image", "source": source}


def _tool(spec: ToolSpec) -> Json:
    return {"name": spec.name, "description": spec.description, "input_schema": spec.schema}


def _mark(block: Json) -> None:
    block["cache_control"] = {"type": "ephemeral"}
