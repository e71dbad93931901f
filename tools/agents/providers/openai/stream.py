"""Parser of one streamed reply of OpenAI's Responses protocol. No I/O.

    response.created, response.in_progress,
    (response.output_item.added, deltas ..., response.output_item.done) ...,
    response.completed | response.incomplete | response.failed; ``error`` anywhere

An item counts as it is in ``output_item.done``: there its encrypted reasoning is complete. A reply
without one of the last three events was cut off. An error in the stream is reported at its end, in
:meth:`ResponseStream.result`: a client that stops reading in the middle cannot use the connection
again.
"""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from deskhand.tools.agents.providers.port import ModelReply, Usage, inclusive_usage
from deskhand.tools.agents.providers.reply_errors import FailedReply, UnreadableReply
from deskhand.tools.agents.providers.sse_data import SseData
from deskhand.tools.conversation.conversation import Compaction, ReplyBlock, ToolCall

from .actions import calls_of
from .wire import reply_blocks

Json = dict[str, Any]

INCOMPLETE = {
    "max_output_tokens": "max_tokens",
    "content_filter": "refusal",
    "max_messages": "pause_turn",
    "steered": "pause_turn",
}
"""Reason of an incomplete reply to our stop reason."""
ENDS = ("response.completed", "response.incomplete", "response.failed")


class ResponseStream:
    """Accumulates a reply from the bytes of its stream; errors are reported at the end."""

    def __init__(self) -> None:
        self._events = SseData()
        self._items: dict[int, Json] = {}
        self._response: Json | None = None
        self._failure: UnreadableReply | FailedReply | None = None
        self.text = ""
        """The text so far."""

    def feed(self, data: bytes) -> Iterator[bool]:
        """Parse the next bytes; yield for each event whether it added text."""
        for event in self._events.feed(data):
            before = self.text
            if self._failure is None and self._accepted(event):
                yield self.text != before

    def result(self) -> ModelReply | None:
        """Return the reply after the end of the stream; ``None`` if it is incomplete.

        Raises:
            UnreadableReply: If an event, or the arguments of a call, are malformed.
            FailedReply: If the provider sent an error.
        """
        if self._failure is not None:
            raise self._failure
        if self._response is None:
            return None
        reason = (self._response.get("incomplete_details") or {}).get("reason")
        stop_reason = INCOMPLETE.get(reason or "", "pause_turn") if reason else "end_turn"
        content: list[ReplyBlock] = []
        refused = False
        last = max(self._items, default=None)
        for index in sorted(self._items):
            item = self._items[index]
            # The last item of a reply that was cut off may be incomplete itself.
            if reason and item.get("status") == "incomplete" and item["type"] != "message":
                continue
            content += _blocks(item)
            # The loop does not run the last call of a reply that hit a limit. The actions of one
            # item are run together or not at all.
            if stop_reason == "max_tokens" and index == last and item["type"] == "computer_call":
                content[-len(calls_of(item)) :] = content[-1:]
            refused = refused or _is_refusal(item)
        if stop_reason == "end_turn" and any(isinstance(b, ToolCall) for b in content):
            stop_reason = "tool_use"
        elif stop_reason == "end_turn" and refused:
            stop_reason = "refusal"
        return ModelReply(tuple(content), stop_reason, _usage(self._response))

    def _accepted(self, data: bytes) -> bool:
        try:
            event = _parsed(data)
            self._apply(event["type"], event)
        except (UnreadableReply, FailedReply) as error:
            self._failure = error
        except (KeyError, TypeError, AttributeError, ValueError):
            self._failure = UnreadableReply("an event is not as it should be")
        return self._failure is None

    def _apply(self, kind: str, event: Json) -> None:
        if kind == "error":
            # The code is missing where the request failed as a whole.
            given = event.get("error") or event
            raise FailedReply(str(given.get("code") or "server_error"), str(given["message"]))
        if kind in ("response.output_text.delta", "response.refusal.delta"):
            self.text += event["delta"]
        elif kind == "response.output_item.done":
            self._items[event["output_index"]] = dict(event["item"])
        elif kind in ENDS:
            response = event["response"]
            if kind == "response.failed":
                error = response.get("error") or {}
                raise FailedReply(
                    str(error.get("code") or "server_error"), str(error.get("message") or "")
                )
            self._response = dict(response)


def _blocks(item: Json) -> tuple[ReplyBlock, ...]:
    try:
        return reply_blocks(item)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise UnreadableReply("an item is not as it should be") from error


def _is_refusal(item: Json) -> bool:
    parts = item.get("content") or ()
    return item["type"] == "message" and any(part.get("type") == "refusal" for part in parts)


def compaction_of(body: bytes) -> ModelReply:
    """Return the answer to a request for a compaction.

    Raises:
        UnreadableReply: If it is malformed.
    """
    try:
        answer = json.loads(body)
        blocks = tuple(Compaction(dict(item)) for item in answer["output"])
        return ModelReply(blocks, "compaction", _usage(answer))
    except (ValueError, KeyError, TypeError) as error:
        raise UnreadableReply("the compaction is not as it should be") from error


def _usage(response: Json) -> Usage:
    """Return the tokens, with those of the cache apart, which the provider includes."""
    usage = response.get("usage") or {}
    details = usage.get("input_tokens_details") or {}
    read, written = details.get("cached_tokens") or 0, details.get("cache_write_tokens") or 0
    thinking = (usage.get("output_tokens_details") or {}).get("reasoning_tokens") or 0
    found = inclusive_usage(
        usage.get("input_tokens") or 0,
        usage.get("output_tokens") or 0,
        cached=read,
        written=written,
        thinking=thinking,
    )
    dropped = len(response.get("input_transformations") or ())
    return replace(found, dropped_thinking=dropped)


def _parsed(text: bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnreadableReply("what came is no JSON") from error
