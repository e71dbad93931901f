"""Report of a run: one HTML file that needs neither network nor script. Pure."""

import base64
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from typing import Any

from .advice import advice
from .waterfall import waterfall
from .waterfall_picture import advice_html, totals_html, waterfall_svg

Json = Mapping[str, Any]

POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; media-src data:"
"""Content-Security-Policy of the file where a control plane serves it."""

STAGES = {
    "model_ms": ("model", "#5b6ee1"),
    "act_ms": ("action", "#2f9e6e"),
    "settle_ms": ("settle", "#c99a2e"),
    "capture_ms": ("capture", "#8d6fc4"),
    "encode_ms": ("encode", "#b0679f"),
    "queue_ms": ("queue", "#c05b4d"),
    "own_ms": ("own code", "#7a8794"),
}
"""Stages of a step, with their names and colours."""

ACTIVITIES = {
    "message": "sent a message",
    "answer": "answered",
    "stop": "stopped the run",
    "control": "had control",
}
"""What people do in runs, in words."""

_STYLE = """
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;
padding:0 1rem;color:#1b1f24}
h1{font-size:1.5rem;margin:0}h2{font-size:1.15rem;margin:2rem 0 .5rem}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem 1rem}dt{color:#59636e}dd{margin:0}
pre{white-space:pre-wrap;overflow-wrap:anywhere;background:#f4f5f7;padding:.75rem;border-radius:6px}
ol{list-style:none;padding:0}li{display:flex;gap:1rem;padding:.6rem 0;border-top:1px solid #d8dce0;
break-inside:avoid}li>div{flex:1;min-width:0}img{width:320px;max-width:40%;align-self:start}
.failed b,.failed p{color:#b3261e}p{margin:.2rem 0;overflow-wrap:anywhere}small{color:#59636e}
.bar{display:flex;height:.5rem;border-radius:3px;overflow:hidden;margin:.3rem 0;max-width:100%}
.bar i{print-color-adjust:exact;-webkit-print-color-adjust:exact}
.key i{display:inline-block;width:.8rem;height:.8rem;margin:0 .3rem 0 0}
.key span{white-space:nowrap;margin-right:1rem}h3{font-size:1rem;margin:1rem 0 .2rem}
.advice li{display:list-item;border:0;padding:.1rem 0}.advice{margin:0;padding-left:1.2rem}
.waterfall{display:block;width:100%;margin:.5rem 0;background:#f4f5f7}
video{display:block;width:100%;margin:.5rem 0;background:#000}.people b{color:#8f3f77}
@page{margin:15mm}
@media print{body{margin:0;max-width:none;font-size:10.5pt}li{padding:.3rem 0}img{width:200px}
video,.no-print{display:none}h1,h2,h3{break-after:avoid}
pre,.bar i,.key i,.waterfall{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
"""


def report_html(
    chat: Json,
    pictures: Mapping[str, bytes],
    *,
    task: str,
    people: Sequence[Json] = (),
    videos: Sequence[bytes] = (),
    video_words: str = "",
) -> str:
    """Return the report of a run.

    ``chat`` and ``people`` are from answers of the HTTP API, ``pictures`` has JPEG files by tool
    call, ``videos`` are the MP4 files of the run, and ``video_words`` explain why there are none.
    ``task`` is empty for readers who may not see the conversation.
    """
    steps = chat.get("steps") or []
    slowest = max((_total(step) for step in steps), default=0.0)
    title = escape(str(chat.get("title") or "Run"))
    parts = [
        "<!doctype html>",
        f'<html lang="en"><head><meta charset="utf-8"><title>{title}</title>',
        f"<style>{_STYLE}</style></head><body>",
        f"<h1>{title}</h1>",
        _facts(chat),
        f"<h2>Task</h2><pre>{escape(task)}</pre>" if task else "",
        f"<h2>Report</h2><pre>{escape(str(chat['report']))}</pre>" if chat.get("report") else "",
        _videos(videos, video_words),
        _times(steps, people),
        f"<h2>Steps</h2><ol>{''.join(_rows(steps, people, pictures, slowest))}</ol>",
        "</body></html>",
    ]
    return "\n".join(part for part in parts if part) + "\n"


