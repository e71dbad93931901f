"""Conversion between our conversation and the JSON of Anthropic's Messages protocol. Pure.

A request repeats the messages of the one before it. So each message is converted once, into a
:class:`MessagePart`, and :func:`encoded` joins the parts to a body. Only the marks for the cache
move: they are put into the bytes of the parts.
"""

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from deskhand.tools.agents.providers import browser_tool
from deskhand.tools.agents.providers.merged_messages import merged, picture_count, picture_ids
from deskhand.tools.agents.providers.model_table import model_facts, sent_name
from deskhand.tools.agents.providers.port import Prompt, call_arguments
from deskhand.tools.conversation.conversation import (
    Block,
    Compaction,
    Image,
    Message,
    ReplyBlock,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from deskhand.tools.kit.support.spec import ToolSpec

from . import older_tools
from .cache_marks import cache_marks
from .thinking import thinking_fields

Json = dict[str, Any]

COMPUTER = "computer"
THINKING = ("thinking", "redacted_thinking")
"""Blocks that must be sent back unchanged, or the provider refuses the calls after them."""

BINDING_BETA = "thinking-binding-controls-2026-08-01"
"""Permits ``thinking.block_binding`` in a request, which is an unknown key without it."""

COMPACTION_BETA = "compact-2026-09-04"
"""Permits ``compaction`` in a request, and the block that is its answer in later ones."""

MARK = b',"cache_control":{"type":"ephemeral"}'


@dataclass(frozen=True)
class MessagePart:
    """The bytes of one message in a request, without a cache mark."""

    role: str
    data: bytes
    """Empty for a message without content, which is left out."""
    mark_at: int | None = None
    """Position at which a mark belongs into the bytes; ``None`` if no block may have one."""
    pictures: int = 0
    missing: int = 0
    """Pictures without bytes, in place of which there is a line of text."""

    def marked(self) -> bytes:
        """Return the bytes with a cache mark at the last block that may have one."""
        at = self.mark_at
        return self.data if at is None else self.data[:at] + MARK + self.data[at:]


def message_part(message: Message, pictures: Mapping[str, bytes], model: str = "") -> MessagePart:
    """Convert one of the ``merged`` messages; ``pictures`` holds the bytes of its file ids.

    A picture without bytes becomes a line of text.
    """
    tool = model_facts(model).computer
    found = _message(message, pictures, toolset=browser_tool.has_toolset(tool))
    if older_tools.is_older(tool):
        found["content"] = [older_tools.sent(block) for block in found["content"]]
    if not found["content"]:
        return MessagePart(message.role, b"")
    pieces = [_bytes({"role": found["role"], "content": []}).removesuffix(b"]}")]
    size, mark_at = len(pieces[0]), None
    for index, block in enumerate(found["content"]):
        pieces.append((b"," if index else b"") + _bytes(block))
        size += len(pieces[-1])
        if block["type"] not in THINKING:
            # Before the brace that closes the block.
            mark_at = size - 1
    ids = picture_ids((message,))
    missing = sum(one not in pictures for one in ids)
    data = b"".join((*pieces, b"]}"))
    return MessagePart(message.role, data, mark_at, picture_count((message,)), missing)


def encoded(
    prompt: Prompt,
    parts: Sequence[MessagePart],
    *,
    drop_block: bool = False,
    effort: str | None = None,
    compact: bool = False,
) -> bytes:
    """Return the body of the request for ``prompt``; ``parts`` are those of its messages.

    ``drop_block`` asks the provider to drop thinking blocks that do not fit their prefix, instead
    of refusing the request; ``compact`` asks for a summary of the messages. Both need the header of
    :func:`headers`.
    """
    sent = [part for part in parts if part.data]
    # The places of joined messages are others than those that the prompt knows.
    settled = prompt.settled if len(sent) == len(prompt.messages) else ()
    marks = cache_marks([part.role for part in sent], settled)
    pieces = [part.data for part in sent]
    for index in marks.messages:
        pieces[index] = sent[index].marked()
    messages = b",".join(pieces)
    asked = _frame(prompt, drop_block=drop_block, effort=effort, mark=marks.system)
    if compact:
        asked["compaction"] = {"type": "summarize"}
    frame = _bytes(asked)
    return b'%b,"messages":[%b]}' % (frame.removesuffix(b"}"), messages)


def request(prompt: Prompt, pictures: Mapping[str, bytes], *, drop_block: bool = False) -> Json:
    """Return the body for ``prompt`` as JSON; ``pictures`` holds the bytes by file id."""
    messages = merged(prompt.messages)
    parts = [message_part(message, pictures, prompt.model) for message in messages]
    body: Json = json.loads(encoded(prompt, parts, drop_block=drop_block))
    return body


def headers(prompt: Prompt, *, drop_block: bool, compact: bool = False) -> dict[str, str]:
    """Return the additional headers that a body of :func:`encoded` needs."""
    summarized = any(isinstance(b, Compaction) for m in prompt.messages for b in m.content)
    betas = [BINDING_BETA] * drop_block + [COMPACTION_BETA] * (compact or summarized)
    betas += model_facts(prompt.model).betas if prompt.computer else ()
    return {"anthropic-beta": ",".join(betas)} if betas else {}


def reply_block(block: Mapping[str, Any]) -> ReplyBlock | None:
    """Convert one content block of a reply; return ``None`` for a kind that is not used."""
    if block["type"] == "text":
        return Text(block["text"]) if block["text"] else None
    if block["type"] == "tool_use":
        arguments = call_arguments(block["input"])
        call = ToolCall(block["id"], block["name"], arguments, block.get("toolset_name"))
        return older_tools.received(call)
    # Without a summary the provider ignores the block, and with it the messages are gone.
    if block["type"] == "compaction":
        return Compaction(dict(block)) if block.get("content") else None
    # Without its signature a thinking block cannot be sent back.
    sealed = block["type"] in THINKING and (block.get("signature") or block.get("data"))
    return Thinking(dict(block)) if sealed else None


def _frame(prompt: Prompt, *, drop_block: bool, effort: str | None, mark: bool) -> Json:
    """Return the body without its messages; with ``mark`` its system prompt has a cache mark."""
    frame: Json = {
        "model": sent_name(prompt.model),
        "max_tokens": prompt.max_tokens,
        "stream": True,
    }
    if prompt.system.strip():
        control: Json = {"cache_control": {"type": "ephemeral"}} if mark else {}
        frame["system"] = [_text(prompt.system) | control]
    facts = model_facts(prompt.model)
    has_browser = browser_tool.has_toolset(facts.computer)
    tools = [_tool(spec, toolset=has_browser) for spec in prompt.tools]
    if prompt.computer:
        tool = facts.computer
        tools.insert(0, older_tools.entry(tool) if older_tools.is_older(tool) else {"type": tool})
    if tools:
        frame["tools"] = tools
    return frame | thinking_fields(prompt, facts, effort, drop=drop_block)


def _bytes(value: Json) -> bytes:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode()
    except UnicodeEncodeError:
        # A lone surrogate, from a program's output or a file name, has no UTF-8.
        return json.dumps(value, separators=(",", ":")).encode()


def _message(message: Message, pictures: Mapping[str, bytes], *, toolset: bool) -> Json:
    results = [b for b in message.content if isinstance(b, ToolResult)]
    others = [b for b in message.content if not isinstance(b, ToolResult)]
    # The provider takes only text in a failed result, so that its pictures follow all results.
    failed = [b for r in results if r.is_error for b in r.content if isinstance(b, Image)]
    content = [_block(b, pictures, toolset) for b in (*results, *failed, *others) if not _blank(b)]
    return {"role": message.role, "content": content}


def _blank(block: Block) -> bool:
    """Return True for a text without words, and for what only another provider reads."""
    if isinstance(block, Thinking):
        return block.data["type"] not in THINKING
    return isinstance(block, Text) and not block.text.strip()


def _block(block: Block, pictures: Mapping[str, bytes], toolset: bool = True) -> Json:
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
        case Thinking(data) | Compaction(data):
            return dict(data)
    return _result(block, pictures, toolset)


def _result(result: ToolResult, pictures: Mapping[str, bytes], toolset: bool) -> Json:
    whole = result.content if toolset else browser_tool.result_content(result)
    content = [b for b in whole if not _blank(b)]
    if result.is_error:
        # The provider accepts only text in a failed result.
        content = [b for b in content if isinstance(b, Text)] or [Text("The tool failed.")]
    data: Json = {"type": "tool_result", "tool_use_id": result.call_id}
    if content:
        data["content"] = [_block(b, pictures) for b in content]
    if toolset and result.browser_state is not None and not result.is_error:
        # The provider writes it in words itself, but for dialogs.
        known, rest = browser_tool.toolset_content(result.browser_state)
        said = [_text(rest)] if rest else []
        state = {"type": "browser_state", **known}
        data["content"] = [*data.get("content", ()), *said, state]
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


def _tool(spec: ToolSpec, *, toolset: bool) -> Json:
    if toolset and spec.name == browser_tool.BROWSER:
        return browser_tool.entry()
    return {"name": spec.name, "description": spec.description, "input_schema": spec.schema}
