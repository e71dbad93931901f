"""Parser of one streamed reply of Gemini's ``streamGenerateContent``. No I/O.

The stream consists of server-sent events (``alt=sse``). Each of them is a
``GenerateContentResponse`` with the next parts of the reply. Parts are whole, but for texts, which
continue in the parts after them. The last event has the reason for the end (``finishReason``); a
reply without one was cut off.

A part is kept as it came, in a thinking block before what it stands for: its
``thoughtSignature`` is valid in exactly this part only.
"""

import json
from collections.abc import Collection, Iterator, Mapping
from itertools import takewhile
from typing import Any

from deskhand.tools.agents.providers.port import ModelReply, Usage, inclusive_usage
from deskhand.tools.agents.providers.reply_errors import FailedReply, UnreadableReply
from deskhand.tools.agents.providers.sse_data import SseData
from deskhand.tools.conversation.conversation import (
    ReplyBlock,
    SafetyCheck,
    Text,
    Thinking,
    ToolCall,
)

from .functions import INTENT, SAFETY, Size, members_of

Json = dict[str, Any]

PART = "gemini_part"
"""Type of the thinking blocks that hold a part."""
COMPUTER = "computer"
REQUIRE_CONFIRMATION = "require_confirmation"

END_REASONS: Mapping[str, str] = {
    "STOP": "end_turn",
    "MAX_TOKENS": "max_tokens",
    "CONTINUATION": "max_tokens",
    "TOO_MANY_TOOL_CALLS": "pause_turn",
    **dict.fromkeys(
        (
            "SAFETY",
            "RECITATION",
            "LANGUAGE",
            "BLOCKLIST",
            "PROHIBITED_CONTENT",
            "SPII",
            "IMAGE_SAFETY",
            "IMAGE_PROHIBITED_CONTENT",
            "IMAGE_RECITATION",
            "MODEL_ARMOR",
            "ESCALATION",
        ),
        "refusal",
    ),
}
"""Reason of the provider to ours; another one is passed on in lower case."""

ASKED_AGAIN = frozenset(
    [
        "MALFORMED_FUNCTION_CALL",
        "MALFORMED_RESPONSE",
        "UNEXPECTED_TOOL_CALL",
        "OTHER",
        "FINISH_REASON_UNSPECIFIED",
    ]
)
"""Reasons after which the same request may succeed."""

REFUSED: Mapping[str, str] = {
    "MISSING_THOUGHT_SIGNATURE": "the request lacks a thought signature",
    "PUP_LIMITED_DISABLED": "the account is limited or disabled because of its use",
}
"""Reasons after which the same request fails again."""


class FailedAnswer(Exception):
    """The reply cannot be used; ``again`` is true if the same request may succeed."""

    def __init__(self, message: str, *, again: bool) -> None:
        super().__init__(message, again)
        self.message = message
        self.again = again


