"""Repository of the chats: changes rows in transactions and publishes each change.

An event is published after the commit, never before: a subscriber that reads the chat on an event
must find at least the state that the event reports. The event carries the chat's version, which
rises with every change, so that a subscriber recognises an event older than what it has read.
"""

import contextlib
import posixpath
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Session

from deskhand.tools.agents.costs.counts import CostCounts
from deskhand.tools.agents.desktops.ports import ChatSettings, Now
from deskhand.tools.agents.loop.waits import ChatWaits
from deskhand.tools.conversation.chat_start import ChatStart
from deskhand.tools.conversation.conversation import Message, Text
from deskhand.tools.conversation.errors import BadChatRequest
from deskhand.tools.conversation.restrictions import ChatRestrictions
from deskhand.tools.conversation.states import ChatState, StateEvent, Transition
from deskhand.tools.conversation.titles import chat_title
from deskhand.tools.conversation.tool_call_counts import ToolCallCounts
from deskhand.tools.conversation.views import ChatView, Page
from deskhand.tools.conversation.waiting import WaitKind
from deskhand.tools.kit.support.human_control import HumanControlWaits
from deskhand.tools.store import chats, messages, turns
from deskhand.tools.store.database import Store
from deskhand.tools.store.errors import StoreError
from deskhand.tools.store.faults.health import patience
from deskhand.tools.store.rows.reported_people import reported_person
from deskhand.tools.store.schema import ChatRow, ChatStartRow

from . import transitions as transitions
from .events import EventHub

Json = dict[str, Any]
OWNER = "owner"
"""Owner of the chats of the service's own token and of browsers that it has signed in."""


@dataclass(frozen=True)
class NewChat:
    """Properties of a chat to create."""

    prompt: str | None = None
    title: str | None = None
    mode: str = "general"
    model: str | None = None
    parent_id: str | None = None
    requested_desktop: str | None = None
    desktop_id: str | None = None
    token_name: str | None = None
    budget: Json | None = None
    owner: str = OWNER
    """Id of the credential that creates the chat; a child has the owner of its parent."""
    egress: Json | None = None
    """Of its own desktop; None for that of the control plane."""
    without_execute: bool = False
    """True if it cannot run programs, as no child of such a chat can."""
    restrictions: ChatRestrictions = field(default_factory=ChatRestrictions)
    effort: str | None = None
    """Effort of the model; None for that of the setting."""
    start: ChatStart = field(default_factory=ChatStart)
    """Its working directory lies below that of its parent."""


