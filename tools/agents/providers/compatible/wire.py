"""Conversion of our conversation into requests of chat completions. Pure.

Servers that call themselves compatible differ. What is sent is what all of them read: texts in
tool messages only, the pictures of results in the user message after them, no cache marks and no
reasoning of earlier replies, whose fields differ from server to server.
"""

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from deskhand.tools.agents.providers.browser_tool import result_content
from deskhand.tools.agents.providers.port import Prompt
from deskhand.tools.conversation.conversation import Image, Message, Text, ToolCall, ToolResult
from deskhand.tools.kit.support.spec import ToolSpec

from .computer_tool import TOOL, function_of

Json = dict[str, Any]

RESULT_PICTURES = "The pictures of the results above, in their order:"
"""Text before the pictures of results."""


@dataclass(frozen=True)
class MessageJson:
    """What one message becomes."""

    encoded: bytes
    """Messages of the protocol, with commas between them."""
    pictures: int = 0


def encoded(prompt: Prompt, model: str, parts: Sequence[MessageJson]) -> bytes:
    """Return the body of a request whose messages are converted already."""
    body: Json = {"model": model, "stream": True, "stream_options": {"include_usage": True}}
    tools = [TOOL] if prompt.computer else []
    tools += [_tool(spec) for spec in prompt.tools]
    if tools:
        body["tools"] = tools
    system = [{"role": "system", "content": prompt.system}] if prompt.system.strip() else []
    messages = b",".join(part for part in (_joined(system), *(p.encoded for p in parts)) if part)
    return _bytes(body)[:-1] + b',"messages":[' + messages + b"]}"


def message_json(message: Message, pictures: Mapping[str, bytes]) -> MessageJson:
    """Convert a message; a picture without bytes becomes a line of text."""
    if message.role == "assistant":
        return MessageJson(_joined(_reply(message)))
    results = [b for b in message.content if isinstance(b, ToolResult)]
    shown = [b for result in results for b in result.content if isinstance(b, Image)]
    said = [b for b in message.content if isinstance(b, Text | Image)]
    messages = [_result(one) for one in results]
    content = [_content(one, pictures) for one in shown]
    if content:
        content.insert(0, {"type": "text", "text": RESULT_PICTURES})
    content += [_content(b, pictures) for b in said if not isinstance(b, Text) or b.text.strip()]
    if content:
        messages.append({"role": "user", "content": content})
    sent = sum(one["type"] == "image_url" for one in content)
    return MessageJson(_joined(messages), sent)


def _reply(message: Message) -> list[Json]:
    text = "\n\n".join(b.text for b in message.content if isinstance(b, Text) and b.text.strip())
    calls = [_call(b) for b in message.content if isinstance(b, ToolCall)]
    if not text and not calls:
        return []
    reply: Json = {"role": "assistant", "content": text or None}
    return [{**reply, "tool_calls": calls} if calls else reply]


def _call(call: ToolCall) -> Json:
    name, arguments = function_of(call)
    function = {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)}
    return {"id": call.id, "type": "function", "function": function}


def _result(result: ToolResult) -> Json:
    texts = [b.text for b in result_content(result) if isinstance(b, Text) and b.text.strip()]
    text = "\n\n".join(texts) or ("The tool failed." if result.is_error else "Done.")
    return {"role": "tool", "tool_call_id": result.call_id, "content": text}


def _content(block: Text | Image, pictures: Mapping[str, bytes]) -> Json:
    if isinstance(block, Text):
        return {"type": "text", "text": block.text}
    data = pictures.get(block.file_id)
    if data is None:
        return {"type": "text", "text": f"[A picture that was removed: file {block.file_id}]"}
    address = f"data:{block.media_type};base64,{base64.b64encode(data).decode('ascii')}"
    return {"type": "image_url", "image_url": {"url": address}}


def _tool(spec: ToolSpec) -> Json:
    function = {"name": spec.name, "description": spec.description, "parameters": spec.schema}
    return {"type": "function", "function": function}


def _joined(messages: Sequence[Json]) -> bytes:
    return b",".join(map(_bytes, messages))


def _bytes(value: Json) -> bytes:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass")
