"""Durations of runs of a flow, from what the control plane stored about their chats. Pure.

The whole run begins when its chat is made: it contains the starts of a desktop and a browser, which
scripted runs and replays need alike. What is left of a replay is in the time from its first action
on the page. Both end with the run: a replay has checked its result, a model has reported.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]

LOOKING = ("screenshot", "zoom", "wait", "cursor_position")
"""Actions of the computer that do not act on the page."""
FASTER = 10
"""How many times as fast as the run that it was saved from a replay shall be."""


@dataclass(frozen=True)
class RunTimes:
    """Seconds of one run."""

    whole: float
    acting: float
    """From the begin of its first action on the page."""


def run_times(chat: Json) -> RunTimes:
    """Return the times of a chat whose run has ended."""
    ended = chat["ended_at"]
    acts = [one["started_at"] for one in chat["steps"] if _acts(one)]
    return RunTimes(ended - chat["created_at"], ended - min(acts, default=ended))


def median_times(times: Sequence[RunTimes]) -> RunTimes:
    """Return the upper median of each duration."""
    middle = len(times) // 2
    whole, acting = (
        sorted(getattr(one, name) for one in times)[middle] for name in ("whole", "acting")
    )
    return RunTimes(whole, acting)


def compared(scripted: RunTimes, replay: RunTimes, think: float, requests: int) -> Json:
    """Return the figures of a replay beside the scripted run with that many requests.

    ``think`` is the time in seconds before each reply of the scripted model.
    """
    return {
        "scripted_seconds": round(scripted.whole, 2),
        "scripted_acting_seconds": round(scripted.acting, 2),
        "scripted_requests": requests,
        "replay_seconds": round(replay.whole, 2),
        "replay_acting_seconds": round(replay.acting, 2),
        "times_faster": round(scripted.whole / replay.whole, 1),
        "times_faster_acting": round(scripted.acting / max(replay.acting, 0.001), 1),
        "ten_times_from_think_seconds": _think_for(scripted, replay, think, requests),
    }


def _think_for(scripted: RunTimes, replay: RunTimes, think: float, requests: int) -> float:
    """Return the time of thinking from which the whole replay is fast enough."""
    rest = scripted.whole - think * requests
    return math.ceil(max(0.0, FASTER * replay.whole - rest) / max(requests, 1) * 10) / 10


def _acts(step: Json) -> bool:
    if step["tool"] == "type_secret":
        return True
    return step["action"] is not None and step["action"] not in LOOKING
