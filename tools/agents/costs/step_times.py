"""The time of the steps of one turn, by stage. Pure.

Each moment of a turn belongs to one step: from the end of the step before it to its own end. What
no stage and no wait accounts for is our own code: history, requests, database, stored pictures.
Of several calls that run at once, the time belongs to the one that ends first.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from deskhand.tools.agents.providers.port import RequestTimes

Json = dict[str, Any]

ACT, OWN = "act_ms", "own_ms"
STAGES = ("queue_ms", "model_ms", ACT, "settle_ms", "capture_ms", "encode_ms", OWN)
"""Stages of a step in their order; they do not overlap. The time of ``model_first_byte_ms`` is
contained in that of the model."""


class StepTimes:
    """Assigns the time of one turn to its steps; times are seconds of one clock."""

    def __init__(self, began: float) -> None:
        self._accounted = began
        self._waited = 0.0

    def of_step(
        self, now: float, waited: float, request: RequestTimes | None, stages: Mapping[str, float]
    ) -> Json:
        """Return the milliseconds by stage of a step that ends now.

        ``waited`` are the seconds since the turn began in which people or the database delayed it.
        ``request`` is the one to the model that led to the step, ``None`` if an earlier step has
        it. ``stages`` are the milliseconds that the desktop or a tool has reported.
        """
        times: Json = {}
        if request is not None:
            times["queue_ms"] = _milliseconds(request.queued)
            times["model_first_byte_ms"] = _milliseconds(request.first_byte)
            times["model_ms"] = _milliseconds(request.total)
        times |= stages
        passed = now - self._accounted - (waited - self._waited)
        self._accounted, self._waited = now, waited
        known = sum(value for name, value in times.items() if name in STAGES)
        times[OWN] = max(0.0, _milliseconds(passed) - known)
        return {name: round(value, 3) for name, value in times.items()}


def total_times(steps: Iterable[Mapping[str, float]]) -> Json:
    """Return the milliseconds of all steps by stage; ``steps`` are the timings of each."""
    totals = dict.fromkeys(STAGES, 0.0)
    for step in steps:
        for name in STAGES:
            totals[name] += step.get(name, 0.0)
    return {name: round(value, 1) for name, value in totals.items()}


def _milliseconds(seconds: float) -> float:
    return seconds * 1000
