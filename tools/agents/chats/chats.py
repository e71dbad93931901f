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
from deskhand.tools.agents.chat_repository.agent_status import AgentStatus
from deskhand.tools.agents.chat_repository.events import ChatSubscription, EventHub
from deskhand.tools.agents.chat_repository.joined_writes import JoinedWrites
from deskhand.tools.agents.chat_repository.repository import OWNER, ChatRepository, NewChat
from deskhand.tools.agents.chat_repository.shared_events import SharedEvents
from deskhand.tools.agents.desktops.ports import (
    ChatSettings,
    DesktopMachine,
    DesktopSource,
    LostRecordings,
    Models,
    Now,
)
from deskhand.tools.agents.driving.driver import Driver
from deskhand.tools.agents.driving.port import TurnTasks
from deskhand.tools.agents.driving.turn_tasks import Supervisor, Turns
from deskhand.tools.agents.providers.provider_table import effort_problem
from deskhand.tools.agents.questions.questions import Questions
from deskhand.tools.agents.workdirs.attachments import Attachments
from deskhand.tools.agents.workdirs.rows import check_files
from deskhand.tools.agents.workdirs.start_files import StartFiles
from deskhand.tools.conversation.chat_start import ChatStart
from deskhand.tools.conversation.errors import BadChatRequest, Conflict
from deskhand.tools.conversation.restrictions import ChatRestrictions
from deskhand.tools.conversation.states import UNFINISHED
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
from deskhand.tools.store.backends.bus import Bus
from deskhand.tools.store.database import Store
from deskhand.tools.store.errors import UnknownRow
from deskhand.tools.store.ownership import visible_to
from deskhand.tools.store.pictures import ChatPictures
from deskhand.tools.store.stored_files import StoredFiles

from .chat_changes import ChatChanges
from .chat_removal import ChatRemoval
from .chat_tools import ChatTools
from .desktop_assignment import OWN, DesktopAssignment
from .outside_calls import OutsideCalls
from .subagents import ChildChats
from .transcript import StoredTranscript
from .turn_limits import role_of
from .turn_runner import TurnRunner
from .workplace import Computer

Json = dict[str, Any]
MODES = ("general", "computer_use", "explore")


class Chats:
    """The chats of one data directory; a context manager.

    ``tools`` are those that work on a chat's machine; the tools for children are added here.
    ``is_owner`` returns whether a credential, by which a chat was made, has the rights of an owner.
    ``drive`` returns what starts the turns where several control planes share the chats.
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
        drive: Callable[[TurnTasks], TurnTasks] | None = None,
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
        self.assignment = DesktopAssignment(self._repository, machines, clock)
        self._recordings = ChatRecordings(stored_files, self._recording_started, self._secrets)
        self.questions = Questions(self._repository, audit, self.assignment.given_places)
        self.answer = self.questions.answer
        start_files = StartFiles(store, stored_files, self.assignment.machine)
        self._runner = TurnRunner(
            *(self._repository, models, self.assignment, self._recordings, self._computer, clock),
            self._secrets.mask,
            CallGates(self.questions, settings.approval, settings.question_seconds),
            *(start_files, lost_recordings),
        )
        self._runner.on_turn_end = stored_files.pack_soon
        if lost_recordings is not None:
            lost_recordings.on_stored = self._publish_change
        self._turns = (drive or _unchanged)(Turns(self._runner))
        self._repository.generation_of = self._turns.generation_of
        self.supervisor = Supervisor(store, self._turns, now)
        self.publish_refused = self._repository.publish_refused
        self.publish_status = AgentStatus(self._repository, self._secrets.mask).publish
        self.tool_calls, self.costs = self._repository.tool_calls, self._repository.costs
        parts = self._repository, self._turns, models, machines, self.assignment, self._recordings
        self._children = ChildChats(*parts, is_owner)
        changes = ChatChanges(self._repository, self._turns)
        self.rename, self.unarchive = changes.rename, changes.unarchive
        self.compact, self.clear = changes.compact, changes.clear
        owned = self._children, self.assignment, stored_files, self._secrets.forget
        removal = ChatRemoval(self._repository, *owned)
        self.archive, self.delete = removal.archive, removal.delete
        self.remove_archived, self.release_desktop = removal.remove_archived, removal.release
        self.activities = RunActivities(self._repository, self, self._resolve, self._turns.start)
        self._tools = self._chat_tools(tools, parent_tools, pictures)
        used = self._repository, self.assignment, self._tools, self._secrets, start_files
        outside = OutsideCalls(*used)
        self.call_tool, self.end_cut_off_calls = outside.call, outside.end_cut_off
        # Set afterwards: the children's tools need the runner's tasks, and the runner needs them.
        self._runner.tools = self._tools.of

    def _chat_tools(
        self,
        tools: Sequence[Tool],
        parent_tools: Sequence[Tool],
        pictures: ForeignPictures | None,
    ) -> ChatTools:
        repository, settings = self._repository, self._repository.settings
        approvals = ServerApprovals(
            *(repository.store, self.questions, repository.now, settings.question_seconds),
            trust=settings.trust_mcp_servers,
        )
        attachments = Attachments(self._repository, self._files, self.assignment.machine)
        return ChatTools(
            machine=(*tools, AttachFileTool(attachments), *mcp_tools(approvals, pictures)),
            people=(RequestHumanTool(self.questions), ApproveMcpServerTool(approvals)),
            children=(*subagent_tools(self._children), *parent_tools),
            secrets=self._secrets,
        )

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
        await self.assignment.check_start(new_chat.start)
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

    async def machine(self, chat_id: str) -> DesktopMachine:
        """Return the machine of the desktop that a chat uses."""
        return await self.assignment.machine(chat_id)

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

    async def default_chat(self, token_name: str, owner: str = OWNER) -> ChatView:
        """Return the chat for callers that name none: one for each token."""
        return await self._repository.default_chat(token_name, owner)

    def tool_specs(self) -> tuple[ToolSpec, ...]:
        """Return the tools that any program may call."""
        return tuple(tool.spec for tool in self._tools.all().values())

    def events(self, chat_id: str | None, after: int | None = None) -> ChatSubscription:
        """Subscribe to one chat or to all, from now on; close the subscription with ``aclose``."""
        return self._hub.subscribe(chat_id, after)

    def shared_events(self, bus: Bus, driver: Driver | None = None) -> SharedEvents:
        """Return the events exchanged over ``bus``; ``driver`` follows what others change."""
        self._repository.plane = driver.plane if driver else None

        async def changed(chat_id: str | None) -> None:
            await self.questions.follow(chat_id)
            if driver is not None and chat_id is not None:
                await driver.follow(chat_id)

        return SharedEvents(self._repository, bus, changed)

    async def resume(self, *, alone: bool = True) -> None:
        """Resume the chats that were at work when the program ended.

        If it is not ``alone``, other control planes use the database: the driver claims what they
        do not drive.
        """
        await self._files.sweep()
        if not alone:
            return
        # Before any turn runs: a model must not receive a conversation with open calls. Those that
        # ask a person are continued by their turns.
        for chat_id in await self._repository.store.read(steps.chats_with_running):
            transcript = StoredTranscript(self._repository, chat_id)
            if not await transcript.continuing():
                await transcript.answer_open_calls()
        for row in await self._repository.store.read(chats.with_desktop):
            # All desktops count in the pool before a turn asks for one, or there would be too many.
            self.assignment.adopt(row)
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
        await self._turns.close(self._repository.settings.action_seconds)
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


def _unchanged(turns: TurnTasks) -> TurnTasks:
    return turns
