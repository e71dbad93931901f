"""Hash of the last step of a turn, which also covers the steps before it. Pure.

It is stored when the turn ends. A later change of any step, or of their order, gives another hash.
What is set after the end of a turn is left out: positions in the video, and pictures, which are
removed when there are too many.
"""

import hashlib
import json
from collections.abc import Iterable

from .views import StepView

_FIELDS = (
    *("id", "chat_id", "index", "turn", "tool_call_id", "tool", "title", "action", "arguments"),
    *("status", "error", "started_at", "ended_at", "timings", "details"),
)


def last_step_hash(steps: Iterable[StepView], ended_at: float) -> str:
    """Return the hash of the last step of a turn; empty if it has none.

    ``steps`` are those of the turn in their order, ``ended_at`` is the end of the turn. Calls of
    other programs for the same chat may end later; they do not belong to the turn.
    """
    newest = ""
    for step in steps:
        if step.ended_at is None or step.ended_at > ended_at:
            continue
        fields = [newest, *(getattr(step, name) for name in _FIELDS)]
        text = json.dumps(fields, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        newest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return newest