def _videos(videos: Sequence[bytes], words: str) -> str:
    if not videos and not words:
        return ""
    shown = "".join(
        f'<video controls preload="metadata" src="data:video/mp4;base64,{_base64(one)}"></video>'
        for one in videos
    )
    note = f"<p><small>{escape(words)}</small></p>" if words else ""
    return f'<section class="no-print"><h2>Run video</h2>{shown}{note}</section>'


def _facts(chat: Json) -> str:
    started, ended = chat.get("started_at"), chat.get("ended_at")
    at = datetime.fromtimestamp(started, UTC).strftime("%Y-%m-%d %H:%M UTC") if started else ""
    facts = {
        "Outcome": chat.get("outcome") or chat.get("state") or "",
        "Model": chat.get("model") or "",
        "Started": at,
        "Duration": f"{ended - started:.0f} s" if started and ended else "",
        "Steps": str(chat.get("step_count") or 0),
        "Error": chat.get("last_error") or "",
    }
    rows = [
        f"<dt>{name}</dt><dd>{escape(str(value))}</dd>" for name, value in facts.items() if value
    ]
    return f"<dl>{''.join(rows)}</dl>"


def _times(steps: Sequence[Json], people: Sequence[Json]) -> str:
    found = waterfall(steps, people)
    totals = totals_html(found)
    if not totals:
        return ""
    return f"<h2>Time</h2>{totals}{waterfall_svg(found)}{advice_html(advice(found))}"


def _bar(times: Json, whole: float) -> str:
    spans = "".join(
        f'<i style="width:{100 * float(times.get(stage) or 0) / whole:.2f}%;background:{colour}">'
        "</i>"
        for stage, (_, colour) in STAGES.items()
        if times.get(stage)
    )
    return f'<div class="bar">{spans}</div>'


def _rows(
    steps: Sequence[Json], people: Sequence[Json], pictures: Mapping[str, bytes], slowest: float
) -> list[str]:
    """Return the steps and what people did, in the order of their times."""
    timed = [(float(s.get("started_at") or 0), _step(s, pictures, slowest)) for s in steps]
    timed += [(float(one["at"]), _person(one)) for one in people]
    # Steps of equal times, or without any, keep their order.
    return [row for _, row in sorted(timed, key=lambda pair: pair[0])]


def _person(one: Json) -> str:
    words = ACTIVITIES.get(str(one["kind"]), str(one["kind"]))
    seconds = f" <small>{one['ended_at'] - one['at']:.0f} s</small>" if one.get("ended_at") else ""
    private = " <small>private</small>" if one.get("private") else ""
    text = f"<p>{escape(str(one['text']))}</p>" if one.get("text") else ""
    who = escape(str(one["by"]))
    return f'<li class="people"><div><b>{who}</b> {words}{seconds}{private}{text}</div></li>'


def _step(step: Json, pictures: Mapping[str, bytes], slowest: float) -> str:
    words = step.get("title") or step.get("action") or step.get("tool") or ""
    failed = f"<p>{escape(str(step['error']))}</p>" if step.get("error") else ""
    data = pictures.get(str(step.get("tool_call_id")))
    image = ""
    if data is not None:
        image = f'<img alt="" src="data:image/jpeg;base64,{_base64(data)}">'
    seconds = _total(step) / 1000
    bar = _bar(step.get("timings") or {}, slowest) if slowest else ""
    return (
        f"<li{' class=failed' if failed else ''}><div><b>{int(step['index']) + 1}</b> "
        f"{escape(str(words))} <small>{seconds:.1f} s</small>{failed}{bar}</div>{image}</li>"
    )


def _total(step: Json) -> float:
    times: Sequence[Any] = [(step.get("timings") or {}).get(stage) for stage in STAGES]
    return float(sum(time or 0 for time in times))


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()
