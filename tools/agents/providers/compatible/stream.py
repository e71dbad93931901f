"""Parser of one streamed reply of chat completions. No I/O.

Each event is a chunk with the next piece of text, or of the arguments of a call; the last but
``[DONE]`` has the reason for the end and the tokens. A reply without a reason was cut off. Text of
reasoning, which servers put into different fields, is not read.
"""

import json
from collections.abc import Collection, Iterator
from typing import Any

from deskhand.tools.agents.providers.port import ModelReply, Usage, call_arguments, inclusive_usage
from deskhand.tools.agents.providers.reply_errors import FailedReply, UnreadableReply
from deskhand.tools.agents.providers.sse_data import SseData
from deskhand.tools.conversation.conversation import ReplyBlock, Text, ToolCall

from .computer_tool import call_of

Json = dict[str, Any]

DONE = b"[DONE]"
LENGTH = "length"
END_REASONS = {
    "stop": "end_turn",
    LENGTH: "max_tokens",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
    "content_filter": "refusal",
}
"""Reason of the server to ours; another one is passed on."""


class CompletionStream:
    """Accumulates a reply from the bytes of its stream; errors are reported at the end."""

    def __init__(self, *, tools: Collection[str], nonce: str) -> None:
        """Begin a reply; ``tools`` are ours, and ``nonce`` begins ids that are missing."""
        self._sse = SseData()
        self._tools = tools
        self._nonce = nonce
        self._calls: dict[int, Json] = {}
        self._reason = ""
        self._usage: Json = {}
        self._failure: UnreadableReply | FailedReply | None = None
        self.text = ""
        """The text so far."""

    def feed(self, data: bytes) -> Iterator[bool]:
        """Parse the next bytes; yield for each event whether it added text."""
        for event in self._sse.feed(data):
            before = self.text
            if self._failure is None and event.strip() != DONE:
                self._accept(event)
                yield self.text != before

    def result(self) -> ModelReply | None:
        """Return the reply after the end of the stream; ``None`` if it is incomplete.

        Raises:
            UnreadableReply: If an event, or the arguments of a call, is malformed.
            FailedReply: If the server sent an error.
        """
        if self._failure is not None:
            raise self._failure
        if not self._reason:
            return None
        content: list[ReplyBlock] = [Text(self.text)] if self.text else []
        content += self._tool_calls()
        reason = END_REASONS.get(self._reason, self._reason)
        # Some servers end a reply with calls as one without.
        if self._calls and reason == "end_turn":
            reason = "tool_use"
        return ModelReply(tuple(content), reason, self._counted())

    def _accept(self, event: bytes) -> None:
        try:
            self._read(json.loads(event))
        except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
            self._failure = UnreadableReply("an event is not as it should be")

    def _read(self, chunk: Json) -> None:
        if chunk.get("error"):
            error = chunk["error"]
            kind = error.get("code") or error.get("type") or ""
            self._failure = FailedReply(str(kind), str(error.get("message")))
            return
        self._usage = chunk.get("usage") or self._usage
        for choice in chunk.get("choices") or ():
            self._reason = choice.get("finish_reason") or self._reason
            delta = choice.get("delta") or {}
            self.text += delta.get("content") or ""
            for piece in delta.get("tool_calls") or ():
                self._extend(piece)

    def _extend(self, piece: Json) -> None:
        # A server without indexes sends one whole call in each chunk.
        index = piece.get("index", len(self._calls))
        call = self._calls.setdefault(index, {"id": "", "name": "", "arguments": ""})
        function = piece.get("function") or {}
        call["id"] = piece.get("id") or call["id"]
        call["name"] = function.get("name") or call["name"]
        call["arguments"] += function.get("arguments") or ""

    def _tool_calls(self) -> Iterator[ToolCall]:
        last = len(self._calls) - 1
        for number, call in enumerate(self._calls.values()):
            # A reply that hit a limit may end in the middle of its last call, which the loop does
            # not run, and where calls come in turns also in the middle of others.
            if self._reason == LENGTH and not _is_whole(call["arguments"]):
                if number != last:
                    continue
                call = call | {"arguments": ""}
            # Two calls of one id stay that: the loop runs only the first.
            call_id = call["id"] or f"{self._nonce}-{number}"
            yield call_of(call_id, call["name"], self._arguments(call["arguments"]), self._tools)

    @staticmethod
    def _arguments(text: str) -> Json:
        try:
            arguments = json.loads(text or "{}")
        except (ValueError, RecursionError) as error:
            raise UnreadableReply("the arguments of a call are no JSON") from error
        return call_arguments(arguments)

    def _counted(self) -> Usage:
        prompt = self._usage.get("prompt_tokens") or 0
        cached = (self._usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
        written = self._usage.get("completion_tokens") or 0
        details = self._usage.get("completion_tokens_details") or {}
        thinking = details.get("reasoning_tokens") or 0
        # The tokens of the prompt include the cached ones.
        return inclusive_usage(prompt, written, cached=cached, thinking=thinking)


def _is_whole(arguments: str) -> bool:
    try:
        json.loads(arguments)
    except (ValueError, RecursionError):
        return False
    return True
