"""Messages of a chat, in a form that is independent of the provider.

A message is a sequence of blocks. The JSON form is stored in the database: `message_from_json` must
read every form that any version of `message_to_json` has written. Blocks of a toolset and thinking
blocks keep what their provider must receive back unchanged.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

Json = dict[str, Any]


@dataclass(frozen=True)
class Text:
    """A text."""

    text: str


@dataclass(frozen=True)
class Image:
    """A picture kept in the file store."""

    file_id: str
    media_type: str
    width: int
    height: int


@dataclass(frozen=True)
class SafetyCheck:
    """A concern of the provider about a call, which a person must acknowledge before it is run."""

    id: str
    """The provider's id; empty where it has none."""
    code: str = ""
    """The kind of concern, as ``malicious_instructions``."""
    message: str = ""
    """Explanation for the person."""


@dataclass(frozen=True)
class ToolCall:
    """A call of a tool, requested by the model."""

    id: str
    name: str
    arguments: Json
    toolset: str | None = None
    """The provider's toolset that ``name`` is a member of, as ``computer``."""
    checks: tuple[SafetyCheck, ...] = ()
    """The call is run only after a person has approved it in view of these."""
    reason: str = ""
    """Why the model calls it, where its provider returns that beside the arguments."""


@dataclass(frozen=True)
class ToolResult:
    """Result of the call with that id."""

    call_id: str
    content: tuple[Text | Image, ...]
    is_error: bool = False
    toolset: str | None = None
    acknowledged: bool = False
    """True if a person approved the call in view of its safety checks."""
    browser_state: Json | None = None
    """Tabs of the browser after a call of its toolset, and what has changed."""


@dataclass(frozen=True)
class Thinking:
    """A thinking block in its provider's own form; it is sent back unchanged."""

    data: Json


@dataclass(frozen=True)
class Compaction:
    """A provider's own summary of earlier messages; it is sent back unchanged, in their place."""

    data: Json


ReplyBlock = Text | ToolCall | Thinking | Compaction
"""A block of a model's reply."""

Block = Text | Image | ToolCall | ToolResult | Thinking | Compaction


@dataclass(frozen=True)
class Message:
    """The blocks of one role between two messages of the other."""

    role: Literal["user", "assistant"]
    content: tuple[Block, ...]


def message_to_json(message: Message) -> Json:
    """Return a JSON form that :func:`message_from_json` reads back."""
    return {"role": message.role, "content": [_block_to_json(b) for b in message.content]}


def message_from_json(data: Mapping[str, Any]) -> Message:
    """Read what :func:`message_to_json` wrote."""
    return Message(data["role"], tuple(_block_from_json(b) for b in data["content"]))


def _block_to_json(block: Block) -> Json:
    match block:
        case Text(text):
            return {"type": "text", "text": text}
        case Image():
            return {
                # Stored messages contain this name, which is not that of the class.
                "type": "picture",
                "file_id": block.file_id,
                "media_type": block.media_type,
                "width": block.width,
                "height": block.height,
            }
        case ToolCall():
            return {
                "type": "tool_call",
                "id": block.id,
                "name": block.name,
                "arguments": block.arguments,
                "toolset": block.toolset,
                # Left out where there are none: stored messages stay as they are.
                **({"checks": [asdict(one) for one in block.checks]} if block.checks else {}),
                **({"reason": block.reason} if block.reason else {}),
            }
        case ToolResult():
            return {
                "type": "tool_result",
                "call_id": block.call_id,
                "content": [_block_to_json(b) for b in block.content],
                "is_error": block.is_error,
                "toolset": block.toolset,
                **({"acknowledged": True} if block.acknowledged else {}),
                **({"browser_state": block.browser_state} if block.browser_state else {}),
            }
        case Compaction(data):
            return {"type": "compaction", "data": data}
    return {"type": "thinking", "data": block.data}


def _block_from_json(data: Mapping[str, Any]) -> Block:
    match data["type"]:
        case "text":
            return Text(data["text"])
        case "picture":
            return _picture(data)
        case "tool_call":
            # Members without a default exist in every stored form: a new one must be read with
            # ``get``.
            checks = tuple(SafetyCheck(**one) for one in data.get("checks", ()))
            return ToolCall(
                data["id"],
                data["name"],
                data["arguments"],
                data["toolset"],
                checks,
                data.get("reason", ""),
            )
        case "tool_result":
            content = tuple(
                Text(b["text"]) if b["type"] == "text" else _picture(b) for b in data["content"]
            )
            return ToolResult(
                data["call_id"],
                content,
                data["is_error"],
                data["toolset"],
                bool(data.get("acknowledged")),
                data.get("browser_state"),
            )
        case "thinking":
            return Thinking(data["data"])
        case "compaction":
            return Compaction(data["data"])
        case other:
            raise ValueError(f"unknown block type {other!r}")


def _picture(data: Mapping[str, Any]) -> Image:
    return Image(data["file_id"], data["media_type"], data["width"], data["height"])
