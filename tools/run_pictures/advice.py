"""What would make a run faster: rules over its waterfall. Pure.

Each rule names what it has found, how much time that took, and what to do. Rules below a share of
the run are silent, so that the advice is about what counts.
"""

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any

from .waterfall import Kind, Row, Waterfall

MOST = 5
"""Pieces of advice for a run; those about the most time come first."""
LEAST_SHARE = 0.05
"""Share of the run below which a rule is silent."""
LEAST_SECONDS = 1.0
LOOKS = frozenset({"screenshot", "zoom", "cursor_position", "read_screen"})
REPEATED = 3
"""Equal steps one after the other that count as a repetition."""


@dataclass(frozen=True)
class Advice:
    """One piece of advice."""

    rule: str
    seconds: float
    """Time of the run that it is about."""
    text: str

    def to_json(self) -> dict[str, Any]:
        """Return the advice in the form of the HTTP API."""
        return asdict(self)


def advice(found: Waterfall) -> list[Advice]:
    """Return what would make a run faster; that about the most time comes first."""
    least = max(LEAST_SECONDS, LEAST_SHARE * found.seconds)
    given = [rule(found) for rule in RULES] if found.seconds else []
    worth = [one for one in given if one is not None and one.seconds >= least]
    return sorted(worth, key=lambda one: -one.seconds)[:MOST]


def _model(found: Waterfall) -> Advice | None:
    seconds = found.totals()["model"]
    if seconds < found.seconds / 2:
        return None
    return Advice(
        "model",
        seconds,
        f"The model took {_share(seconds, found)}. A faster model or less effort shortens each "
        "step, and a playbook replays a finished run without a model.",
    )


def _looks(found: Waterfall) -> Advice | None:
    looks = [row for row in found.rows if row.what in LOOKS]
    if len(looks) < REPEATED:
        return None
    seconds = _seconds(looks)
    return Advice(
        "looks",
        seconds,
        f"{len(looks)} steps only looked at the screen, for {_words(seconds)}. Each action "
        "returns a screenshot itself: a task that names what to click next needs fewer of them.",
    )


def _settle(found: Waterfall) -> Advice | None:
    seconds = found.totals()["settle"]
    return Advice(
        "settle",
        seconds,
        f"{_words(seconds)} passed until the screen was quiet. Animations, videos and blinking "
        "tickers on the pages keep it moving.",
    )


def _waits(found: Waterfall) -> Advice | None:
    waits = [row for row in found.rows if row.what == "wait"]
    seconds = _seconds(waits, "waiting")
    return Advice(
        "waits",
        seconds,
        f"{_count(waits, 'step')} waited a fixed time, {_words(seconds)} in all. wait_for ends as "
        "soon as the text, window or page is there.",
    )


def _children(found: Waterfall) -> Advice | None:
    seconds = _seconds([row for row in found.rows if row.what == "wait_agent"], "waiting")
    return Advice(
        "agents",
        seconds,
        f"{_words(seconds)} passed waiting for other agents. Their own runs show what took long.",
    )


def _commands(found: Waterfall) -> Advice | None:
    rows = [row for row in found.rows if row.spent("commands")]
    if not rows:
        return None
    longest = max(rows, key=lambda row: row.spent("commands"))
    return Advice(
        "commands",
        _seconds(rows, "commands"),
        f"Commands took {_words(_seconds(rows, 'commands'))}, the longest one "
        f"{_words(longest.spent('commands'))} (step {(longest.index or 0) + 1}). A command in the "
        "background lets the agent work on meanwhile.",
    )


def _person(found: Waterfall) -> Advice | None:
    seconds = found.totals()["person"]
    return Advice(
        "person",
        seconds,
        f"The run waited {_words(seconds)} for people. Notifications shorten that; domains that "
        "the task names, and what it says beforehand, need no question.",
    )


def _queue(found: Waterfall) -> Advice | None:
    seconds = found.totals()["queue"]
    return Advice(
        "queue",
        seconds,
        f"Requests waited {_words(seconds)} for their turn at the model. Fewer agents at once, or "
        "a higher model_requests, shorten that.",
    )


def _failures(found: Waterfall) -> Advice | None:
    failed = [row for row in found.rows if row.failed]
    return Advice(
        "failures",
        _seconds(failed),
        f"{_count(failed, 'step')} failed, which took {_words(_seconds(failed))}. The step list "
        "shows them with the key e.",
    )


def _repetitions(found: Waterfall) -> Advice | None:
    repeated: list[Row] = []
    run: list[Row] = []
    for row in found.rows:
        if run and (row.what, row.title) == (run[0].what, run[0].title):
            run.append(row)
        else:
            run = [row]
        if len(run) == REPEATED:
            repeated += run
        elif len(run) > REPEATED:
            repeated.append(row)
    seconds = _seconds(repeated)
    first = (repeated[0].index or 0) + 1 if repeated else 0
    return Advice(
        "repetitions",
        seconds,
        f"{_count(repeated, 'step')} repeated the one before, first at step {first}, for "
        f"{_words(seconds)}. Text in the prompt about what to expect there saves them.",
    )


RULES: tuple[Callable[[Waterfall], Advice | None], ...] = (
    *(_model, _looks, _settle, _waits, _children, _commands, _person, _queue, _failures),
    _repetitions,
)


def _seconds(rows: Iterable[Row], *kinds: Kind) -> float:
    return sum(row.spent(*kinds) for row in rows)


def _words(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{seconds // 60:.0f} min {seconds % 60:.0f} s"


def _share(seconds: float, found: Waterfall) -> str:
    return f"{_words(seconds)}, {100 * seconds / found.seconds:.0f} % of the time"


def _count(rows: list[Row], noun: str) -> str:
    return f"{len(rows)} {noun}{'' if len(rows) == 1 else 's'}"
