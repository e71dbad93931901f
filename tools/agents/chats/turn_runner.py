"""Runner of a chat's turns: acquires the desktop, runs the loop, stores the recording.

The order of the writes in :meth:`TurnRunner.finish` matters. The recording is stored first, as it
may take the longest and the desktop may be released as soon as the turn is over. The row of the
turn, its recording and the new state of the chat are written in one transaction, so that a crash
leaves either a running turn, which the next start resumes, or an ended one. Only after that commit
the desktop service's copy of the recording is removed.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Protocol

from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.agents.agent_context.skill_tools import skill_tools
from deskhand.tools.agents.approvals.gate import CallGates
from deskhand.tools.agents.chat_recordings.chat_recordings import ChatRecordings
from deskhand.tools.agents.chat_recordings.ended_recordings import EndedRecordings, write_recording
from deskhand.tools.agents.chat_recordings.staying_recordings import StayingRecordings
from deskhand.tools.agents.chat_recordings.turn_recording import Recorded
from deskhand.tools.agents.chat_repository.joined_writes import LONGEST_WAIT, JoinedWrites
from deskhand.tools.agents.chat_repository.repository import ChatRepository
from deskhand.tools.agents.desktops.ports import DesktopMachine, LostRecordings, Models
from deskhand.tools.agents.loop.compaction import KnownTools, run_compaction
from deskhand.tools.agents.loop.reply_work import ReplyWork
from deskhand.tools.agents.loop.turn import LoopSettings, TurnEnd, run_turn
from deskhand.tools.agents.providers.model_table import PLAYBOOK, WITHOUT_MODEL
from deskhand.tools.agents.workdirs.rows import start_of, workdir_of
from deskhand.tools.agents.workdirs.start_files import StartFiles
from deskhand.tools.conversation.conversation import Message, Text
from deskhand.tools.conversation.errors import ChatError, NoDesktop
from deskhand.tools.conversation.states import BUSY, ChatState, StateEvent
from deskhand.tools.conversation.views import ChatView
from deskhand.tools.kit.support.spec import MachineRefused, MachineUnavailable, Tool
from deskhand.tools.secrets.chat_secrets import ChatMask
from deskhand.tools.store import steps, turns
from deskhand.tools.store.errors import StaleDriver, StoreUnavailable, UnknownRow
from deskhand.tools.store.faults.health import patience
from deskhand.tools.store.rows.claims import check_driver
from deskhand.tools.store.schema import ChatRow

from . import turn_limits as limits
from .chat_heads import ChatHeads
from .desktop_assignment import DesktopAssignment, Prepared
from .prompt_head import PromptHead
from .toolbox import ChatToolbox
from .transcript import StoredTranscript
from .turn_ends import Failure, end_reason, status_of, unwritten_end, write_end
from .turn_limits import role_of
from .workplace import DESKTOP_LOST, Computer, Workplace

log = logging.getLogger(__name__)
Json = dict[str, Any]

NEW_DESKTOP = (
    "You work on a new desktop now: the earlier one was ended while this chat was at rest. The "
    "programs that ran on it have ended, and the files in its home and work directories are gone; "
    "attached files are kept."
)


TIMED_OUT = "It was stopped because its timeout has passed."


class MakeComputer(Protocol):
    """Factory of the computer tool of one chat."""

    def __call__(
        self,
        chat_id: str,
        machine: DesktopMachine,
        writes: JoinedWrites,
        *,
        settles_between: bool,
    ) -> Computer:
        """Return the tool that works on ``machine`` and stores pictures for the chat.

        Without ``settles_between`` only the last action of a reply waits for its effect.
        """


class TurnRunner:
    """Runs the turns of all chats."""

    def __init__(
        self,
        repository: ChatRepository,
        models: Models,
        assignment: DesktopAssignment,
        recordings: ChatRecordings,
        make_computer: MakeComputer,
        clock: Callable[[], float],
        mask: Callable[[str, Sequence[str]], ChatMask],
        gates: CallGates,
        start_files: StartFiles,
        lost_recordings: LostRecordings | None = None,
    ) -> None:
        self._repository = repository
        self._waits = repository.waits
        self._models = models
        self._assignment = assignment
        self._recordings = recordings
        self._make_computer = make_computer
        self._clock = clock
        self._mask = mask
        self._gates = gates
        self._start_files = start_files
        self._heads = ChatHeads(repository, assignment)
        self._ended_recordings = EndedRecordings(
            recordings, self._desktop_of, repository.settings, lost_recordings
        )
        if lost_recordings is not None:
            timeout = repository.settings.recording_seconds
            lost_recordings.use(
                StayingRecordings(recordings, repository.view, assignment.machine_of, timeout)
            )
        self.tools: Callable[[ChatView], Mapping[str, Tool]] = lambda _: {}
        """The tools of a chat; :class:`~deskhand.tools.agents.chats.chats.Chats` sets it."""
        self.on_turn_end: Callable[[], None] = lambda: None
        """Called after the commit of a turn's end."""
        self.keep_recordings = False
        """True if the recorders continue when the program ends."""
        self._generations: dict[str, int] = {}
        """Generations under which the current turns drive their chats."""
        self._works: dict[str, ReplyWork] = {}

    async def run(self, chat_id: str) -> TurnEnd | Failure | None:
        """Run the turn until it is over; return ``None`` when there was nothing to do.

        Raises:
            StoreUnavailable: If the program ends while the database cannot be used.
            StaleDriver: If another control plane has taken the chat over.
        """
        self._generations[chat_id] = self._repository.generation_of(chat_id)
        with patience(self._waits.patience(chat_id)):
            return await self._run(chat_id)

    async def _run(self, chat_id: str) -> TurnEnd | Failure | None:
        if (await self._repository.view(chat_id)).state not in (
            ChatState.QUEUED,
            ChatState.RUNNING,
            # After a restart: the call that asked continues.
            ChatState.REQUIRES_ACTION,
        ):
            return None
        seconds = await limits.seconds_left(self._repository, chat_id)
        limit = asyncio.timeout(seconds)
        try:
            async with limit:
                return await self._run_turn(chat_id)
        except NoDesktop as error:
            return Failure(str(error), "desktop")
        except ChatError as error:
            return Failure(str(error), "model")
        except (MachineRefused, MachineUnavailable) as error:
            return Failure(f"the desktop does not answer: {error}", "desktop")
        except StaleDriver:
            raise
        except Exception as error:
            # The turn has not failed: the next start continues it.
            if isinstance(error, StoreUnavailable) and error.may_pass:
                raise
            if isinstance(error, TimeoutError) and limit.expired():
                return Failure(TIMED_OUT, "timeout")
            log.exception("the turn of chat %s failed", chat_id)
            return Failure(f"{type(error).__name__}: {error}", "generic")

    async def finish(self, chat_id: str, ended: TurnEnd | Failure | None) -> bool:
        """Store the recording, record how the turn ended; return whether another one follows."""
        with patience(self._waits.patience(chat_id)):
            try:
                return await self._finish(chat_id, ended)
            except UnknownRow as error:
                if error.kind != "chat":
                    raise
                # The chat was deleted meanwhile, with all that there was to finish.
                self._ended_recordings.forget(chat_id)
                return False

    async def _finish(self, chat_id: str, ended: TurnEnd | Failure | None) -> bool:
        state = (await self._repository.view(chat_id)).state
        generation = self._generations.get(chat_id, 0)
        if state == ChatState.REQUIRES_ACTION:
            # The turn ended before the call that asked could continue: withdraw the question.
            await self._repository.move(chat_id, StateEvent.ANSWER, generation=generation)
        elif state not in BUSY:
            return False
        # A run that was cancelled or failed may have left calls without results. This write also
        # waits for the end of a fault, which the time-out of the recording would not outlast.
        transcript = StoredTranscript(self._repository, chat_id, generation=generation)
        await transcript.answer_open_calls()
        recorded = await self._ended_recordings.finish(chat_id, end_reason(ended))
        status = status_of(ended)
        # The state is read again: storing the recording takes seconds, in which an interruption
        # may come.
        interrupting = (await self._repository.view(chat_id)).state == ChatState.INTERRUPTING

        async def write(session: AsyncSession, chat: ChatRow) -> None:
            turn = await turns.running(session, chat)
            write_end(turn, ended, status, self._repository.now())
            turn.last_step_hash = await steps.hash_of_turn(session, turn)
            await write_recording(session, chat, turn, recorded)
            if notices is not None:
                await notices.ended(session, chat, turn)

        notices = self._gates.questions.notices
        if interrupting:
            event = StateEvent.FINISH_INTERRUPTION
        else:
            event = StateEvent.FAIL if status == "failed" else StateEvent.FINISH_TURN
        transition = await self._repository.move(
            chat_id, event, before=write, generation=generation
        )
        # Only after the commit, see the module's docstring.
        if notices is not None:
            notices.wake()
        self._waits.forget(chat_id)
        self.on_turn_end()
        await self._ended_recordings.committed(chat_id)
        if transition.state is ChatState.RUNNING:
            return True
        self._assignment.rest(chat_id)
        return False

    async def between_replies(self, chat_id: str) -> None:
        """Return when the turn can be put back without cutting an action off."""
        work = self._works.get(chat_id)
        # While the database cannot be read, nothing can be stored that the turn comes to.
        with suppress(StoreUnavailable):
            if work is not None and not _waits(await self._repository.view(chat_id)):
                await work.over()

    async def requeue(self, chat_id: str) -> None:
        """Leave the turn to the next start of the program."""
        recorded: Recorded | None = None
        if self.keep_recordings:
            self._recordings.leave(chat_id)
        else:
            recorded = await self._ended_recordings.finish_requeued(chat_id)

        async def write(session: AsyncSession, chat: ChatRow) -> None:
            turn = await turns.running(session, chat)
            if recorded is not None:
                await write_recording(session, chat, turn, recorded)

        try:
            view = await self._repository.view(chat_id)
            if view.state in (ChatState.QUEUED, ChatState.RUNNING, ChatState.REQUIRES_ACTION):
                generation = self._generations.get(chat_id, 0)
                await self._repository.move(
                    chat_id, StateEvent.PUT_BACK, before=write, generation=generation
                )
        except StoreUnavailable as error:
            # The next start also resumes chats that are running.
            log.warning("chat %s is left as it is: %s", chat_id, error)

    def abandon(self, chat_id: str) -> None:
        """Forget a turn that another control plane has taken over, with recording and desktop."""
        self._generations.pop(chat_id, None)
        self._waits.forget(chat_id)
        self._ended_recordings.forget(chat_id)
        self._recordings.leave(chat_id)
        self._assignment.leave(chat_id)

    async def _run_turn(self, chat_id: str) -> TurnEnd:
        generation = self._generations[chat_id]
        fence = partial(check_driver, chat_id=chat_id, generation=generation)
        fences = (fence,) if generation else ()
        async with JoinedWrites(self._repository.store, LONGEST_WAIT, *fences) as writes:
            return await self._run_with(writes, chat_id, generation)

    async def _run_with(self, writes: JoinedWrites, chat_id: str, generation: int) -> TurnEnd:
        transcript = StoredTranscript(self._repository, chat_id, writes, generation)
        if generation > 1:
            await self._assignment.announce(chat_id, generation)
        asking = await transcript.continuing()
        if not asking:
            await transcript.answer_open_calls()
        left = await self._repository.store.read(lambda s: turns.work_and_result(s, chat_id))
        # A checkpoint needs no desktop.
        prepared: Prepared = "same" if left.compacts else await self._prepare(chat_id)
        view = await self._repository.view(chat_id)
        # A turn that follows another, or that a crash cut off, is RUNNING already.
        if view.state == ChatState.QUEUED:
            await self._repository.move(chat_id, StateEvent.ADMIT, generation=generation)
        if not left.compacts:
            await self._start_files.place(chat_id)
        name, model = self._models.resolve(view.model, role=role_of(view.mode, view.parent_id))
        tools = self.tools(view)
        head = await self._heads.of(view, tools)
        tools = {**tools, **skill_tools(head.skills)}
        budget = await limits.budget(self._repository, chat_id)
        settings = LoopSettings(name, head.system, budget, conversation=chat_id, effort=view.effort)
        if left.compacts:
            current = tuple(tool.spec for tool in tools.values())
            known = KnownTools(head.tools, current, view.mode == "computer_use")
            return await run_compaction(transcript, model, known, settings)
        toolbox = await self._toolbox(view, name, tools, head, writes, prepared == "same")
        if asking or view.state == ChatState.REQUIRES_ACTION:
            await toolbox.resume(asking, is_same=prepared == "same")
            await transcript.answer_open_calls()
        # The toolbox has taken up the recording, which ends with the turn.
        if (end := unwritten_end(left)) is not None:
            return end
        # The model remembers windows of the desktop that is gone, unless no turn had one.
        if prepared == "lost" or (prepared == "new" and view.step_count):
            text = NEW_DESKTOP if prepared == "new" else DESKTOP_LOST
            await transcript.append(Message("user", (Text(text),)))

        # The budget is not charged for pauses in which the turn could not be written.
        def clock() -> float:
            return self._clock() - self._waits.paused_seconds(chat_id)

        work = self._works[chat_id] = ReplyWork()
        try:
            return await run_turn(
                transcript, model, toolbox, settings, clock, transcript.publish_text, work
            )
        finally:
            self._works.pop(chat_id, None)

    async def _prepare(self, chat_id: str) -> Prepared:
        try:
            lost = await self._assignment.lost(chat_id)
            prepared = await self._assignment.prepare(chat_id)
            if lost is not None:
                self._ended_recordings.lost(chat_id, lost)
            return prepared
        except (ChatError, MachineRefused, MachineUnavailable, StoreUnavailable):
            raise
        except Exception as error:
            # Any failure to start a desktop is reported as one, not as a generic failure.
            log.exception("no desktop for chat %s", chat_id)
            raise NoDesktop(str(error)) from error

    async def _toolbox(
        self,
        view: ChatView,
        model: str,
        tools: Mapping[str, Tool],
        head: PromptHead,
        writes: JoinedWrites,
        is_same: bool,
    ) -> ChatToolbox:
        on_desktop = view.mode == "computer_use"

        async def replace_lost(*, failed: bool) -> Workplace | None:
            if await self._assignment.lost(view.id, failed=failed) is None:
                return None
            await self._prepare(view.id)
            return await self._workplace(view, writes, started=False)

        started = is_same and view.recording_status == "recording"
        return ChatToolbox(
            self._repository,
            view.id,
            tools,
            lambda: self._machine(view.id),
            mask=self._mask(view.id, (view.parent_id,) if view.parent_id else ()),
            head=head,
            workplace=await self._workplace(view, writes, started=started) if on_desktop else None,
            replace_lost=replace_lost if on_desktop else None,
            control_waits=await self._repository.person_waits(view.id),
            gate=self._gates(view, scripted=model.startswith(WITHOUT_MODEL)),
            workdir=await self._repository.store.read_short(lambda s: workdir_of(s, view.id)),
            writes=writes,
        )

    async def _workplace(self, view: ChatView, writes: JoinedWrites, *, started: bool) -> Workplace:
        """Return the chat's desktop; ``started`` if the recorder runs there already."""
        machine = await self._machine(view.id)
        start = await self._repository.store.read(lambda s: start_of(s, view.id))
        recording = self._recordings.open(
            *(view.id, machine),
            listed_with=view.parent_id or view.id,
            started=started,
            wanted=start is None or start.record,
        )
        # A replay decides only between replies: it does not read what is in between.
        settles = not (view.model or "").startswith(PLAYBOOK)
        computer = self._make_computer(view.id, machine, writes, settles_between=settles)
        return Workplace(computer, recording)

    async def _machine(self, chat_id: str) -> DesktopMachine:
        return await self._assignment.machine(chat_id, self._generations.get(chat_id, 0))

    async def _desktop_of(self, chat_id: str) -> str | None:
        return (await self._repository.view(chat_id)).desktop_id


def _waits(view: ChatView) -> bool:
    return view.state == ChatState.REQUIRES_ACTION or view.waiting_for is not None
