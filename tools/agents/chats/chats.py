"""All chats: what the HTTP routes, the command line and the tools ask of them."""

import contextlib
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self

from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.agents.desktops.ports import (
    ChatSettings,
    DesktopMachine,
    DesktopSource,
    Models,
    Now,
)
from deskhand.tools.agents.loop.turn import TurnEnd
from deskhand.tools.conversation.conversation import ToolCall
from deskhand.tools.conversation.errors import BadChatRequest, Conflict, UnknownTool
from deskhand.tools.conversation.states import ChatState, StateEvent
from deskhand.tools.conversation.views import ChatView, FileView, MessageView, Page, StepView
from deskhand.tools.kit.computer import ComputerTool
from deskhand.tools.kit.people import REQUEST_HUMAN, AttachFileTool, RequestHumanTool
from deskhand.tools.kit.subagents import subagent_tools
from deskhand.tools.kit.support.human_control import HumanControlWaits
from deskhand.tools.kit.support.spec import Tool, ToolOutcome, ToolSpec
from deskhand.tools.kit.type_secret import TYPE_SECRET, TypeSecretTool
from deskhand.tools.store import chats, files, messages, steps
from deskhand.tools.store.database import Store
from deskhand.tools.store.errors import UnknownRow
from deskhand.tools.store.retention import DAY, RetentionLimits
from deskhand.tools.store.schema import StepRow
from deskhand.tools.store.secrets import SecretStore
from deskhand.tools.store.stored_files import StoredFiles

from .attachments import Attachments
from .desktop_assignment import OWN, DesktopAssignment
from .events import ChatSubscription, EventHub
from .pictures import ChatPictures
from .questions import Questions
from .recordings import ChatRecordings
from .repository import ChatRepository, NewChat
from .subagents import ChildChats
from .toolbox import ChatToolbox, Computer, read_outcome
from .transcript import StoredTranscript, result_from_json
from .turn_runner import Failure, TurnRunner, role_of
from .turn_tasks import Turns

Json = dict[str, Any]
MODES = ("general", "computer_use", "explore")
CHANGING = ("write_file", "edit_files", "process_signal")
"""Tools that a chat which only explores does without."""
UNFINISHED = (
    ChatState.QUEUED,
    ChatState.RUNNING,
    ChatState.INTERRUPTING,
    ChatState.REQUIRES_ACTION,
)


