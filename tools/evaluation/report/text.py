"""The report of an evaluation as lines for a terminal. Pure."""

from collections.abc import Sequence

from deskhand.tools.evaluation.result import EvaluationResult, RunResult

from .comparison import Comparison
from .statistics import Rate, Summary, by_tag, by_task, summarize

HEADS = ("", "passed", "95 %", "steps", "images", "requests", "tokens", "USD", "seconds")
LONGEST_REASON = 200


def run_line(run: RunResult) -> str:
    """Return the line of one run, as it comes."""
    mark = {"passed": "ok  ", "failed": "FAIL", "error": "ERR "}[run.status]
    used = f"{run.cost.steps} steps, {run.cost.seconds:.0f} s"
    kind = f"{run.error_kind}: " if run.error_kind else ""
    reason = f"  {kind}{one_line(run.reason)}" if run.reason else ""
    note = f"  {one_line(run.note)}" if run.note else ""
    return f"  {mark} {run.task} {run.number}  ({used}){reason}{note}"


def report_lines(result: EvaluationResult) -> list[str]:
    """Return the table of tasks and tags, and the sum."""
    groups = [*by_task(result.runs)]
    tags = [*by_tag(result.runs)]
    whole = summarize("all", result.runs)
    rows = [HEADS, *map(_row, groups)]
    if tags:
        rows += [("",) * len(HEADS), *map(_row, tags)]
    rows += [("",) * len(HEADS), _row(whole)]
    lines = _table(rows)
    low, high = whole.rate.interval
    lines += [
        "",
        f"Success rate: {percent(whole.rate.share)} ({whole.rate.passed} of {whole.rate.judged}), "
        f"95 % interval {percent(low)} to {percent(high)}",
    ]
    if whole.errors:
        lines.append(f"Not judged: {whole.errors} (no failures of the model; they count nowhere)")
    if result.interrupted:
        lines.append("Interrupted: not all runs were made")
    return lines


def comparison_lines(comparison: Comparison) -> list[str]:
    """Return what differs between two results."""
    low, high = comparison.interval
    lines = ["Compared with the older result, for the tasks that both have:"]
    lines += [f"  {change}" for change in comparison.changes]
    lines += _table([HEADS, _row(comparison.old), _row(comparison.new)])
    lines.append(
        f"Difference: {points(comparison.difference)} points, 95 % interval {points(low)} to "
        f"{points(high)}: {comparison.judgement}"
    )
    for task in comparison.changed:
        lines.append(f"  {task.name}: {_of(task.old)} -> {_of(task.new)}")
    for title, names in (("older", comparison.only_old), ("newer", comparison.only_new)):
        if names:
            lines.append(f"Only in the {title} result: {', '.join(names)}")
    return lines


def percent(share: float) -> str:
    """Return a share as a percentage."""
    return f"{100 * share:.0f} %"


def points(difference: float) -> str:
    """Return a difference of shares in percentage points, with its sign."""
    return f"{100 * difference:+.0f}"


def one_line(text: str) -> str:
    """Return a text in one line of bounded length."""
    joined = " ".join(text.split())
    return joined if len(joined) <= LONGEST_REASON else joined[: LONGEST_REASON - 1] + "…"


def cells(summary: Summary) -> tuple[str, ...]:
    """Return the values of a summary in the order of ``HEADS``, without the name."""
    low, high = summary.rate.interval
    return (
        _of(summary.rate) + (f" +{summary.errors} errors" if summary.errors else ""),
        f"{100 * low:.0f}-{100 * high:.0f}",
        f"{summary.steps:.1f}",
        f"{summary.images:.1f}",
        f"{summary.requests:.1f}",
        f"{summary.tokens:,.0f}",
        "?" if summary.usd is None else f"{summary.usd:.2f}",
        f"{summary.seconds:.1f}",
    )


def _row(summary: Summary) -> tuple[str, ...]:
    return (summary.name, *cells(summary))


def _of(rate: Rate) -> str:
    return f"{rate.passed}/{rate.judged}"


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADS))]
    lines = []
    for row in rows:
        first = row[0].ljust(widths[0])
        rest = (cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))
        lines.append("  ".join((first, *rest)).rstrip())
    return lines
