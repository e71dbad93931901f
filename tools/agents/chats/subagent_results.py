"""Results of child chats as their parent receives them: the report, or the progress so far."""

from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.conversation.states import BUSY
from deskhand.tools.conversation.views import ChatView, FileView
from deskhand.tools.store import chats, files, steps, turns
from deskhand.tools.store.schema import StepRow, TurnRow

Json = dict[str, Any]

RETRYABLE = ("model_unavailable", "model_overloaded", "desktop")
"""Kinds of errors after which the same task may succeed: nothing is wrong with the request."""


@dataclass(frozen=True)
class ChildChat:
    """A child chat with its newest turn."""

    view: ChatView
    turn: TurnRow | None
    steps: tuple[StepRow, ...]
    files: tuple[FileView, ...]

    @property
    def at_rest(self) -> bool:
        """True if a wait for the child is over."""
        return self.view.state not in BUSY


async def read_child(session: AsyncSession, chat_id: str) -> ChildChat:
    """Read a child chat for its parent; raise ``UnknownRow`` when the chat was deleted."""
    view = await chats.view(session, chat_id)
    turn = await turns.current(session, await chats.get(session, chat_id))
    done = await steps.of_turn(session, chat_id, view.turn)
    kept = [f for f in await files.of_chat(session, chat_id) if f.kind == "attachment"]
    return ChildChat(view, turn, tuple(done), tuple(kept))


def named(view: ChatView) -> Json:
    """Return the fields with which every answer about a child begins."""
    return {
        "chat_id": view.id,
        "title": view.title,
        "type": view.mode,
        "status": "archived" if view.archived else view.state,
    }


def finished(child: ChildChat, live_url: str | None) -> Json:
    """Return the result of a child's turn; it is the same at every call."""
    result: Json = {**named(child.view), "report": "", "steps": len(child.steps)}
    turn = child.turn
    if turn is None:
        return result
    result |= {
        "report": turn.report,
        "outcome": turn.outcome,
        "outcome_source": turn.outcome_source,
        **_recording(turn.recording),
        "files": [_file(file) for file in child.files],
        "duration_ms": _ms((turn.ended_at or turn.started_at) - turn.started_at),
        "usage": {
            "input_tokens": turn.input_tokens,
            "output_tokens": turn.output_tokens,
            "cache_read_tokens": turn.cache_read_tokens,
            "cache_write_tokens": turn.cache_write_tokens,
            "dropped_thinking": turn.dropped_thinking,
            "thinking_tokens": turn.thinking_tokens,
            "cost_usd": turn.cost_usd,
        },
        "live_url": live_url,
    }
    if turn.error is not None:
        kind = turn.error_kind or "generic"
        result |= {
            "last_error": turn.error,
            "last_error_kind": kind,
            "last_error_retryable": kind in RETRYABLE,
        }
    # Models read the result: a field without a value only costs tokens.
    return {key: value for key, value in result.items() if value is not None}


def asking(child: ChildChat, live_url: str | None, now: float) -> Json:
    """Return the question for which a child needs a person; its turn continues after the answer."""
    result = progress(child, live_url, None, now)
    del result["timed_out"]
    question = child.view.requires_action
    report = f"It waits for a person: {question['question']}" if question else ""
    return {**result, "requires_action": question, "report": report}


def progress(child: ChildChat, live_url: str | None, position: int | None, now: float) -> Json:
    """Return the progress of a child that is still at work."""
    last = child.steps[-1] if child.steps else None
    pictures = [s.screenshot_file_id for s in child.steps if s.screenshot_file_id]
    started = child.turn.started_at if child.turn else now
    result = {
        **named(child.view),
        "timed_out": True,
        "steps": len(child.steps),
        "last_action": last.title if last else None,
        "elapsed_ms": _ms(now - started),
        "screenshot_file_id": pictures[-1] if pictures else None,
        "live_url": live_url,
    }
    # A field that is null nearly always only costs the tokens of the models that read it.
    if child.view.waiting_for is not None:
        result["waiting_for"] = asdict(child.view.waiting_for)
    return result if position is None else {**result, "place": position}


def _recording(stored: Json) -> Json:
    file_ids = stored.get("file_ids") or []
    return {
        "recording_status": stored.get("status", "none"),
        "recording_file_id": file_ids[0] if file_ids else None,
        "recording_file_ids": file_ids,
        "thumbnail_file_id": stored.get("thumbnail_file_id"),
        "end_reason": stored.get("end_reason"),
        "complete": stored.get("complete"),
        "parts": stored.get("parts") or None,
        "recording_warning": stored.get("warning"),
    }


def _file(file: FileView) -> Json:
    return {
        "file_id": file.id,
        "name": file.name,
        "media_type": file.media_type,
        "size": file.size,
    }


def _ms(seconds: float) -> int:
    return round(max(seconds, 0.0) * 1000)