class Chats:
    """The chats of one data directory; a context manager.

    ``tools`` are those that work on a chat's machine; the tools on children are added here.
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
        vault: SecretStore | None = None,
        now: Now = time.time,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        settings = settings or ChatSettings()
        self._vault = vault or SecretStore()
        self._files = stored_files
        self._models = models
        self._now = now
        # Ids that rise over restarts too, so that a listener that comes back is not confused.
        self._hub = EventHub(first_id=int(now() * 1000))
        self._book = ChatRepository(store, self._hub, settings, now, self._vault.hide)
        self._workplaces = DesktopAssignment(self._book, machines, clock)
        self._recordings = ChatRecordings(
            stored_files, self._recording_begun, lambda: self._vault.values
        )
        self._handbacks: defaultdict[str, HumanControlWaits] = defaultdict(HumanControlWaits)
        """What each chat was told of people's turns."""
        self._called: set[tuple[str, str]] = set()
        """Chat and id of the calls from outside that are under way."""
        self._work = TurnRunner(
            self._book, models, self._workplaces, self._recordings, self._computer, clock
        )
        self._turns: Turns[TurnEnd | Failure | None] = Turns(self._work)
        self._children = ChildChats(
            self._book, self._turns, models, machines, self._workplaces, self._recordings
        )
        self._questions = Questions(self._book)
        attachments = Attachments(self._book, stored_files, self._workplaces.machine)
        machine_tools = (*tools, AttachFileTool(attachments))
        self._machine_tools = {tool.spec.name: tool for tool in machine_tools}
        self._human_tools: dict[str, Tool] = {REQUEST_HUMAN.name: RequestHumanTool(self._questions)}
        self._child_tools = {tool.spec.name: tool for tool in subagent_tools(self._children)}
        self._work.tools = self._tools_of

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
    ) -> ChatView:
        """Make a chat and start its first turn if there is a prompt.

        Raises:
            BadRequest: If the prompt is blank, the mode unknown or the parent itself a child.
            NoModel: If there is a prompt and no model for it.
        """
        if prompt is not None and not prompt.strip():
            raise BadChatRequest("prompt is required")
        if mode not in MODES:
            raise BadChatRequest(f"unknown mode {mode}; there are {', '.join(MODES)}")
        if parent_id is not None and (await self.get(parent_id)).parent_id is not None:
            raise BadChatRequest("delegated chats cannot create child subagents")
        if prompt is not None:
            model, _ = self._models.resolve(model, role=role_of(mode, parent_id))
        wanted = NewChat(
            prompt=prompt.strip() if prompt else None,
            title=title,
            mode=mode,
            model=model,
            parent_id=parent_id,
            desktop_wish=OWN if mode == "computer_use" else None,
        )
        view = await self._book.create(wanted)
        if prompt is not None:
            self._turns.start(view.id)
        return view

    async def list(
        self, *, parent: str | None, state: str | None, limit: int, cursor: str | None
    ) -> Page:
        """Return some chats, newest first; ``parent`` "" means those without one."""
        return await self._book.store.read(
            lambda s: chats.page(s, parent=parent, state=state, limit=limit, cursor=cursor)
        )

    async def get(self, chat_id: str) -> ChatView:
        """Return one chat. Raises ``UnknownRow`` when there is none, as all that take an id."""
        return await self._book.view(chat_id)

    async def messages(self, chat_id: str) -> Sequence[MessageView]:
        """Return what was said, oldest first, then what is queued."""
        return await self._book.store.read(lambda s: messages.views(s, chat_id))

    async def steps(self, chat_id: str) -> Sequence[StepView]:
        """Return its tool calls, oldest first."""
        return await self._book.store.read(lambda s: steps.views(s, chat_id))

    async def files(self, chat_id: str) -> Sequence[FileView]:
        """Return the files that are listed with it."""
        return await self._book.store.read(lambda s: files.of_chat(s, chat_id))

    async def send(self, chat_id: str, message: str, interrupt: bool = False) -> bool:
        """Say something; return whether that interrupted a turn."""
        return await self._children.send(chat_id, message, interrupt=interrupt)

    async def interrupt(self, chat_id: str) -> bool:
        """Stop its turn; return whether there was one. The end of it comes as an event."""
        return await self._children.stop(chat_id)

    async def answer(self, chat_id: str, answer: str) -> None:
        """Answer the question of a chat that waits for a person.

        Raises:
            BadRequest: If the answer is blank.
            Conflict: If it asks nothing.
        """
        await self._questions.answer(chat_id, answer)

    async def stop_all(self) -> int:
        """Stop the turns of all chats; return how many there were.

        Those that started others come first, so that nobody starts one more.
        """
        stopped = 0
        for row in await self._book.store.read(lambda s: chats.in_states(s, UNFINISHED)):
            with contextlib.suppress(Conflict, UnknownRow):
                stopped += await self._children.stop(row.id)
        return stopped

    async def vacate(self, desktop_id: str) -> None:
        """Stop the chats that work on a desktop, and return when their recordings are stored."""
        for row in await self._book.store.read(chats.with_desktop):
            if row.desktop_id == desktop_id:
                with contextlib.suppress(Conflict, UnknownRow):
                    await self._children.end(row.id)

    async def take_back_desktops(self) -> None:
        """End own desktops of chats that have been at rest for long and that nobody uses."""
        await self._workplaces.take_back(self._book.settings.desktop_rest_seconds)

    async def archive(self, chat_id: str) -> None:
        """Put a chat at rest away, with its children; their desktops end.

        Raises:
            Conflict: If it is at work.
        """
        await self._book.move(chat_id, StateEvent.ARCHIVE)
        for row in await self._book.store.read(lambda s: chats.with_descendants(s, chat_id)):
            await self._children.end(row.id)
            if row.id != chat_id and not row.archived:
                await self._book.move(row.id, StateEvent.ARCHIVE)

    async def delete(self, chat_id: str) -> None:
        """Remove a chat with its children, files and recordings, whatever it does."""
        rows = await self._book.store.read(lambda s: chats.with_descendants(s, chat_id))
        for row in reversed(rows):
            await self._children.end(row.id)
        gone = await self._book.store.write(lambda s: chats.delete_tree(s, chat_id))
        await self._files.discard(gone)
        for row in rows:
            self._handbacks.pop(row.id, None)
            self._hub.publish("deleted", row.id)

    async def remove_archived(self, days: float = RetentionLimits.archived_days) -> tuple[str, ...]:
        """Delete the chats that were put away so long ago, but for pinned ones; their ids."""
        before = self._now() - days * DAY
        gone = await self._book.store.read(lambda s: chats.put_away_before(s, before))
        for chat_id in gone:
            await self.delete(chat_id)
        return tuple(gone)

    async def default_chat(self, token_name: str) -> ChatView:
        """Return the chat of callers that name none: one for each token."""
        return await self._book.default_chat(token_name)

    def tool_specs(self) -> tuple[ToolSpec, ...]:
        """Return the tools that any program may use."""
        return tuple(tool.spec for tool in self._all_tools().values())

    async def call_tool(
        self, name: str, arguments: Json, caller_chat_id: str, tool_call_id: str
    ) -> ToolOutcome:
        """Use a tool for a chat. The same call id is never run twice: it is answered again.

        Cancelling stops waiting, not what was started. Raises ``UnknownTool``.
        """
        tools = self._all_tools()
        if name not in tools:
            raise UnknownTool(name, tuple(tools))
        called = (caller_chat_id, tool_call_id)
        if called in self._called:
            return _at_work(tool_call_id)
        self._called.add(called)
        try:
            earlier = await self._book.store.read(lambda s: _call(s, caller_chat_id, tool_call_id))
            if earlier is not None:
                return _answered(earlier)
            toolbox = ChatToolbox(
                self._book,
                caller_chat_id,
                tools,
                lambda: self._workplaces.machine(caller_chat_id),
            )
            return await toolbox.outcome(ToolCall(tool_call_id, name, arguments))
        finally:
            self._called.discard(called)

    def events(self, chat_id: str | None, after: int | None = None) -> ChatSubscription:
        """Listen from this moment on, to one chat or to all; close it with ``aclose``."""
        return self._hub.subscribe(chat_id, after)

    async def resume(self) -> None:
        """Let the chats go on that were at work when the program ended."""
        await self._files.sweep()
        for chat_id in await self._book.store.read(steps.chats_with_running):
            await StoredTranscript(self._book, chat_id).answer_open_calls()
        for row in await self._book.store.read(chats.with_desktop):
            self._workplaces.adopt(row)
        for row in await self._book.store.read(lambda s: chats.in_states(s, UNFINISHED)):
            if row.state == ChatState.REQUIRES_ACTION:
                await self._book.move(row.id, StateEvent.ANSWER)
            self._turns.start(row.id)

    async def close(self, *, keep_recordings: bool = False) -> None:
        """Put back the turns that go on and await their tasks.

        ``keep_recordings`` lets the recorders go on, for desktops that stay.
        """
        self._work.keep_recordings = keep_recordings
        self._recordings.hurry(self._book.settings.closing_seconds)
        await self._turns.close()
        self._hub.close()

    def _computer(self, chat_id: str, machine: DesktopMachine) -> Computer:
        pictures = ChatPictures(self._files, chat_id, self._now)
        return ComputerTool(machine.for_call, pictures, self._handbacks[chat_id])

    def _all_tools(self) -> dict[str, Tool]:
        return {**self._child_tools, **self._machine_tools, **self._secret_tools()}

    def _tools_of(self, view: ChatView) -> dict[str, Tool]:
        own = self._machine_tools if view.parent_id else self._all_tools()
        if view.mode == "explore":
            own = {name: tool for name, tool in own.items() if name not in CHANGING}
        above = filter(None, (view.parent_id,))
        return {**own, **self._human_tools, **self._secret_tools(above)}

    def _secret_tools(self, above: Iterable[str] = ()) -> dict[str, Tool]:
        # Whoever was given none is not told that there could be any.
        if not self._vault.values:
            return {}
        return {TYPE_SECRET.name: TypeSecretTool(self._vault, tuple(above))}

    async def _recording_begun(self, chat_id: str) -> None:
        await self._book.note_recording(chat_id, "recording")


async def _call(session: AsyncSession, chat_id: str, tool_call_id: str) -> StepRow | None:
    return await steps.of_call(session, await chats.get(session, chat_id), tool_call_id)


def _answered(step: StepRow) -> ToolOutcome:
    if step.result is None:
        return _at_work(step.tool_call_id)
    return read_outcome(result_from_json(step.result))


def _at_work(tool_call_id: str) -> ToolOutcome:
    return ToolOutcome(error=f"the call {tool_call_id} is still at work")
