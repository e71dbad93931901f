"""Comparison of two results of the same tasks. Pure."""

from dataclasses import dataclass
from math import sqrt
from typing import Literal

from deskhand.tools.evaluation.result import EvaluationResult

from .statistics import Rate, Summary, by_task, summarize

Judgement = Literal["better", "worse", "no difference shown"]


@dataclass(frozen=True)
class ChangedTask:
    """A task whose rate has changed."""

    name: str
    old: Rate
    new: Rate


@dataclass(frozen=True)
class Comparison:
    """An older and a newer result, for the tasks that both have."""

    old: Summary
    new: Summary
    difference: float
    """Newer minus older share of passed runs."""
    interval: tuple[float, float]
    """Of the difference, with a confidence of 95 %."""
    changed: tuple[ChangedTask, ...]
    only_old: tuple[str, ...]
    """Tasks that were left out of the comparison."""
    only_new: tuple[str, ...]
    changes: tuple[str, ...]
    """What else differs: model, mode, settings, version."""

    @property
    def judgement(self) -> Judgement:
        """Whether the rates differ by more than chance explains."""
        low, high = self.interval
        if low > 0:
            return "better"
        return "worse" if high < 0 else "no difference shown"


def compare(old: EvaluationResult, new: EvaluationResult) -> Comparison:
    """Return the comparison of two results."""
    old_names = {run.task for run in old.runs}
    new_names = {run.task for run in new.runs}
    both = old_names & new_names
    old_runs = [run for run in old.runs if run.task in both]
    new_runs = [run for run in new.runs if run.task in both]
    before = {summary.name: summary.rate for summary in by_task(old_runs)}
    changed = (
        ChangedTask(summary.name, before[summary.name], summary.rate)
        for summary in by_task(new_runs)
        if before[summary.name].share != summary.rate.share
    )
    was, now = summarize("old", old_runs), summarize("new", new_runs)
    return Comparison(
        was,
        now,
        now.rate.share - was.rate.share,
        difference_interval(was.rate, now.rate),
        tuple(changed),
        tuple(sorted(old_names - new_names)),
        tuple(sorted(new_names - old_names)),
        tuple(_changes(old, new)),
    )


def difference_interval(old: Rate, new: Rate) -> tuple[float, float]:
    """Return Newcombe's interval of the difference of two rates (Newcombe, 1998, method 10)."""
    old_low, old_high = old.interval
    new_low, new_high = new.interval
    difference = new.share - old.share
    below = sqrt((new.share - new_low) ** 2 + (old_high - old.share) ** 2)
    above = sqrt((new_high - new.share) ** 2 + (old.share - old_low) ** 2)
    return max(difference - below, -1.0), min(difference + above, 1.0)


def _changes(old: EvaluationResult, new: EvaluationResult) -> list[str]:
    pairs = [
        ("model", old.model, new.model),
        ("mode", old.mode, new.mode),
        ("version", old.version, new.version),
    ]
    before, after = dict(old.settings), dict(new.settings)
    pairs += [
        (name, before.get(name, "default"), after.get(name, "default"))
        for name in sorted(before.keys() | after.keys())
    ]
    return [f"{name}: {was} -> {now}" for name, was, now in pairs if was != now]
