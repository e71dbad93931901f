"""The report as one HTML page beside the recordings of failures. Pure.

The page has no script and loads nothing but the files in its folder. Reasons, reports and names
come from agents and pages, so that every text is escaped.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from html import escape
from urllib.parse import quote

from deskhand.tools.evaluation.result import EvaluationResult, RunResult

from .comparison import Comparison
from .statistics import Summary, by_tag, by_task, summarize
from .text import HEADS, cells, percent, points

MODES = {
    "model": "",
    "oracle": "Oracle scripts: every task must pass.",
    "wrong": "Wrong scripts: every task must fail.",
}


def page(result: EvaluationResult, comparison: Comparison | None, style: str) -> str:
    """Return the page; ``style`` is its style sheet."""
    whole = summarize("all", result.runs)
    low, high = whole.rate.interval
    failed = [run for run in result.runs if run.status == "failed"]
    errors = [run for run in result.runs if run.status == "error"]
    parts = [
        "<!doctype html>",
        '<html lang="en"><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>Evaluation of {escape(result.model)}</title>",
        f"<style>{style}</style>",
        "<main>",
        f"<h1>Evaluation of {escape(result.model)}</h1>",
        f"<p class=about>{escape(_about(result))}</p>",
        "<section class=figures>",
        _figure("success rate", percent(whole.rate.share)),
        _figure("95 % interval", f"{percent(low)} to {percent(high)}"),
        _figure("runs", f"{whole.rate.passed} of {whole.rate.judged} passed"),
        _figure("not judged", str(whole.errors)),
        _figure("cost", "unknown" if whole.usd is None else f"${whole.usd:.2f}"),
        "</section>",
        _compared(comparison) if comparison else "",
        "<h2>Tasks</h2>",
        _table([*by_task(result.runs), whole]),
        "<h2>Tags</h2>" + _table(by_tag(result.runs)) if by_tag(result.runs) else "",
        _runs("Failures", failed),
        _runs("Not judged", errors),
        "</main></html>",
    ]
    return "\n".join(part for part in parts if part) + "\n"


def _about(result: EvaluationResult) -> str:
    began = datetime.fromtimestamp(result.started_at, UTC).strftime("%Y-%m-%d %H:%M UTC")
    settings = ", ".join(f"{name}={value}" for name, value in result.settings)
    words = [
        MODES[result.mode],
        f"{result.repeat} runs of each task." if result.repeat > 1 else "",
        f"Settings: {settings}." if settings else "",
        f"Deskhand {result.version}, {began}, {result.seconds:.0f} s.",
        "Interrupted: not all runs were made." if result.interrupted else "",
    ]
    return " ".join(word for word in words if word)


def _figure(name: str, value: str) -> str:
    return f"<div><b>{escape(value)}</b><span>{escape(name)}</span></div>"


def _table(summaries: Sequence[Summary]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in HEADS)
    rows = "".join(
        f"<tr><td>{escape(one.name)}</td>"
        + "".join(f"<td>{escape(cell)}</td>" for cell in cells(one))
        + "</tr>"
        for one in summaries
    )
    return f"<div class=wide><table><tr>{head}</tr>{rows}</table></div>"


def _compared(comparison: Comparison) -> str:
    low, high = comparison.interval
    sentence = (
        f"{points(comparison.difference)} points, 95 % interval {points(low)} to {points(high)}: "
        f"{comparison.judgement}."
    )
    changes = "".join(f"<li>{escape(change)}</li>" for change in comparison.changes)
    tasks = "".join(
        f"<li>{escape(task.name)}: {task.old.passed}/{task.old.judged} &rarr; "
        f"{task.new.passed}/{task.new.judged}</li>"
        for task in comparison.changed
    )
    table = _table([comparison.old, comparison.new])
    return (
        f"<h2>Compared with the older result</h2><p>{escape(sentence)}</p>"
        f"<ul>{changes}{tasks}</ul>{table}"
    )


def _runs(title: str, runs: Sequence[RunResult]) -> str:
    if not runs:
        return ""
    shown = sorted(runs, key=lambda run: (run.task, run.number))
    return f"<h2>{title}</h2>" + "".join(map(_run, shown))


def _run(run: RunResult) -> str:
    kind = f"{run.error_kind}: " if run.error_kind else ""
    used = f"{run.cost.steps} steps, {run.cost.seconds:.0f} s"
    ended = f", ended by {run.ended_by}" if run.ended_by else ""
    outcome = f", the agent reports: {run.outcome}" if run.outcome else ""
    parts = [
        "<article>",
        f"<h3>{escape(run.task)} "
        f"<small>run {run.number}: {escape(used + ended + outcome)}</small></h3>",
        f"<p class=reason>{escape(kind + run.reason)}</p>",
        f"<blockquote>{escape(run.report)}</blockquote>" if run.report else "",
        f"<p>{escape(run.note)}</p>" if run.note else "",
        '<div class="evidence">',
    ]
    if run.recording is not None:
        poster = f' poster="{quote(run.picture)}"' if run.picture is not None else ""
        source = quote(run.recording)
        parts.append(f'<video controls preload="none"{poster} src="{source}"></video>')
    elif run.picture is not None:
        parts.append(f'<img src="{quote(run.picture)}" alt="The last screen">')
    parts.append("</div></article>")
    return "".join(parts)
