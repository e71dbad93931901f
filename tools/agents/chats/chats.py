"""Chats as a service: the interface of the HTTP routes, the command line and the tools.

A chat is a row in the database. While it is at work it also has a task here, which takes its turns:

- :mod:`deskhand.tools.agents.chat_repository.repository` changes rows and publishes the changes,
- :mod:`.turn_tasks` owns the tasks, :mod:`.turn_runner` runs one turn,
- :mod:`.toolbox` executes tool calls and records each as a step,
- :mod:`.chat_tools` has the tools of each chat, :mod:`.outside_calls` calls them for programs,
- :mod:`.desktop_assignment` gives chats their desktops, and
  :mod:`deskhand.tools.agents.chat_recordings.chat_recordings` stores their videos,
- :mod:`.subagents` starts children, waits for them, and ends them.

The states and the transitions between them are in :mod:`deskhand.tools.conversation.states`.

Invariants:

- The database is the truth. A turn that the program's end cuts off is requeued, or found in a busy
  state by :meth:`Chats.resume`, and runs again from the stored messages.
- A tool call is written as a running step before anything is done for it, and never executed
  twice: a repeated id gets the stored result, and a call that a crash cut off gets an error as its
  result, because its effect is unknown.
- A chat at rest has no task. Its desktop may be taken for another chat; its files stay.
"""

import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

from deskhand.tools.agents.approvals.gate import CallGates
from deskhand.tools.agents.approvals.server_approvals import ServerApprovals
from deskhand.tools.agents.chat_recordings.chat_recordings import ChatRecordings
from deskhand.tools.agents.chat_repository.events import ChatSubscription, EventHub
from deskhand.tools.agents.chat_repository.joined_writes import JoinedWrites
from deskhand.tools.agents.chat_repository.repository import OWNER, ChatRepository, NewChat
from deskhand.tools.agents.desktops.ports import (
    ChatSettings,
    DesktopMachine,
    DesktopSource,
    LostRecordings,
    Models,
    Now,
)
from deskhand.tools.agents.loop.turn import TurnEnd
from deskhand.tools.agents.providers.provider_table import effort_problem
from deskhand.tools.agents.questions.questions import Questions
from deskhand.tools.agents.workdirs.attachments import Attachments
from deskhand.tools.agents.workdirs.rows import check_files
from deskhand.tools.agents.workdirs.start_files import StartFiles
from deskhand.tools.conversation.chat_start import ChatStart
from deskhand.tools.conversation.errors import BadChatRequest, Conflict
from deskhand.tools.conversation.restrictions import ChatRestrictions
from deskhand.tools.conversation.states import BUSY, ChatState, StateEvent
from deskhand.tools.conversation.step_target import StepTarget
from deskhand.tools.conversation.views import ChatView, FileView, MessageView, Page, StepView
from deskhand.tools.kit.computer import ComputerTool
from deskhand.tools.kit.mcp_tools import ApproveMcpServerTool, ForeignPictures, mcp_tools
from deskhand.tools.kit.people import AttachFileTool, RequestHumanTool
from deskhand.tools.kit.subagents import subagent_tools
from deskhand.tools.kit.support.spec import Tool, ToolSpec
from deskhand.tools.run_activities.run_activities import RunActivities
from deskhand.tools.secrets.chat_secrets import ChatSecrets, SecretEvents
from deskhand.tools.secrets.store import SecretStore
from deskhand.tools.store import chats, files, messages, steps, turns
from deskhand.tools.store.database import Store
from deskhand.tools.store.errors import UnknownRow
from deskhand.tools.store.ownership import visible_to
from deskhand.tools.store.pictures import ChatPictures
from deskhand.tools.store.retention import DAY, RetentionLimits
from deskhand.tools.store.stored_files import StoredFiles

from .agent_status import AgentStatus
from .chat_changes import ChatChanges
from .chat_tools import ChatTools
from .desktop_assignment import OWN, DesktopAssignment
from .outside_calls import OutsideCalls
from .subagents import ChildChats
from .transcript import StoredTranscript
from .turn_runner import Failure, TurnRunner, role_of
from .turn_tasks import Supervisor, Turns
from .workplace import Computer

Json = dict[str, Any]
MODES = ("general", "computer_use", "explore")
UNFINISHED = (*BUSY, ChatState.REQUIRES_ACTION)


