"""Conversion between our conversation and the JSON of OpenAI's Responses protocol. Pure.

Items of a reply are kept as they came, each as a block of reasoning beside the texts and calls made
from it, and are sent back unchanged: reasoning is worth something only after exactly the items
before it. A conversation is stored by us (``store: false``), so that reasoning comes encrypted.

The calls of one ``computer_call`` are answered together, by one screenshot. Its words follow in a
message, as the answer has no field for them. Every message of ours ends with a cache breakpoint:
the provider writes the newest four, and finds the newest 80.
"""

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from deskhand.tools.agents.providers.browser_tool import BROWSER, as_function, result_content
from deskhand.tools.agents.providers.merged_messages import picture_count, picture_ids
from deskhand.tools.agents.providers.model_table import ModelFacts, sent_name
from deskhand.tools.agents.providers.port import Prompt, call_arguments
from deskhand.tools.conversation.conversation import (
    Compaction,
    Image,
    Message,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from deskhand.tools.kit.support.spec import ToolSpec

from .actions import calls_of

Json = dict[str, Any]

CALLS = ("computer_call", "function_call")
KEPT = ("reasoning", "message", "compaction", *CALLS)
"""Types of items that are sent back as they came."""
RESULT_OF = "Result of the computer call"
"""Begin of the message beside a screenshot; a text for each action follows it."""
BLANK = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGA"
    "WjR9awAAAABJRU5ErkJggg=="
)
"""A picture of one pixel, where an answer needs one and none was taken."""
SEPARATORS = (",", ":")


@dataclass(frozen=True)
class SentMessage:
    """The items of one message in a request, and what the next message has to know."""

    data: bytes
    """Items with commas between them; empty for a message without any."""
    pictures: int = 0
    missing: int = 0
    """Pictures without bytes, in place of which there is a line of text."""
    open_items: tuple[Json, ...] = ()
    """Computer calls that the next message answers."""
    screen: str = BLANK
    """Address of the newest picture so far."""


def sent_message(
    message: Message,
    pictures: Mapping[str, bytes],
    before: SentMessage | None,
    after: Message | None,
    *,
    marked: bool,
) -> SentMessage:
    """Convert one of the ``merged`` messages, between ``before`` and ``after``.

    ``pictures`` holds the bytes of its file ids. A message of ours that is ``marked`` ends with a
    cache breakpoint.
    """
    screen = before.screen if before else BLANK
    if message.role == "assistant":
        reply = tuple(_reply_items(message, _refused(after)))
        open_items = tuple(one for one in reply if one["type"] == "computer_call")
        return SentMessage(_joined(reply), 0, 0, open_items, screen)
    writer = _Writer(pictures, before.open_items if before else (), screen)
    items = list(writer.items(message))
    if items and marked:
        last = items[-1].get("content") or items[-1]["output"]
        last[-1] = {**last[-1], "prompt_cache_breakpoint": {"mode": "explicit"}}
    missing = sum(one not in pictures for one in picture_ids((message,)))
    return SentMessage(_joined(items), picture_count((message,)), missing, (), writer.screen)


def encoded(
    prompt: Prompt, parts: Sequence[SentMessage], facts: ModelFacts, effort: str | None = None
) -> bytes:
    """Return the body of the request for ``prompt``; ``parts`` are those of its messages."""
    frame: Json = {
        "model": sent_name(prompt.model),
        "max_output_tokens": prompt.max_tokens,
        "store": False,
        "stream": True,
        "include": ["reasoning.encrypted_content"],
    }
    if prompt.system.strip():
        frame["instructions"] = prompt.system
    tools = [_tool(spec) for spec in prompt.tools]
    if prompt.computer:
        tools.insert(0, {"type": facts.computer})
    if tools:
        frame["tools"] = tools
    if prompt.conversation:
        frame["prompt_cache_key"] = prompt.conversation
    if facts.cache == "breakpoints":
        frame["prompt_cache_options"] = {"mode": "explicit"}
    if effort is not None:
        frame["reasoning"] = {"effort": effort}
    items = b",".join(part.data for part in parts if part.data)
    return b'%b,"input":[%b]}' % (_bytes(frame).removesuffix(b"}"), items)


