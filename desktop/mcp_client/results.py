"""Tools and results of servers as the routes answer them, within our limits. Pure.

Servers are foreign: text is cut in its middle, and a picture that is larger than ours may be is
left out, with a text in its place.
"""

import base64
import binascii
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .image_size import image_size
from .tool_names import tool_name

Json = dict[str, Any]

LONGEST_TEXT = 64 * 1024
"""Characters of text in one result, of all blocks together."""
LONGEST_DESCRIPTION = 4_000
"""Characters of the description of a tool."""
LARGEST_IMAGE = 200_000
"""Bytes of a picture; those of ours have the same limits."""
WIDEST, HIGHEST = 1280, 720
MOST_BLOCKS = 100
"""Blocks of one result."""
MOST_IMAGES = 1


def tool_json(server: str, tool: Mapping[str, Any]) -> Json:
    """Return a tool of a server, given as its ``tools/list`` answers it."""
    schema = tool.get("inputSchema")
    fields: Json = schema if isinstance(schema, dict) else {}
    properties, required = fields.get("properties"), fields.get("required")
    return {
        "server_name": server,
        "name": tool_name(server, str(tool["name"])),
        "description": str(tool.get("description") or "")[:LONGEST_DESCRIPTION],
        "schema": properties if isinstance(properties, dict) else {},
        "required": [one for one in _list(required) if isinstance(one, str)],
    }


def result_json(result: Mapping[str, Any]) -> Json:
    """Return the answer for a ``CallToolResult``, given with the names of the protocol."""
    blocks = _list(result.get("content"))
    content = list(_limited(blocks[:MOST_BLOCKS]))
    if len(blocks) > MOST_BLOCKS:
        content.append(_text(f"[{len(blocks) - MOST_BLOCKS} more blocks were left out]"))
    return {"content": content, "is_error": bool(result.get("isError"))}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _limited(blocks: Sequence[Any]) -> Iterator[Json]:
    room, images = LONGEST_TEXT, 0
    for block in blocks:
        converted = _block(block if isinstance(block, dict) else {})
        if converted["type"] == "image":
            images += 1
            if images > MOST_IMAGES:
                converted = _text(f"[a picture was left out: more than {MOST_IMAGES}]")
        if converted["text"]:
            converted["text"] = _cut(converted["text"], room)
            room = max(room - len(converted["text"]), 0)
        yield converted


def _block(block: Json) -> Json:
    kind = block.get("type")
    if kind == "text":
        return _text(str(block.get("text") or ""))
    if kind in ("image", "audio"):
        return _media(kind, str(block.get("data") or ""), str(block.get("mimeType") or ""))
    if kind == "resource":
        return _resource(block.get("resource"))
    if kind == "resource_link":
        return _text(f"[resource {block.get('uri')}] {block.get('description') or ''}".rstrip())
    return _text("[a block of an unknown type was left out]")


def _resource(given: Any) -> Json:
    resource: Json = given if isinstance(given, dict) else {}
    text, data = resource.get("text"), str(resource.get("blob") or "")
    if isinstance(text, str):
        found = {**_text(text), "type": "resource"}
    elif len(data) * 3 // 4 > LARGEST_IMAGE:
        return _text(f"[a resource of {len(data) * 3 // 4} bytes was left out]")
    else:
        found = {**_text(""), "type": "resource", "data": data}
    return {**found, "media_type": str(resource.get("mimeType") or "")}


def _media(kind: str, data: str, media_type: str) -> Json:
    try:
        content = base64.b64decode(data, validate=True)
    except (ValueError, binascii.Error):
        return _text(f"[broken {kind} was left out]")
    if len(content) > LARGEST_IMAGE:
        limit = LARGEST_IMAGE // 1000
        return _text(f"[{kind} of {len(content)} bytes was left out: at most {limit} KB]")
    if kind == "image":
        size = image_size(content)
        if size is None:
            return _text("[a picture was left out: neither PNG, JPEG nor WebP]")
        if size.width > WIDEST or size.height > HIGHEST:
            limit_text = f"at most {WIDEST}x{HIGHEST}"
            return _text(f"[a picture of {size.width}x{size.height} was left out: {limit_text}]")
    return {"type": kind, "text": "", "data": data, "media_type": media_type}


def _text(text: str) -> Json:
    return {"type": "text", "text": text, "data": "", "media_type": ""}


def _cut(text: str, room: int) -> str:
    """Return a text of about ``room`` characters: two thirds from its head, one from its tail."""
    if len(text) <= room:
        return text
    head, tail = room * 2 // 3, room // 3
    left_out = len(text) - head - tail
    return f"{text[:head]}\n[{left_out} characters were left out]\n{text[len(text) - tail :]}"