class Chats:
    """The chats of one data directory; a context manager.

    ``tools`` are those that work on a chat's machine; the tools for children are added here.
    ``is_owner`` returns whether a credential, by which a chat was made, has the rights of an owner.
    """

    def __init__(
        self,
        store: Store,
        stored_files: StoredFiles,
        models: Models,
        machines: DesktopSource,
        tools: Sequence[Tool],
        settings: ChatSettings | None = None,
        *,
        secret_store: SecretStore | None = None,
        audit: SecretEvents | None = None,
        lost_recordings: LostRecordings | None = None,
        pictures: ForeignPictures | None = None,
        parent_tools: Sequence[Tool] = (),
        is_owner: Callable[[str], bool] = lambda _: True,
        now: Now = time.time,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        settings = settings or ChatSettings()
        self._files = stored_files
        self._models, self._machines = models, machines
        # Event ids start at the time in milliseconds: a client that reconnects after a restart
        # sends an id of the previous process, which must be lower than all new ones.
        self._hub = EventHub(first_id=int(now() * 1000))
        self._secrets = ChatSecrets(
            secret_store or SecretStore(), self._publish_probing, audit, clock
        )
        self._repository = ChatRepository(store, self._hub, settings, now, clock)
        self._assignment = DesktopAssignment(self._repository, machines, clock)
        self.machine = self._assignment.machine
        self._recordings = ChatRecordings(stored_files, self._recording_started, self._secrets)
        self.questions = Questions(self._repository, audit)
        self.answer = self.questions.answer
        start_files = StartFiles(store, stored_files, self._assignment.machine)
        self._runner = TurnRunner(
            *(self._repository, models, self._assignment, self._recordings, self._computer, clock),
            self._secrets.mask,
            *(CallGates(self.questions, settings.approval), start_files, lost_recordings),
        )
        if lost_recordings is not None:
            lost_recordings.on_stored = self._publish_change
        self._turns: Turns[TurnEnd | Failure | None] = Turns(self._runner)
        self.supervisor = Supervisor(store, self._turns, now)
        self.publish_refused = self._repository.publish_refused
        self.publish_status = AgentStatus(self._repository, self._secrets.mask).publish
        self.tool_calls, self.costs = self._repository.tool_calls, self._repository.costs
        parts = self._repository, self._turns, models, machines, self._assignment, self._recordings
        self._children = ChildChats(*parts, is_owner)
        changes = ChatChanges(self._repository, self._turns)
        self.rename, self.unarchive = changes.rename, changes.unarchive
        self.compact, self.clear = changes.compact, changes.clear
        attachments = Attachments(self._repository, stored_files, self._assignment.machine)
        approvals = ServerApprovals(store, self.questions, now, trust=settings.trust_mcp_servers)
        self.activities = RunActivities(self._repository, self, self._resolve, self._turns.start)
        self._tools = ChatTools(
            machine=(*tools, AttachFileTool(attachments), *mcp_tools(approvals, pictures)),
            people=(RequestHumanTool(self.questions), ApproveMcpServerTool(approvals)),
            children=(*subagent_tools(self._children), *parent_tools),
            secrets=self._secrets,
        )
        self.call_tool = OutsideCalls(
            self._repository, self._assignment, self._tools, self._secrets, start_files
        ).call
        # Set afterwards: the children's tools need the runner's tasks, and the runner needs them.
        self._runner.tools = self._tools.of

    async def __aenter__(self) -> Self:
        await self.resume()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def create(
        self,
        *,
        prompt: str | None,
        title: str | None = None,
        mode: str = "general",
        model: str | None = None,
        parent_id: str | None = None,
        owner: str | None = None,
        without_execute: bool = False,
        restrictions: ChatRestrictions | None = None,
        effort: str | None = None,
        start: ChatStart | None = None,
    ) -> ChatView:
        """Create a chat of the credential ``owner``; start its first turn if there is a prompt.

        Raises:
            BadChatRequest: If the prompt is blank, the mode or the effort unknown, the parent
                itself a child, or a file to start with is missing or too large.
            NoModel: If there is a prompt and no model for it.
        """
        if prompt is not None and not prompt.strip():
            raise BadChatRequest("prompt is required")
        if mode not in MODES:
            raise BadChatRequest(f"unknown mode {mode}; there are {', '.join(MODES)}")
        if problem := effort_problem(effort):
            raise BadChatRequest(f"effort: {problem}")
        if parent_id is not None and (await self.get(parent_id)).parent_id is not None:
            raise BadChatRequest("delegated chats cannot create child subagents")
        if prompt is not None:
            # Resolved before the row is written: a chat that no model can serve is refused.
            model, _ = self._models.resolve(model, role=role_of(mode, parent_id))
        new_chat = NewChat(
            prompt=prompt.strip() if prompt else None,
            title=title,
            mode=mode,
            model=model,
            parent_id=parent_id,
            requested_desktop=OWN if mode == "computer_use" else None,
            owner=owner or OWNER,
            without_execute=without_execute,
            restrictions=restrictions or ChatRestrictions(),
            effort=effort,
            start=start or ChatStart(),
        )
        await self._repository.store.read(lambda s: check_files(s, new_chat.start, None))
        await self._assignment.check_start(new_chat.start)
        view = await self._repository.create(new_chat)
        if prompt is not None:
            self._turns.start(view.id)
        return view

    async def list(
        self, *, parent: str | None, state: str | None, limit: int, cursor: str | None, by: str = ""
    ) -> Page:
        """Return a page of chats, newest first; ``parent`` "" selects those without a parent."""
        seen = visible_to(by)
        return await self._repository.page(
            lambda s: chats.page(s, seen, parent=parent, state=state, limit=limit, cursor=cursor)
        )

    async def recorded(self, limit: int, cursor: str | None, by: str = "") -> Page:
        """Return a page of the chats that have recordings, newest first."""
        seen = visible_to(by)
        return await self._repository.page(lambda s: chats.recorded(s, limit, cursor, seen))

    async def get(self, chat_id: str) -> ChatView:
        """Return one chat; raise ``UnknownRow`` if it does not exist, as all methods with an id."""
        return await self._repository.view(chat_id)

    async def desktop_of(self, chat_id: str) -> str | None:
        """Return the id of a chat's desktop, None if it has none."""
        return await self._repository.store.read_short(lambda s: chats.desktop_of(s, chat_id))

    async def messages(self, chat_id: str) -> Sequence[MessageView]:
        """Return the messages of a chat, oldest first, then the queued ones."""
        return await self._repository.store.read(lambda s: messages.views(s, chat_id))

    async def steps(self, chat_id: str) -> Sequence[StepView]:
        """Return the tool calls of a chat, oldest first."""
        return await self._repository.store.read(lambda s: steps.views(s, chat_id))

    async def step_targets(self, chat_id: str, turn: int) -> Mapping[str, Mapping[int, StepTarget]]:
        """Return what the actions of a turn were aimed at, by the step's id and their position."""
        return await self._repository.store.read(lambda s: steps.targets_of_turn(s, chat_id, turn))

    async def changed_turns(self, chat_id: str) -> Sequence[int]:
        """Return the numbers of the turns whose steps were changed after their end."""
        return await self._repository.store.read(lambda s: steps.changed_turns(s, chat_id))

    async def files(self, chat_id: str) -> Sequence[FileView]:
        """Return the files that are listed with a chat."""
        return await self._repository.store.read(lambda s: files.of_chat(s, chat_id))

    async def dropped_thinking(self) -> int:
        """Return how many thinking blocks providers have dropped from requests of all chats."""
        return await self._repository.store.read(turns.dropped_thinking)

    async def send(
        self, chat_id: str, message: str, interrupt: bool = False, *, after_step: bool = False
    ) -> bool:
        """Send a message, at work for after the turn or step; return if it interrupted one."""
        return await self._children.send(
            chat_id, message, interrupt=interrupt, after_step=after_step
        )

    async def interrupt(self, chat_id: str) -> bool:
        """Interrupt the turn of a chat; return whether there was one.

        The turn ends later: an event reports it.
        """
        return await self._children.stop(chat_id)

    async def stop_all(self, by: str = "") -> int:
        """Stop the turns of all chats, as the person ``by``; return how many there were.

        The oldest chats come first: a parent is older than its children, and a parent that is
        stopped starts no further ones.
        """
        stopped = 0
        for row in await self._repository.store.read(lambda s: chats.in_states(s, UNFINISHED)):
            # A chat may end by itself, or be deleted, between the query and here.
            with contextlib.suppress(Conflict, UnknownRow):
                if await self._children.stop(row.id):
                    stopped += 1
                    await self.activities.add(row.id, "stop", by)
        return stopped

    async def release_desktop(self, desktop_id: str) -> None:
        """Stop the chats that work on a desktop, and return when their recordings are stored."""
        for row in await self._repository.store.read(chats.with_desktop):
            if row.desktop_id == desktop_id:
                with contextlib.suppress(Conflict, UnknownRow):
                    await self._children.end(row.id)

    async def release_idle_desktops(self) -> None:
        """End the own desktops of chats that have been idle for long and that no person uses."""
        await self._assignment.release_idle(self._repository.settings.desktop_rest_seconds)

    async def archive(self, chat_id: str) -> None:
        """Archive a chat at rest with its children; their desktops end.

        Raises:
            Conflict: If the chat is at work.
        """
        await self._repository.move(chat_id, StateEvent.ARCHIVE)
        for row in await self._repository.store.read(lambda s: chats.with_descendants(s, chat_id)):
            await self._children.end(row.id)
            if row.id != chat_id and not row.archived:
                await self._repository.move(row.id, StateEvent.ARCHIVE)

    async def delete(self, chat_id: str) -> None:
        """Delete a chat with its children, files and recordings, in any state."""
        rows = await self._repository.store.read(lambda s: chats.with_descendants(s, chat_id))
        # Children first; the rows are deleted together when all tasks have ended.
        for row in reversed(rows):
            await self._children.end(row.id)
        removed = await self._repository.store.write(lambda s: chats.delete_tree(s, chat_id))
        # After the rows: a crash in between leaves bytes without a row, which only cost room.
        await self._files.discard(removed)
        await self._assignment.forget(chat_id)
        for row in rows:
            self._repository.waits.remove(row.id)
            self._secrets.forget(row.id)
            self._hub.publish("deleted", row.id)

    async def remove_archived(self, days: float = RetentionLimits.archived_days) -> tuple[str, ...]:
        """Delete the chats that were archived so long ago, except pinned ones; return their ids."""
        before = self._repository.now() - days * DAY
        removed = await self._repository.store.read(lambda s: chats.archived_before(s, before))
        for chat_id in removed:
            await self.delete(chat_id)
        return tuple(removed)

    async def default_chat(self, token_name: str, owner: str = OWNER) -> ChatView:
        """Return the chat for callers that name none: one for each token."""
        return await self._repository.default_chat(token_name, owner)

    def tool_specs(self) -> tuple[ToolSpec, ...]:
        """Return the tools that any program may call."""
        return tuple(tool.spec for tool in self._tools.all().values())

    def events(self, chat_id: str | None, after: int | None = None) -> ChatSubscription:
        """Subscribe to one chat or to all, from now on; close the subscription with ``aclose``."""
        return self._hub.subscribe(chat_id, after)

    async def resume(self) -> None:
        """Resume the chats that were at work when the program ended."""
        await self._files.sweep()
        # Before any turn runs: a model must not receive a conversation with open calls. Those that
        # ask a person are continued by their turns.
        for chat_id in await self._repository.store.read(steps.chats_with_running):
            transcript = StoredTranscript(self._repository, chat_id)
            if not await transcript.continuing():
                await transcript.answer_open_calls()
        for row in await self._repository.store.read(chats.with_desktop):
            # All desktops count in the pool before a turn asks for one, or there would be too many.
            self._assignment.adopt(row)
        for row in await self._repository.store.read(lambda s: chats.in_states(s, UNFINISHED)):
            self._turns.start(row.id)

    async def close(self, *, keep_recordings: bool = False) -> None:
        """Requeue the running turns and await their tasks.

        With ``keep_recordings`` the recorders continue, for desktops that outlive this process.
        """
        self._runner.keep_recordings = keep_recordings
        self._repository.store.end_waits()
        self._recordings.shorten_timeout(self._repository.settings.closing_seconds)
        await self.activities.close()
        # Before the hub: the tasks still publish the states in which they leave their chats.
        await self._turns.close()
        self._hub.close()

    def _computer(
        self, chat_id: str, machine: DesktopMachine, writes: JoinedWrites, *, settles_between: bool
    ) -> Computer:
        pictures = ChatPictures(self._files, chat_id, self._repository.now, writes)
        waits = self._repository.waits.for_person(chat_id)
        return ComputerTool(machine.for_call, pictures, waits, settles_between=settles_between)

    def _resolve(self, model: str | None, mode: str) -> object:
        return self._models.resolve(model, role=role_of(mode, None))

    def _publish_probing(self, chat_id: str, name: str) -> None:
        self._hub.publish("notice", chat_id, {"kind": "secret_masked_often", "secret": name})

    async def _publish_change(self, chat_id: str) -> None:
        with contextlib.suppress(UnknownRow):
            await self._repository.change(chat_id, lambda _: None)

    async def _recording_started(self, chat_id: str) -> None:
        await self._repository.set_recording_status(chat_id, "recording")