def compaction_body(prompt: Prompt, parts: Sequence[SentMessage]) -> bytes:
    """Return the body of the request for a compaction of all messages."""
    frame: Json = {"model": sent_name(prompt.model)}
    if prompt.system.strip():
        frame["instructions"] = prompt.system
    items = b",".join(part.data for part in parts if part.data)
    return b'%b,"input":[%b]}' % (_bytes(frame).removesuffix(b"}"), items)


def reply_blocks(item: Json) -> tuple[Text | Thinking | ToolCall, ...]:
    """Return the blocks for one item of a reply, the first of which keeps the item itself."""
    kind = item["type"]
    if kind not in KEPT:
        return ()
    kept = Thinking(dict(item))
    if kind == "message":
        texts = (_shown(part) for part in item.get("content") or ())
        return (kept, *(Text(text) for text in texts if text))
    if kind == "function_call":
        return kept, ToolCall(item["call_id"], item["name"], _arguments(item.get("arguments")))
    if kind == "computer_call":
        return kept, *calls_of(item)
    return (kept,)


def _shown(part: Json) -> str:
    return str(part.get("text") or part.get("refusal") or "")


def _arguments(text: object) -> Json:
    """Parse the arguments of a call; raises ``ValueError`` if they are not JSON."""
    return call_arguments(json.loads(text) if isinstance(text, str) and text else {})


def _refused(after: Message | None) -> set[str]:
    """Return the ids of calls that no person has approved in view of their safety checks."""
    results = (b for b in (after.content if after else ()) if isinstance(b, ToolResult))
    return {result.call_id for result in results if not result.acknowledged}


def _reply_items(message: Message, refused: set[str]) -> Iterator[Json]:
    yield from (b.data for b in message.content if isinstance(b, Compaction))
    kept = [b.data for b in message.content if isinstance(b, Thinking) and b.data["type"] in KEPT]
    if kept:
        calls = [b for b in message.content if isinstance(b, ToolCall)]
        # The provider accepts no answer without an acknowledgement: the call is left out, and its
        # result stands in words.
        yield from _accepted(kept, {b.id for b in calls if not (b.checks and b.id in refused)})
        return
    # Blocks of another provider, or after a checkpoint of our own.
    for block in message.content:
        if isinstance(block, Text) and block.text.strip():
            content = [{"type": "output_text", "text": block.text, "annotations": []}]
            yield {"type": "message", "role": "assistant", "content": content}
        elif isinstance(block, ToolCall) and block.toolset in (None, BROWSER):
            called = as_function(block)
            arguments = json.dumps(called.arguments, ensure_ascii=False)
            call = {"type": "function_call", "call_id": block.id, "name": called.name}
            yield {**call, "arguments": arguments}
        elif isinstance(block, ToolCall):
            yield _told(block)


def _accepted(kept: Sequence[Json], call_ids: set[str]) -> Iterator[Json]:
    """Yield the items whose calls are answered; reasoning needs the item that it belongs to."""
    seen: set[str] = set()
    reasoning: list[Json] = []
    for item in kept:
        if item["type"] == "reasoning":
            reasoning.append(item)
            continue
        if item["type"] in CALLS:
            call_id = item["call_id"]
            ids = [one.id for one in calls_of(item)] if "computer" in item["type"] else [call_id]
            answered = call_ids.issuperset(ids)
            # A call that was cut off, or a second one of the same id, was never performed.
            if not answered or call_id in seen:
                reasoning.clear()
                continue
            seen.add(call_id)
        yield from (*reasoning, item)
        reasoning.clear()


