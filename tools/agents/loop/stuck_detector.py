"""Notices an agent that goes in circles: the same call, the same answer, again and again."""

import json
import re

from deskhand.tools.conversation.conversation import Image, Text, ToolCall, ToolResult

LONGEST_ROW = 20
PATIENT = frozenset({"wait", "wait_agent", "process_output", "request_human"})
"""Calls that wait: they are made again on purpose, and count neither for nor against."""

STUCK = (
    f"Ended because nothing changes: the last {LONGEST_ROW} calls were the same and gave the same."
)
_NUMBER = re.compile(r"\d+")


class StuckDetector:
    """Counts equal calls with equal answers in a row."""

    def __init__(self) -> None:
        self._last: tuple[str, ...] = ()
        self._row = 0

    def saw(self, call: ToolCall, result: ToolResult) -> bool:
        """Take note of a call; say whether it was one too many.

        A new picture is progress. Numbers in an answer are not: times and sizes differ always.
        """
        if call.name in PATIENT:
            return False
        if any(isinstance(block, Image) for block in result.content):
            self._last, self._row = (), 0
            return False
        said = " ".join(b.text for b in result.content if isinstance(b, Text))
        seen = (call.name, json.dumps(call.arguments, sort_keys=True), _NUMBER.sub("0", said))
        self._row = self._row + 1 if seen == self._last else 1
        self._last = seen
        return self._row >= LONGEST_ROW
