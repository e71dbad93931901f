"""Tokens, cost and step times since the start of the program, for monitoring."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping

from deskhand.tools.agents.providers.port import Usage

from .step_times import STAGES

BOUNDS = (0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
"""Upper limits of the buckets, in seconds; the last bucket has none."""
KINDS = ("input", "output", "cache_read", "cache_write", "thinking")


class TimeHistogram:
    """Numbers of durations by bucket."""

    def __init__(self) -> None:
        self._counts = [0] * (len(BOUNDS) + 1)
        self.seconds = 0.0

    def add(self, seconds: float) -> None:
        """Count one duration."""
        self._counts[bisect_left(BOUNDS, seconds)] += 1
        self.seconds += seconds

    def cumulative(self) -> Iterator[tuple[str, int]]:
        """Yield the upper limit of each bucket, with the number of durations up to it."""
        total = 0
        for bound, count in zip((*map(str, BOUNDS), "+Inf"), self._counts, strict=True):
            total += count
            yield bound, total


class CostCounts:
    """Sums over all chats. The labels are fixed: no model can add a series."""

    def __init__(self) -> None:
        self.tokens: Counter[str] = Counter(dict.fromkeys(KINDS, 0))
        self.cost_usd = 0.0
        self.unpriced = 0
        """Requests whose cost is not known."""
        self.times = {stage: TimeHistogram() for stage in STAGES}

    def add_usage(self, usage: Usage) -> None:
        """Count one request to a model."""
        for kind in KINDS:
            self.tokens[kind] += getattr(usage, f"{kind}_tokens")
        if usage.cost_usd is None:
            self.unpriced += 1
        else:
            self.cost_usd += usage.cost_usd

    def add_step(self, timings: Mapping[str, float]) -> None:
        """Count the times of one step, those that it has."""
        for stage, histogram in self.times.items():
            if stage in timings:
                histogram.add(timings[stage] / 1000)