class StreamedAnswer:
    """Accumulates a reply from the bytes of its stream; errors are reported at the end."""

    def __init__(self, size: Size, *, tools: Collection[str], nonce: str) -> None:
        """Begin a reply to a request whose newest screenshot has that size.

        ``tools`` are the names of ours: a call of another predefined function is one of the
        computer, also where none is offered. ``nonce`` begins the ids of calls that come without
        one.
        """
        self._size = size
        self._tools = tools
        self._nonce = nonce
        self._sse = SseData()
        self._failure: UnreadableReply | FailedReply | None = None
        self._content: list[ReplyBlock] = []
        self._sealed = 0
        """Length of the content at the end of the newest text with a signature."""
        self._reason = ""
        self._usage: Json = {}
        self._blocked = ""
        self.text = ""
        """The text so far."""

    def feed(self, data: bytes) -> Iterator[bool]:
        """Parse the next bytes; yield for each event whether it added text."""
        for event in self._sse.feed(data):
            before = self.text
            if self._failure is None:
                self._accept(event)
                yield self.text != before

    def _accept(self, event: bytes) -> None:
        try:
            self._read(json.loads(event))
        except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
            # Reported at the end: a client that stops reading cannot use the connection again.
            self._failure = UnreadableReply("an event is not as it should be")

    def _read(self, chunk: Json) -> None:
        if "error" in chunk:
            error = chunk["error"]
            self._failure = FailedReply(str(error.get("code")), str(error.get("message")))
            return
        self._usage = chunk.get("usageMetadata") or self._usage
        feedback = chunk.get("promptFeedback") or {}
        if feedback.get("blockReason"):
            message = feedback.get("blockReasonMessage") or feedback["blockReason"]
            self._blocked = f"the provider blocked the prompt: {message}"
        for candidate in (chunk.get("candidates") or ())[:1]:
            self._reason = candidate.get("finishReason") or self._reason
            for part in (candidate.get("content") or {}).get("parts") or ():
                self._add(part)

    def result(self) -> ModelReply | None:
        """Return the reply after the end of the stream; ``None`` if it is incomplete.

        Raises:
            UnreadableReply: If an event is malformed.
            FailedReply: If the provider sent an error.
            FailedAnswer: If the provider blocked the prompt or could not complete its reply.
        """
        if self._failure is not None:
            raise self._failure
        if self._blocked:
            raise FailedAnswer(self._blocked, again=False)
        if not self._reason:
            return None
        if self._reason in REFUSED:
            raise FailedAnswer(REFUSED[self._reason], again=False)
        if self._reason in ASKED_AGAIN:
            raise FailedAnswer(f"the answer ended with {self._reason}", again=True)
        reason = END_REASONS.get(self._reason, self._reason.lower())
        if reason == "max_tokens":
            self._join_last_call()
        called = any(isinstance(block, ToolCall) for block in self._content)
        if reason == "end_turn" and not self._content:
            raise FailedAnswer("the answer was empty", again=True)
        if reason == "end_turn" and called:
            reason = "tool_use"
        return ModelReply(tuple(self._content), reason, self._counted())

    def _join_last_call(self) -> None:
        """Leave of the members of the last function only the last, which the loop does not run."""
        members = list(takewhile(lambda one: isinstance(one, ToolCall), reversed(self._content)))
        if members:
            self._content[-len(members) :] = members[:1]

    def _add(self, part: Json) -> None:
        if "functionCall" in part:
            self._call(part)
        elif part.get("thought") or part.get("thoughtSignature"):
            self._content.append(Thinking({"type": PART, "part": part}))
            if not part.get("thought"):
                self._say(part.get("text") or "")
                self._sealed = len(self._content)
        elif part.get("text"):
            self._say(part["text"])

    def _say(self, text: str) -> None:
        self.text += text
        last = self._content[-1] if self._content else None
        # A text with a signature stays apart: it goes back as its part.
        if isinstance(last, Text) and len(self._content) != self._sealed:
            self._content[-1] = Text(last.text + text)
        elif text:
            self._content.append(Text(text))

    def _call(self, part: Json) -> None:
        given: Json = part["functionCall"]
        arguments: Json = given.get("args") or {}
        name = str(given.get("name") or "")
        members = () if name in self._tools else members_of(name, arguments, self._size)
        # Two calls of one id stay that: the loop runs only the first.
        call_id = str(given.get("id") or f"{self._nonce}-{len(self._content)}")
        reason = str(arguments.get(INTENT) or "") if members else ""
        checks = _checks(arguments.get(SAFETY))
        if not members:
            own = {key: value for key, value in arguments.items() if key != SAFETY}
            calls = [ToolCall(call_id, name, own, None, checks)]
        else:
            # The last call has the id of the whole: its result is the newest.
            ids = [f"{call_id}.{index}" for index in range(1, len(members))]
            calls = [
                # One question to a person covers all members: the first of them has it.
                ToolCall(
                    one_id, one.member, one.arguments, COMPUTER, () if index else checks, reason
                )
                for index, (one_id, one) in enumerate(zip((*ids, call_id), members, strict=True))
            ]
        covered = [call.id for call in calls]
        self._content += [Thinking({"type": PART, "part": part, "calls": covered}), *calls]

    def _counted(self) -> Usage:
        def count(name: str) -> int:
            return self._usage.get(f"{name}TokenCount") or 0

        cached = count("cachedContent")
        # The prompt's tokens include the cached ones, and its thoughts are none of the reply's.
        return inclusive_usage(
            max(count("prompt"), cached) + count("toolUsePrompt"),
            count("candidates") + count("thoughts"),
            cached=cached,
            thinking=count("thoughts"),
        )


def _checks(decision: object) -> tuple[SafetyCheck, ...]:
    if not isinstance(decision, Mapping):
        return () if decision is None else (SafetyCheck("", REQUIRE_CONFIRMATION, str(decision)),)
    if decision.get("decision") != REQUIRE_CONFIRMATION:
        return ()
    return (SafetyCheck("", REQUIRE_CONFIRMATION, str(decision.get("explanation") or "")),)
