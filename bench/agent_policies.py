"""Policies of other loops on the trace of the cost figures, and of ours at 9714228.

Their names are those of ``prompt_cost.py``. Each says how many of the oldest pictures are left out
of a request, and which blocks carry a mark.
"""

import json
from collections.abc import Callable, Sequence
from typing import Any

from bench.agent_trace import TRACE, Bill, call_id, encoded_picture, reply_to

Json = dict[str, Any]
Rows = list[tuple[str, Json]]
"""Kind and block of each block of a request, the system prompt first."""
LeaveOut = Callable[[int], int]
Marks = Callable[[Rows, int], Sequence[int]]

MARK = {"cache_control": {"type": "ephemeral"}}
LINE = {
    "type": "text",
    "text": "[An earlier picture, 1280x720, left out here: file 01234]" + "x" * 23,
}


def rolling(keep: int, batch: int) -> LeaveOut:
    """Leave out ``batch`` pictures at a time, so that at least ``keep`` stay."""
    return lambda n: max(0, n - keep) // batch * batch


def last_two_messages(rows: Rows, left: int) -> list[int]:
    """Mark the system prompt and the ends of the last two messages."""
    return sorted({0, len(rows) - 1, max(0, len(rows) - 2)})


def trailing(count: int) -> Marks:
    """Mark the system prompt and the newest results."""
    return lambda rows, left: sorted(
        {0, *[i for i, r in enumerate(rows) if r[0] == "result"][-count:]}
    )


OURS_THEN = "now: keep 3, batch 3, marks on the last two messages"
BEST_PRACTICES = "computer-use-best-practices: keep 3, interval 40, 3 results"
POLICIES: dict[str, tuple[LeaveOut, Marks]] = {
    OURS_THEN: (rolling(3, 3), last_two_messages),
    BEST_PRACTICES: (lambda n: max(0, n - (n % 40 + 3)), trailing(3)),
    "computer-use-demo with pruning: keep 10, batch 10, 3 results": (rolling(10, 10), trailing(3)),
    "append only, marks on the newest results": (lambda n: 0, trailing(2)),
    "newest 3, no marks: cua-agent's defaults": (lambda n: max(0, n - 3), lambda rows, left: []),
}


def played(policy: str, steps: int) -> Bill:
    """Return the bill of a run by one of ``POLICIES``."""
    leave_out, marks = POLICIES[policy]
    bill = Bill()
    replies: list[list[Json]] = []
    for behind in range(steps + 1):
        left = leave_out(behind)
        rows = _rows(replies, left)
        for index in marks(rows, left):
            rows[index] = (rows[index][0], {**rows[index][1], **MARK})
        request = bill.add(json.dumps(_body(rows)).encode())
        if behind < steps:
            replies.append(reply_to(request, behind))
    return bill


def _rows(replies: list[list[Json]], left: int) -> Rows:
    rows: Rows = [
        ("system", {"type": "text", "text": TRACE["system"]}),
        ("prompt", {"type": "text", "text": TRACE["prompt"]}),
    ]
    for number, blocks in enumerate(replies):
        rows += [("reply", block) for block in blocks]
        source = {"type": "base64", "media_type": "image/png", "data": encoded_picture(number)}
        shown = LINE if number < left else {"type": "image", "source": source}
        words = {"type": "text", "text": TRACE["steps"][number]["result"]}
        result = {
            "type": "tool_result",
            "tool_use_id": call_id(number),
            "toolset_name": "computer",
            "content": [words, shown],
        }
        rows.append(("result", result))
    return rows


def _body(rows: Rows) -> Json:
    messages: list[Json] = []
    for kind, block in rows[1:]:
        role = "assistant" if kind == "reply" else "user"
        if not messages or messages[-1]["role"] != role:
            messages.append({"role": role, "content": []})
        messages[-1]["content"].append(block)
    return {
        "model": "claude-opus-5-5",
        "max_tokens": 32000,
        "system": [rows[0][1]],
        "tools": [{"type": "computer_toolset_20260801"}],
        "messages": messages,
    }
