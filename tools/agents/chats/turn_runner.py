"""What a chat does in a turn: its desktop, its tools, the loop, and what came of it."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, cast

from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.agents.desktops.ports import DesktopMachine, Models
from deskhand.tools.agents.loop.budget import TurnBudget
from deskhand.tools.agents.loop.prompts import Mode, system_prompt
from deskhand.tools.agents.loop.turn import LoopSettings, TurnEnd, run_turn
from deskhand.tools.agents.providers.port import Role
from deskhand.tools.conversation.conversation import Message, Text
from deskhand.tools.conversation.errors import ChatError, NoDesktop
from deskhand.tools.conversation.states import BUSY, ChatState, StateEvent
from deskhand.tools.conversation.views import ChatView
from deskhand.tools.kit.support.spec import MachineRefused, MachineUnavailable, Tool
from deskhand.tools.store import chats, steps, turns
from deskhand.tools.store.schema import ChatRow, TurnRow

from .desktop_assignment import DesktopAssignment
from .recordings import ChatRecordings, Recorded, TurnRecording
from .repository import ChatRepository
from .toolbox import ChatToolbox, Computer
from .transcript import StoredTranscript

log = logging.getLogger(__name__)
Json = dict[str, Any]

NEW_DESKTOP = (
    "You work on a new desktop now: what was open on the earlier one is gone, the files that "
    "were saved are still there."
)

LEFT_BEHIND = "the recording stayed on the desktop that was lost"


class MakeComputer(Protocol):
    """Makes the computer tool of one chat."""

    def __call__(self, chat_id: str, machine: DesktopMachine) -> Computer:
        """Return the tool that works on ``machine`` and stores pictures for the chat."""


@dataclass(frozen=True)
class Failure:
    """Why a turn ended before the model could end it."""

    error: str
    kind: str


class TurnRunner:
    """Does the turns of all chats."""

    def __init__(
        self,
        book: ChatRepository,
        models: Models,
        workplaces: DesktopAssignment,
        recordings: ChatRecordings,
        make_computer: MakeComputer,
        clock: Callable[[], float],
    ) -> None:
        self._book = book
        self._models = models
        self._workplaces = workplaces
        self._recordings = recordings
        self._make_computer = make_computer
        self._clock = clock
        self.tools: Callable[[ChatView], Mapping[str, Tool]] = lambda _: {}
        """The tools of a chat; set by whoever puts the parts together."""
        self.keep_recordings = False
        """Let the recorders go on when the program ends."""

    async def attempt(self, chat_id: str) -> TurnEnd | Failure | None:
        """Work until the turn is over; ``None`` when there was nothing to do."""
        if (await self._book.view(chat_id)).state not in (ChatState.QUEUED, ChatState.RUNNING):
            return None
        try:
            return await self._attempt(chat_id)
        except NoDesktop as error:
            return Failure(str(error), "desktop")
        except ChatError as error:
            return Failure(str(error), "model")
        except (MachineRefused, MachineUnavailable) as error:
            return Failure(f"the desktop does not answer: {error}", "desktop")
        except Exception as error:
            log.exception("the turn of chat %s failed", chat_id)
            return Failure(f"{type(error).__name__}: {error}", "generic")

    async def settle(self, chat_id: str, ended: TurnEnd | Failure | None) -> bool:
        """Store the recording, write down the end, and say whether another turn follows."""
        if (await self._book.view(chat_id)).state not in BUSY:
            return False
        patience = self._book.settings.recording_seconds
        recorded = await self._recordings.finish(chat_id, _end_reason(ended), patience)
        await StoredTranscript(self._book, chat_id).answer_open_calls()
        status = _status(ended)
        interrupting = (await self._book.view(chat_id)).state == ChatState.INTERRUPTING

        async def write(session: AsyncSession, chat: ChatRow) -> None:
            turn = await turns.running(session, chat)
            _write_end(turn, ended, status, self._book.now())
            await self._write_recording(session, chat, turn, recorded)

        if interrupting:
            event = StateEvent.FINISH_INTERRUPTION
        else:
            event = StateEvent.FAIL if status == "failed" else StateEvent.FINISH_TURN
        made = await self._book.move(chat_id, event, before=write)
        await self._recordings.clear(chat_id)
        if made.state is ChatState.RUNNING:
            return True
        self._workplaces.rest(chat_id)
        return False

    async def put_back(self, chat_id: str) -> None:
        """Leave the turn to the next start of the program."""
        recorded: Recorded | None = None
        if self.keep_recordings:
            self._recordings.leave(chat_id)
        else:
            patience = self._book.settings.closing_seconds
            recorded = await self._recordings.finish(chat_id, "closed", patience)

        async def write(session: AsyncSession, chat: ChatRow) -> None:
            turn = await turns.running(session, chat)
            if recorded is not None:
                await self._write_recording(session, chat, turn, recorded)

        if (await self._book.view(chat_id)).state in (ChatState.QUEUED, ChatState.RUNNING):
            await self._book.move(chat_id, StateEvent.PUT_BACK, before=write)

    async def _attempt(self, chat_id: str) -> TurnEnd:
        transcript = StoredTranscript(self._book, chat_id)
        await transcript.answer_open_calls()
        is_new_desktop = await self._prepare(chat_id)
        view = await self._book.view(chat_id)
        if view.state == ChatState.QUEUED:
            await self._book.move(chat_id, StateEvent.ADMIT)
        if is_new_desktop:
            await transcript.append(Message("user", (Text(NEW_DESKTOP),)))
        is_child = view.parent_id is not None
        role = role_of(view.mode, view.parent_id)
        name, model = self._models.resolve(view.model, role=role)
        settings = LoopSettings(
            model=name,
            system=system_prompt(cast(Mode, view.mode), child=is_child),
            budget=await self._budget(chat_id),
        )
        toolbox = await self._toolbox(view)
        return await run_turn(transcript, model, toolbox, settings, self._clock, transcript.say)

    async def _prepare(self, chat_id: str) -> bool:
        try:
            return await self._workplaces.prepare(chat_id)
        except (ChatError, MachineRefused, MachineUnavailable):
            raise
        except Exception as error:
            log.exception("no desktop for chat %s", chat_id)
            raise NoDesktop(str(error)) from error

    async def _toolbox(self, view: ChatView) -> ChatToolbox:
        computer: Computer | None = None
        recording: TurnRecording | None = None
        if view.mode == "computer_use":
            machine = await self._workplaces.machine(view.id)
            computer = self._make_computer(view.id, machine)
            recording = self._recordings.open(
                view.id,
                machine,
                listed_with=view.parent_id or view.id,
                started=view.recording_status == "recording",
            )
        return ChatToolbox(
            self._book,
            view.id,
            self.tools(view),
            lambda: self._workplaces.machine(view.id),
            computer=computer,
            recording=recording,
        )

    async def _budget(self, chat_id: str) -> TurnBudget:
        chat = await self._book.store.read(lambda s: chats.get(s, chat_id))
        return TurnBudget(**chat.budget)

    async def _write_recording(
        self, session: AsyncSession, chat: ChatRow, turn: TurnRow, recorded: Recorded
    ) -> None:
        if recorded.status == "none" and recorded.warning is None:
            if turn.recording.get("status") != "recording":
                return
            recorded = Recorded(end_reason="service_lost", complete=False, warning=LEFT_BEHIND)
        before = turn.recording.get("file_ids") or []
        told = recorded.to_json()
        told["file_ids"] = [*before, *told["file_ids"]]
        told["thumbnail_file_id"] = told["thumbnail_file_id"] or turn.recording.get(
            "thumbnail_file_id"
        )
        told["status"] = "stored" if told["file_ids"] else told["status"]
        turn.recording = told
        await steps.place_in_video(session, chat.id, turn.number, recorded.video_times)


def role_of(mode: str, parent_id: str | None) -> Role:
    """Return which of the usual models fits: who works on a desktop has nobody below it."""
    if mode == "computer_use":
        return "child"
    return "parent" if parent_id is None else "helper"


def _write_end(turn: TurnRow, ended: TurnEnd | Failure | None, status: str, now: float) -> None:
    turn.status = status
    turn.ended_at = now
    if isinstance(ended, TurnEnd):
        turn.report = ended.report
        turn.outcome = ended.outcome
        turn.outcome_source = ended.outcome_source
        turn.error = ended.error
        turn.error_kind = ended.error_kind
    elif ended is not None:
        turn.outcome = "failed"
        turn.outcome_source = "assumed"
        turn.error = ended.error
        turn.error_kind = ended.kind


def _status(ended: TurnEnd | Failure | None) -> Literal["done", "failed", "interrupted"]:
    if ended is None:
        return "interrupted"
    if isinstance(ended, Failure) or (ended.error is not None and ended.error_kind != "budget"):
        return "failed"
    return "done"


def _end_reason(ended: TurnEnd | Failure | None) -> str:
    return {"interrupted": "closed", "failed": "child_error", "done": "completed"}[_status(ended)]
