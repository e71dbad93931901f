"""Detection of an agent that repeats itself: the same call with the same result, many times."""

import json
import re

from deskhand.tools.conversation.conversation import Image, Text, ToolCall, ToolResult

LONGEST_ROW = 20
"""Equal calls in a row that end the turn. Agents that retry with a reason stop long before."""

WAITING_TOOLS = frozenset(
    {"wait", "wait_agent", "process_output", "request_human", "approve_mcp_server"}
)
"""Tools that wait. Agents repeat them on purpose, so that their calls are not counted at all."""

STUCK = (
    f"Ended because nothing changes: the last {LONGEST_ROW} calls were the same and gave the same."
)
_NUMBER = re.compile(r"\d+")


class StuckDetector:
    """Counts equal calls with equal results in a row."""

    def __init__(self) -> None:
        self._last: tuple[str, ...] = ()
        self._row = 0
        self._pictures: tuple[str, ...] = ()

    def record(self, call: ToolCall, result: ToolResult) -> bool:
        """Count a call; return whether the agent is stuck.

        A result with a new picture is progress. Numbers are ignored, as durations and sizes differ
        between calls that do the same.
        """
        if call.name in WAITING_TOOLS:
            return False
        pictures = tuple(b.file_id for b in result.content if isinstance(b, Image))
        if pictures and pictures != self._pictures:
            self._last, self._row, self._pictures = (), 0, pictures
            return False
        text = " ".join(b.text for b in result.content if isinstance(b, Text))
        seen = (call.name, json.dumps(call.arguments, sort_keys=True), _NUMBER.sub("0", text))
        return self._count(seen)

    def record_problems(self, problems: tuple[str, ...]) -> bool:
        """Count a reply of which no call could be run; return whether the agent is stuck."""
        return self._count(problems)

    def _count(self, seen: tuple[str, ...]) -> bool:
        # Only adjacent calls are compared: an agent that alternates between two calls is left to
        # the budget.
        self._row = self._row + 1 if seen == self._last else 1
        self._last = seen
        return self._row >= LONGEST_ROW
