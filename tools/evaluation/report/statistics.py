"""Rates with their confidence, and the means of what runs have used. Pure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt

from deskhand.tools.evaluation.result import RunCost, RunResult

Z = 1.959964
"""Quantile of the normal distribution for a confidence of 95 %."""


@dataclass(frozen=True)
class Rate:
    """Share of the judged runs that passed."""

    passed: int
    judged: int

    @property
    def share(self) -> float:
        """The share, 0.0 without runs."""
        return self.passed / self.judged if self.judged else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's score interval with a confidence of 95 % (Wilson, 1927)."""
        n = self.judged
        if n == 0:
            return 0.0, 1.0
        centre = (self.share + Z * Z / (2 * n)) / (1 + Z * Z / n)
        spread = sqrt(self.share * (1 - self.share) / n + Z * Z / (4 * n * n))
        half = Z / (1 + Z * Z / n) * spread
        # Rounding may leave the interval of 0 or n successes just beside its end.
        return max(centre - half, 0.0), min(centre + half, 1.0)


@dataclass(frozen=True)
class Summary:
    """A group of runs."""

    name: str
    rate: Rate
    errors: int
    """Runs that could not be judged; they count nowhere else."""
    steps: float
    """Mean per judged run, as for the next four."""
    images: float
    requests: float
    tokens: float
    seconds: float
    usd: float | None
    """Sum over the judged runs; None if a price is not known."""


def summarize(name: str, runs: Sequence[RunResult]) -> Summary:
    """Return the summary of a group of runs."""
    judged = [run for run in runs if run.status != "error"]
    costs = [run.cost for run in judged]
    prices = [cost.usd for cost in costs if cost.usd is not None]
    return Summary(
        name,
        Rate(sum(run.status == "passed" for run in judged), len(judged)),
        len(runs) - len(judged),
        _mean(costs, lambda cost: cost.steps),
        _mean(costs, lambda cost: cost.images),
        _mean(costs, lambda cost: cost.requests),
        _mean(costs, lambda cost: cost.tokens),
        _mean(costs, lambda cost: cost.seconds),
        sum(prices) if len(prices) == len(costs) else None,
    )


def by_task(runs: Sequence[RunResult]) -> tuple[Summary, ...]:
    """Return a summary for each task, in order of the names."""
    names = sorted({run.task for run in runs})
    return tuple(summarize(name, [run for run in runs if run.task == name]) for name in names)


def by_tag(runs: Sequence[RunResult]) -> tuple[Summary, ...]:
    """Return a summary for each tag, in order of the names; a run counts for each of its tags."""
    tags = sorted({tag for run in runs for tag in run.tags})
    return tuple(summarize(tag, [run for run in runs if tag in run.tags]) for tag in tags)


def _mean(costs: Sequence[RunCost], value: Callable[[RunCost], float]) -> float:
    return sum(map(value, costs)) / len(costs) if costs else 0.0