def _told(call: ToolCall) -> Json:
    # A call to the computer that is no item of this provider cannot be answered by a screenshot.
    arguments = json.dumps(call.arguments, ensure_ascii=False)
    text = f"(I used the computer: {call.name} {arguments})"
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "role": "assistant", "content": content}


class _Writer:
    """Converts a message of the user."""

    def __init__(
        self, pictures: Mapping[str, bytes], open_items: Sequence[Json], screen: str
    ) -> None:
        self._pictures = pictures
        self._open_items = open_items
        self.screen = screen

    def items(self, message: Message) -> Iterator[Json]:
        results = {b.call_id: b for b in message.content if isinstance(b, ToolResult)}
        words: list[Json] = []
        for item in self._open_items:
            ids = [call.id for call in calls_of(item)]
            answers = [results.pop(one) for one in ids if one in results]
            yield self._screenshot(item, answers)
            words += self._words(item["call_id"], answers)
        for result in results.values():
            if result.toolset in (None, BROWSER):
                content = [self._content(b) for b in result_content(result) if not _blank(b)]
                output = content or [_text("(no output)")]
                call_id = result.call_id
                yield {"type": "function_call_output", "call_id": call_id, "output": output}
            else:
                words += [self._content(b) for b in result.content if not _blank(b)]
        others = [b for b in message.content if isinstance(b, Text | Image) and not _blank(b)]
        if words:
            yield _message(words)
        if others:
            yield _message([self._content(block) for block in others])

    def _screenshot(self, item: Json, answers: Sequence[ToolResult]) -> Json:
        for result in answers:
            for block in result.content:
                if isinstance(block, Image) and block.file_id in self._pictures:
                    self.screen = self._address(block)
        output = {"type": "computer_screenshot", "image_url": self.screen}
        data = {"type": "computer_call_output", "call_id": item["call_id"], "output": output}
        checks = item.get("pending_safety_checks")
        if checks and answers and all(result.acknowledged for result in answers):
            data["acknowledged_safety_checks"] = checks
        return data

    def _words(self, call_id: str, answers: Sequence[ToolResult]) -> Iterator[Json]:
        yield _text(f"{RESULT_OF} {call_id}:")
        pictures = [b for r in answers for b in r.content if isinstance(b, Image)]
        for result in answers:
            texts = [b.text for b in result.content if isinstance(b, Text) and not _blank(b)]
            yield _text("\n".join(texts) or "Done.")
            # The last picture is the screenshot.
            shown = (b for b in result.content if isinstance(b, Image) and b is not pictures[-1])
            yield from map(self._content, shown)

    def _content(self, block: Text | Image) -> Json:
        if isinstance(block, Text):
            return _text(block.text)
        if block.file_id not in self._pictures:
            return _text(f"[A picture that was removed: file {block.file_id}]")
        return {"type": "input_image", "image_url": self._address(block)}

    def _address(self, picture: Image) -> str:
        data = base64.b64encode(self._pictures[picture.file_id]).decode("ascii")
        return f"data:{picture.media_type};base64,{data}"


def _blank(block: Text | Image) -> bool:
    return isinstance(block, Text) and not block.text.strip()


def _text(text: str) -> Json:
    return {"type": "input_text", "text": text}


def _message(content: list[Json]) -> Json:
    return {"type": "message", "role": "user", "content": content}


def _tool(spec: ToolSpec) -> Json:
    return {
        "type": "function",
        "name": spec.name,
        "description": spec.description,
        "parameters": spec.schema,
        # Our schemas have optional fields, which the strict form excludes.
        "strict": False,
    }


def _bytes(value: object) -> bytes:
    text = json.dumps(value, ensure_ascii=False, separators=SEPARATORS)
    return text.encode("utf-8", "surrogatepass")


def _joined(items: Sequence[Json]) -> bytes:
    return b",".join(map(_bytes, items))
