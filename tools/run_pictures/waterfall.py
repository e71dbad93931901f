"""Waterfall of a run: each step with what its time was spent on, one after the other. Pure.

The time of a step goes from the end of the step before it, in the same turn, to its own end. The
stages of the step account for it; what they leave is time in which people delayed the step, by an
approval or by their control of the desktop. Stages are ordered as they happen in a step. Between
two turns a run is at rest: that time is nobody's.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Json = Mapping[str, Any]
Kind = Literal["queue", "model", "action", "settle", "commands", "waiting", "person", "own"]

KINDS: tuple[Kind, ...] = (
    *("queue", "model", "person", "action", "commands", "waiting", "settle", "own"),
)
"""Kinds of time, in their order within a step."""
COMMANDS = frozenset({"execute", "process_output", "process_list", "process_signal"})
WAITS = frozenset({"wait", "wait_for", "wait_agent"})
ASKS = frozenset({"request_human"})
SHORTEST_WAIT = 0.05
"""Seconds; shorter times that no stage accounts for are differences of clocks."""


@dataclass(frozen=True)
class TimeSpan:
    """Time of one kind; seconds since the first step of the run began."""

    kind: Kind
    begin: float
    end: float

    @property
    def seconds(self) -> float:
        """Length of the span."""
        return self.end - self.begin


@dataclass(frozen=True)
class Row:
    """One step, or one time in which a person was in control."""

    index: int | None
    """Number of the step, from 0; none for people."""
    id: str
    title: str
    what: str
    """Action or tool of the step."""
    failed: bool
    spans: tuple[TimeSpan, ...]

    def spent(self, *kinds: Kind) -> float:
        """Return the seconds of some kinds, or of all without one."""
        return sum(span.seconds for span in self.spans if not kinds or span.kind in kinds)

    def to_json(self) -> dict[str, Any]:
        """Return the row in the form of the HTTP API."""
        spans = [
            {"kind": span.kind, "begin": round(span.begin, 3), "end": round(span.end, 3)}
            for span in self.spans
        ]
        return {
            "index": self.index,
            "id": self.id,
            "title": self.title,
            "what": self.what,
            "failed": self.failed,
            "spans": spans,
        }


@dataclass(frozen=True)
class Waterfall:
    """All rows of a run in their order."""

    rows: tuple[Row, ...]

    @property
    def seconds(self) -> float:
        """Time from the begin of the first row to the end of the last one."""
        return max((span.end for row in self.rows for span in row.spans), default=0.0)

    def totals(self) -> dict[Kind, float]:
        """Return the seconds of each kind; two people or agents at once count once."""
        return {
            kind: round(_covered(s for r in self.rows for s in r.spans if s.kind == kind), 3)
            for kind in KINDS
        }


def waterfall(steps: Iterable[Json], people: Iterable[Json] = ()) -> Waterfall:
    """Return the waterfall of the steps of a chat, and of what people did in it.

    Both are as in the HTTP API. Steps that have not ended are left out.
    """
    ended = sorted((s for s in steps if s.get("ended_at")), key=lambda s: float(s["ended_at"]))
    timed: list[tuple[float, Row]] = []
    before: Json | None = None
    for step in ended:
        same = before is not None and before.get("turn") == step.get("turn")
        begin = float(before["ended_at"]) if same and before is not None else _began(step)
        timed.append((begin, _row(step, begin)))
        before = step
    for one in people:
        if one.get("kind") == "control" and one.get("ended_at"):
            span = TimeSpan("person", float(one["at"]), float(one["ended_at"]))
            timed.append(
                (span.begin, Row(None, str(one["id"]), str(one["by"]), "", False, (span,)))
            )
    timed.sort(key=lambda pair: pair[0])
    first = timed[0][0] if timed else 0.0
    return Waterfall(tuple(_moved(row, -first) for _, row in timed))


def _row(step: Json, begin: float) -> Row:
    what = str(step.get("action") or step.get("tool") or "")
    title = str(step.get("title") or what)
    at, spans = begin, []
    for kind, seconds in _parts(step, float(step["ended_at"]) - begin, what):
        if seconds > 0:
            spans.append(TimeSpan(kind, at, at + seconds))
            at += seconds
    return Row(
        step.get("index"), str(step.get("id")), title, what, bool(step.get("error")), (*spans,)
    )


def _parts(step: Json, whole: float, what: str) -> list[tuple[Kind, float]]:
    """Return the seconds of a step by kind, in their order; they are at most ``whole``."""
    stage = {name: float(ms or 0) / 1000 for name, ms in (step.get("timings") or {}).items()}
    settle = sum(stage.get(name, 0.0) for name in ("settle_ms", "capture_ms", "encode_ms"))
    known: dict[Kind, float] = {
        "queue": stage.get("queue_ms", 0.0),
        "model": stage.get("model_ms", 0.0),
        _doing(what): stage.get("act_ms", 0.0),
        "settle": settle,
        "own": stage.get("own_ms", 0.0),
    }
    whole = max(0.0, whole)
    left = whole - sum(known.values())
    # A step without our own time was stored before a step had times: its tool is all that is known.
    delayed: Kind = "person" if "own_ms" in stage else _doing(what)
    if left > SHORTEST_WAIT:
        known[delayed] = known.get(delayed, 0.0) + left
    elif left < 0:
        # Calls that ran at once share their time, of which this one has the rest.
        share = whole / sum(known.values())
        known = {kind: seconds * share for kind, seconds in known.items()}
    return [(kind, known[kind]) for kind in KINDS if kind in known]


def _doing(what: str) -> Kind:
    """Return the kind of the time in which a tool works."""
    if what in COMMANDS:
        return "commands"
    if what in WAITS:
        return "waiting"
    return "person" if what in ASKS else "action"


def _began(step: Json) -> float:
    """Return when the first step of a turn began: with the request that led to it."""
    times = step.get("timings") or {}
    request = sum(float(times.get(name) or 0) for name in ("queue_ms", "model_ms"))
    return float(step.get("started_at") or step["ended_at"]) - request / 1000


def _moved(row: Row, by: float) -> Row:
    spans = tuple(TimeSpan(span.kind, span.begin + by, span.end + by) for span in row.spans)
    return Row(row.index, row.id, row.title, row.what, row.failed, spans)


def _covered(spans: Iterable[TimeSpan]) -> float:
    """Return the seconds that are in at least one of the spans."""
    found, until = 0.0, float("-inf")
    ordered: Sequence[TimeSpan] = sorted(spans, key=lambda span: span.begin)
    for span in ordered:
        found += max(0.0, span.end - max(span.begin, until))
        until = max(until, span.end)
    return found
