"""Parser of one streamed reply of Anthropic's Messages protocol. No I/O.

The stream consists of server-sent events
(https://docs.claude.com/en/docs/build-with-claude/streaming). Only their ``data`` fields are read,
as each contains its own type:

    message_start, (content_block_start, content_block_delta ..., content_block_stop) ...,
    message_delta, message_stop; ``ping`` and ``error`` anywhere

A reply without ``message_stop`` was cut off. An error in the stream is reported at its end, in
:meth:`StreamedReply.result`: a client that stops reading in the middle cannot use the connection
again.
"""

import json
from collections.abc import Iterator
from typing import Any

from deskhand.tools.agents.providers.port import ModelReply, Usage
from deskhand.tools.agents.providers.reply_errors import FailedReply, UnreadableReply
from deskhand.tools.agents.providers.sse_data import SseData
from deskhand.tools.conversation.conversation import ReplyBlock

from .wire import reply_block

Json = dict[str, Any]

CUT = ("max_tokens", "model_context_window_exceeded", "refusal")
"""Stop reasons of a reply that may end in the middle of the input of its last call.

No call is run after a refusal, and not the last one after the others.
"""


class StreamedReply:
    """Accumulates a reply from the bytes of its stream; errors are reported at the end."""

    def __init__(self) -> None:
        self._events = SseData()
        self._blocks: dict[int, Json] | None = None
        self._inputs: dict[int, str] = {}
        self._stop_reason = ""
        self._usage: Json = {}
        self._transformations: list[Json] = []
        self.text = ""
        """The text so far."""
        self._thought = False
        self._complete = False
        self._failure: UnreadableReply | FailedReply | None = None

    def feed(self, data: bytes) -> Iterator[bool]:
        """Parse the next bytes; yield for each event but ``ping`` whether it added text."""
        for event in self._events.feed(data):
            before = self.text
            if self._failure is None and self._accepted(event):
                yield self.text != before

    def result(self) -> ModelReply | None:
        """Return the reply after the end of the stream; ``None`` if it is incomplete.

        Raises:
            UnreadableReply: If an event, or the input of a call, is malformed.
            FailedReply: If the provider sent an error.
        """
        if self._failure is not None:
            raise self._failure
        if not self._complete:
            return None
        blocks = self._blocks or {}
        for index, text in self._inputs.items():
            blocks[index]["input"] = self._input(text, ends=index == max(blocks))
        read = (reply_block(block) for block in blocks.values())
        content: tuple[ReplyBlock, ...] = tuple(block for block in read if block is not None)
        usage = Usage(
            self._usage.get("input_tokens") or 0,
            self._usage.get("output_tokens") or 0,
            self._usage.get("cache_read_input_tokens") or 0,
            self._usage.get("cache_creation_input_tokens") or 0,
            len(self._transformations),
            (self._usage.get("output_tokens_details") or {}).get("thinking_tokens") or 0,
        )
        return ModelReply(content, self._stop_reason or "end_turn", usage)

    def _input(self, text: str, *, ends: bool) -> Any:
        try:
            return _parsed(text) if text else {}
        except UnreadableReply:
            if not ends or self._stop_reason not in CUT:
                raise
            return {}

    def _accepted(self, data: bytes) -> bool:
        try:
            event = _parsed(data)
            self._apply(event["type"], event)
        except (UnreadableReply, FailedReply) as error:
            self._failure = error
        except (KeyError, TypeError, AttributeError):
            self._failure = UnreadableReply("an event is not as it should be")
        return self._failure is None and event["type"] != "ping"

    def _apply(self, kind: str, event: Json) -> None:
        if kind == "ping":
            return
        if kind == "error":
            raise FailedReply(str(event["error"]["type"]), str(event["error"]["message"]))
        if kind == "message_start":
            self._blocks = {}
            self._count(event["message"]["usage"])
            self._transformed(event["message"])
        elif self._blocks is None:
            raise UnreadableReply(f"an event {kind!r} came before the reply began")
        elif kind == "content_block_start":
            self._blocks[event["index"]] = dict(event["content_block"])
        elif kind == "content_block_delta":
            self._extend(event["index"], event["delta"])
        elif kind == "message_delta":
            self._stop_reason = event["delta"].get("stop_reason") or self._stop_reason
            self._count(event["usage"])
            self._transformed(event)
        elif kind == "message_stop":
            self._complete = True

    def _extend(self, index: int, delta: Json) -> None:
        block = (self._blocks or {})[index]
        match delta["type"]:
            case "text_delta":
                # The text of a block and the whole text differ: a reply may have several blocks of
                # text.
                block["text"] += delta["text"]
                # A thought is shown too, as a paragraph of its own.
                if self.text and self._thought:
                    self.text += "\n\n"
                self._thought = False
                self.text += delta["text"]
            case "input_json_delta":
                self._inputs[index] = self._inputs.get(index, "") + delta["partial_json"]
            case "thinking_delta":
                block["thinking"] += delta["thinking"]
                self.text += delta["thinking"]
                self._thought = True
            case "compaction_delta":
                for key in ("content", "encrypted_content"):
                    if delta.get(key) is not None:
                        block[key] = (block.get(key) or "") + delta[key]
            case "signature_delta":
                block["signature"] = delta["signature"]

    def _transformed(self, usage: Json) -> None:
        # Both events may have the list; the later one is complete.
        self._transformations = list(usage.get("input_transformations") or self._transformations)

    def _count(self, usage: Json) -> None:
        # The counts of ``message_delta`` are cumulative; a count that is null there stays.
        self._usage |= {name: count for name, count in usage.items() if count is not None}


def _parsed(text: str | bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnreadableReply("what came is no JSON") from error
