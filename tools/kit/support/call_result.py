"""Result of one tool call, for its caller, for the model and for the step. Pure."""

import json
from dataclasses import dataclass, field
from typing import Any, Self

from deskhand.tools.conversation.conversation import Image, Text, ToolCall, ToolResult

from .spec import ToolOutcome

Json = dict[str, Any]

BROWSER = "browser"
"""Toolset whose results are texts, beside which is the state of the browser."""
NO_ROOM = "no_room"
"""Detail of a step whose call failed because a disk has no room."""


@dataclass(frozen=True)
class CallResult:
    """Result of one tool call: for the caller, and in the form that the model reads."""

    outcome: ToolOutcome
    result: ToolResult
    timings: Json = field(default_factory=dict)
    details: Json = field(default_factory=dict)
    final_arguments: Json | None = None
    """Arguments for the step's end, where they may show more or less than at its beginning."""

    @classmethod
    def of(cls, call: ToolCall, outcome: ToolOutcome) -> Self:
        """Return the result of a call whose outcome the model reads as JSON."""
        text = outcome.error or json.dumps(outcome.value, ensure_ascii=False)
        state = None
        if call.toolset == BROWSER and not outcome.is_error:
            text, state = str(outcome.value.get("text", "")), outcome.value.get("browser_state")
        details = {NO_ROOM: True} if outcome.no_room else {}
        content: tuple[Text | Image, ...] = (Text(text), *outcome.pictures)
        result = ToolResult(
            call.id, content, outcome.is_error, call.toolset, browser_state=state or None
        )
        return cls(outcome, result, details=details)

    @property
    def failure(self) -> str | None:
        """Error of the call; some tools report theirs in the value."""
        if self.outcome.is_error or self.outcome.value.get("success") is not False:
            return self.outcome.error
        return str(self.outcome.value.get("error") or "The call failed.")
