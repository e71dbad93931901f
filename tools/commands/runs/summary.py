"""Rows and lines about runs and desktops for people. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from deskhand.tools.commands.output.amounts import age, amount, clock
from deskhand.tools.commands.output.table import Column, harmless, printable
from deskhand.tools.conversation.states import BUSY, ChatState

Json = dict[str, Any]

RUN_COLUMNS = (
    Column("ID"),
    Column("STATE"),
    Column("STEPS", optional=1, right=True),
    Column("AGE", optional=2, right=True),
    Column("MODEL", optional=3),
    Column("TITLE", flexible=True),
)
ALL_COLUMNS = (
    Column("KIND", optional=1),
    Column("ID"),
    Column("STATE"),
    Column("AGE", optional=2, right=True),
    Column("DESKTOP", optional=3),
    Column("NAME", flexible=True),
)
DESKTOP_COLUMNS = (
    Column("ID"),
    Column("STATE"),
    Column("AGE", optional=1, right=True),
    Column("RUN", optional=2),
    Column("NAME", flexible=True),
)
ACTIVE = frozenset((*BUSY, ChatState.REQUIRES_ACTION))
"""States of runs that are not at rest."""


def state_of(chat: Mapping[str, Any]) -> str:
    """Return the state of a run in a word or two: of one at rest, its outcome."""
    match chat["state"]:
        case ChatState.REQUIRES_ACTION:
            return "needs you"
        case ChatState.WAITING:
            return str(chat.get("outcome") or ("idle" if chat.get("turn") else "new"))
        case state:
            return str(state)


def run_row(chat: Mapping[str, Any], now: float) -> Sequence[str]:
    """Return the cells of `RUN_COLUMNS`."""
    return (
        str(chat["id"]),
        state_of(chat),
        str(chat.get("step_count", 0)),
        age(now - chat["created_at"]),
        str(chat.get("model") or "-"),
        str(chat.get("title") or ""),
    )


def desktop_row(desktop: Mapping[str, Any], now: float) -> Sequence[str]:
    """Return the cells of `DESKTOP_COLUMNS`."""
    return (
        str(desktop["id"]),
        str(desktop["status"]),
        age(now - desktop["created_at"]),
        str(desktop.get("chat_id") or "-"),
        str(desktop.get("name") or ""),
    )


def all_rows(
    desktops: Sequence[Mapping[str, Any]], chats: Sequence[Mapping[str, Any]], now: float
) -> list[Sequence[str]]:
    """Return the cells of `ALL_COLUMNS`: runs first, then desktops."""
    rows: list[Sequence[str]] = [
        (
            *("run", str(chat["id"]), state_of(chat), age(now - chat["created_at"])),
            *(str(chat.get("desktop_id") or "-"), str(chat.get("title") or "")),
        )
        for chat in chats
    ]
    rows += [
        (
            *("desktop", str(one["id"]), str(one["status"]), age(now - one["created_at"])),
            *("-", str(one.get("name") or "")),
        )
        for one in desktops
    ]
    return rows


def facts(chat: Mapping[str, Any], now: float) -> list[str]:
    """Return what is known about a run, a line for each fact."""
    usage = chat.get("usage") or {}
    tokens = f"{amount(usage.get('input_tokens', 0))} in, {amount(usage.get('output_tokens', 0))}"
    started, ended = chat.get("started_at"), chat.get("ended_at")
    took = clock((ended or now) - started) if started else "-"
    question = (chat.get("requires_action") or {}).get("question")
    known = {
        "Run": chat["id"],
        "Title": chat.get("title"),
        "State": state_of(chat),
        "Model": chat.get("model"),
        "Desktop": chat.get("desktop_id"),
        "Steps": chat.get("step_count", 0),
        "Time": took,
        "Tokens": f"{tokens} out",
        "Question": question,
        "Error": chat.get("last_error"),
        "Recording": ", ".join(chat.get("recording_file_ids") or ()),
        "Report": chat.get("report"),
    }
    return [
        f"{name + ':':<11}{_lines(str(value)) if name == 'Question' else printable(str(value))}"
        for name, value in known.items()
        if value not in (None, "")
    ]


def _lines(question: str) -> str:
    """Return a question, which may have a whole call, below the name of the fact."""
    return harmless(question).replace("\n", f"\n{'':<11}")


def step_line(step: Mapping[str, Any]) -> str:
    """Return an ended step as a line: its number, what it did and how long it took."""
    took = 1000 * (step["ended_at"] - step["started_at"])
    mark = "x" if step.get("error") else "-"
    title = step.get("title") or step.get("action") or step.get("tool")
    return f"  {mark} {step['index'] + 1:>3}  {printable(str(title))}  ({took:.0f} ms)"


def live_text(chat: Mapping[str, Any], began: float, now: float) -> str:
    """Return the present of a run in a line: step, elapsed time, tokens and last activity."""
    usage = chat.get("usage") or {}
    steps = chat.get("steps") or []
    tokens = usage.get("input_tokens", 0) + usage.get("output_tokens", 0)
    last = steps[-1] if steps else {}
    waiting = chat.get("waiting_for") or {}
    doing = waiting.get("text") or last.get("title") or last.get("tool") or "starting"
    parts = (f"step {len(steps)}", clock(now - began), f"{amount(tokens)} tokens", doing)
    return " · ".join(printable(str(part)) for part in parts)
