"""Summaries of a conversation by the player, from which it continues a script. Pure.

A summary takes the place of messages: of the task, and of the calls whose ids give the player the
step that was played last. So it holds both, as one line of JSON.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from deskhand.tools.agents.checkpoints.own_summary import SUMMARY_REQUEST

Json = dict[str, Any]

_STATE = re.compile(r"Script: (\{.*\})")


@dataclass(frozen=True)
class ScriptState:
    """Texts of the user and the newest call of the messages that a summary stands for."""

    texts: tuple[str, ...]
    call_id: str | None


def asks_for_summary(messages: Iterable[Json]) -> bool:
    """Return True if the newest text of the user asks for a summary."""
    newest = [block for message in messages for block in message["content"]][-1:]
    return any(b["type"] == "text" and b["text"].startswith(SUMMARY_REQUEST) for b in newest)


def summary_text(state: ScriptState) -> str:
    """Return a summary from which :func:`state_of` reads the state."""
    content = json.dumps({"texts": state.texts, "call": state.call_id}, ensure_ascii=False)
    return f"Everything up to here was done.\nScript: {content}"


def state_of(block: Json) -> ScriptState | None:
    """Return the state in a block that is a summary; ``None`` for another block."""
    found = _STATE.search(str(block.get("text" if block["type"] == "text" else "content", "")))
    if found is None or block["type"] not in ("text", "compaction"):
        return None
    try:
        content = json.loads(found[1])
        return ScriptState(tuple(map(str, content["texts"])), content["call"])
    except (ValueError, KeyError, TypeError):
        return None


def states(messages: Iterable[Json]) -> Iterator[ScriptState]:
    """Yield the states in the summaries of a conversation."""
    for message in messages:
        yield from filter(None, map(state_of, message["content"]))