class ChatRepository:
    """Reads and changes chats; publishes every change after its commit."""

    def __init__(
        self,
        store: Store,
        hub: EventHub,
        settings: ChatSettings,
        now: Now,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.store = store
        self.hub = hub
        self.settings = settings
        self.now = now
        self.clock = clock
        self.tool_calls = ToolCallCounts()
        self.costs = CostCounts()
        self.waits = ChatWaits(now, clock, self._publish_wait)
        self.plane: str | None = None
        """Id of this control plane, of several on one database."""
        self.generation_of: Callable[[str], int] = lambda _: 0
        """Generation under which this control plane drives a chat; 0 if it is alone."""

    async def view(self, chat_id: str) -> ChatView:
        """Return a chat. Raises ``UnknownRow`` when there is none."""
        return self.shown(await self.store.read(lambda session: chats.view(session, chat_id)))

    async def page(self, query: Callable[[Session], Page]) -> Page:
        """Return a page of chats with what they wait for."""
        page = await self.store.read_short(query)
        return replace(page, chats=tuple(map(self.shown, page.chats)))

    def shown(self, view: ChatView) -> ChatView:
        """Add what the chat waits for in this process to a view that was read from its rows."""
        waiting = self.waits.of(view.id, view.waiting_for)
        return view if waiting is view.waiting_for else replace(view, waiting_for=waiting)

    async def create(self, new_chat: NewChat) -> ChatView:
        """Insert a new chat; with a prompt it is queued for its first turn.

        Raises:
            DiskLow: If the disk has room only for what runs.
        """
        self.store.check_new_work()
        view = await self.store.write(lambda session: self._create(session, new_chat))
        self.hub.publish("created", view.id, self.status_of(view))
        return view

    async def default_chat(self, token_name: str, owner: str) -> ChatView:
        """Return the chat for callers that name none; create it at their first call."""

        async def find(session: AsyncSession) -> tuple[ChatView, bool]:
            found = await chats.of_token(session, token_name)
            if found is not None:
                return await chats.view(session, found.id), False
            title = f"Tools of {token_name.removesuffix(f' {owner}')}"
            new_chat = NewChat(title=title, token_name=token_name, owner=owner)
            return await self._create(session, new_chat), True

        # Find and create are one transaction: two first calls at once must share a chat.
        view, is_new = await self.store.write(find)
        if is_new:
            self.hub.publish("created", view.id, self.status_of(view))
        return view

    async def send(
        self, chat_id: str, text: str, *, interrupt: bool = False, after_step: bool = False
    ) -> Transition:
        """Deliver a message to a chat, now or when its turn ends.

        With ``interrupt`` a turn that runs is interrupted, and the message begins the next one.
        With ``after_step`` a turn that runs takes it before its next request to the model.
        """
        if not text.strip():
            raise BadChatRequest("message is required")
        event = StateEvent.SEND_INTERRUPT if interrupt else StateEvent.SEND
        message = Message("user", (Text(text),))
        return await self.move(chat_id, event, message=message, after_step=after_step)

    async def move(
        self,
        chat_id: str,
        event: StateEvent,
        *,
        message: Message | None = None,
        after_step: bool = False,
        before: Callable[[AsyncSession, ChatRow], Any] | None = None,
        generation: int = 0,
    ) -> Transition:
        """Apply ``event`` to a chat; ``before`` is awaited in the same transaction.

        A turn names the ``generation`` under which it drives the chat.

        Raises:
            UnknownRow: If there is no such chat.
            StaleDriver: If the chat is driven under another generation.
            IllegalMove: If the chat's state forbids it.
            MessageQueueFull: If too many messages wait.
        """

        async def work(session: AsyncSession) -> tuple[Transition, ChatView]:
            chat = await chats.locked(session, chat_id, generation)
            if before is not None:
                await before(session, chat)
            transition = await transitions.apply(
                session,
                chat,
                event,
                self.now(),
                message=message,
                queue_limit=self.settings.queue_limit,
                after_step=after_step,
            )
            return transition, await chats.view(session, chat_id)

        transition, view = await self.store.write(work)
        self.hub.publish("status", chat_id, self.status_of(view))
        if message is not None:
            self.hub.publish("message", chat_id, {"version": view.version})
        return transition

    async def change(
        self, chat_id: str, change: Callable[[ChatRow], None], *, fenced: bool = False
    ) -> ChatView:
        """Change fields of a chat and publish the change; ``fenced`` is a change by its turn.

        Raises:
            UnknownRow: If there is no such chat.
            StaleDriver: If ``fenced``, and the chat is not driven here.
        """

        async def work(session: AsyncSession) -> ChatView:
            generation = self.generation_of(chat_id) if fenced else 0
            chat = await chats.locked(session, chat_id, generation)
            change(chat)
            transitions.bump_version(chat, self.now())
            return await chats.view(session, chat_id)

        view = await self.store.write(work)
        self.hub.publish("status", chat_id, self.status_of(view))
        return view

    async def person_waits(self, chat_id: str) -> HumanControlWaits:
        """Return a chat's waits for people, for a turn that begins or continues here.

        They know what was reported in any process.
        """
        waits = self.waits.for_person(chat_id)
        waits.restore(await self.store.read_short(lambda s: reported_person(s, chat_id)))
        return waits

    async def publish_refused(self, desktop_id: str, refused: Json) -> None:
        """Publish an address that a desktop may not reach to the chats that work on it."""
        for row in await self.store.read(chats.with_desktop):
            if row.desktop_id == desktop_id:
                self.hub.publish("egress", row.id, refused)

    async def set_recording_status(self, chat_id: str, status: str) -> None:
        """Set the status of the current turn's recording; keep what is known of earlier parts.

        Raises:
            StaleDriver: If the turn is not driven here any more.
        """

        async def work(session: AsyncSession) -> ChatView:
            chat = await chats.locked(session, chat_id, self.generation_of(chat_id))
            turn = await turns.current(session, chat)
            if turn is not None:
                # A new dictionary: SQLAlchemy does not notice changes within a JSON value.
                turn.recording = {**turn.recording, "status": status}
            transitions.bump_version(chat, self.now())
            await session.flush()
            return await chats.view(session, chat_id)

        self.hub.publish("status", chat_id, self.status_of(await self.store.write(work)))

    def status_of(self, view: ChatView) -> Json:
        """Return the data of an event ``status`` or ``created``."""
        shown = self.shown(view).to_json()
        return {key: shown[key] for key in _STATUS_FIELDS}

    async def _publish_wait(self, chat_id: str, kind: WaitKind) -> None:
        # Without patience, or a fault of reading would begin a wait within a wait. A client that
        # gets no event finds the wait at its next request.
        with patience(None), contextlib.suppress(StoreError):
            if self.plane and kind == "human_in_control":
                since = self.waits.since(chat_id, kind)
                await self.change(
                    chat_id, lambda row: setattr(row, "person_since", since), fenced=True
                )
                return
            self.hub.publish("status", chat_id, self.status_of(await self.view(chat_id)))

    async def _create(self, session: AsyncSession, new_chat: NewChat) -> ChatView:
        chat_id = str(uuid.uuid4())
        now = self.now()
        parent = await chats.get(session, new_chat.parent_id) if new_chat.parent_id else None
        chat = ChatRow(
            id=chat_id,
            parent_id=new_chat.parent_id,
            root_id=parent.root_id if parent else chat_id,
            title=chat_title(new_chat.title, new_chat.prompt),
            mode=new_chat.mode,
            model=new_chat.model,
            state=ChatState.WAITING.value,
            archived=False,
            requested_desktop=new_chat.requested_desktop,
            desktop_id=new_chat.desktop_id,
            token_name=new_chat.token_name,
            owner=parent.owner if parent else new_chat.owner,
            budget=new_chat.budget or {},
            egress=new_chat.egress,
            without_execute=new_chat.without_execute or bool(parent and parent.without_execute),
            approval=new_chat.restrictions.approval,
            domains=list(new_chat.restrictions.domains) or None,
            look_only=new_chat.restrictions.look_only,
            effort=new_chat.effort,
            turn=0,
            version=0,
            created_at=now,
            updated_at=now,
        )
        session.add(chat)
        # Flushed before the message and the turn, whose foreign keys refer to the chat.
        await session.flush()
        await _insert_start(session, chat, new_chat.start)
        if new_chat.prompt is not None:
            message = Message("user", (Text(new_chat.prompt),))
            await messages.append(session, chat_id, message, now)
            await turns.begin(session, chat, now)
            chat.state = ChatState.QUEUED.value
            await session.flush()
        return await chats.view(session, chat_id)


async def _insert_start(session: AsyncSession, chat: ChatRow, start: ChatStart) -> None:
    above = None if chat.parent_id is None else await session.get(ChatStartRow, chat.parent_id)
    workdir = posixpath.join("" if above is None else above.workdir, start.workdir)
    if start == ChatStart() and not workdir:
        return
    files = [file.to_json() for file in start.files]
    row = ChatStartRow(chat_id=chat.id, workdir=workdir, files=files, created_at=chat.created_at)
    row.template, row.profile = start.template, start.profile
    row.timeout_seconds, row.record = start.timeout_seconds, start.record
    session.add(row)
    await session.flush()


_STATUS_FIELDS = (
    "title",
    "state",
    "archived",
    "mode",
    "parent_id",
    "desktop_id",
    "step_count",
    "queue_length",
    "report",
    "outcome",
    "last_error",
    "requires_action",
    "waiting_for",
    "status_message",
    "recording_status",
    "recording_file_ids",
    "thumbnail_file_id",
    "updated_at",
    "version",
)
