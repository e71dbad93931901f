"""The book of all chats: what is written down, and told to those who listen."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.agents.desktops.ports import ChatSettings, Now
from deskhand.tools.conversation.conversation import Message, Text
from deskhand.tools.conversation.errors import BadChatRequest
from deskhand.tools.conversation.states import ChatState, StateEvent, Transition
from deskhand.tools.conversation.titles import chat_title
from deskhand.tools.conversation.views import ChatView
from deskhand.tools.store import chats, messages, turns
from deskhand.tools.store.database import Store
from deskhand.tools.store.schema import ChatRow

from . import transitions as moves
from .events import EventHub

Json = dict[str, Any]


@dataclass(frozen=True)
class NewChat:
    """What a chat is to be."""

    prompt: str | None = None
    title: str | None = None
    mode: str = "general"
    model: str | None = None
    parent_id: str | None = None
    desktop_wish: str | None = None
    desktop_id: str | None = None
    token_name: str | None = None
    budget: Json | None = None


class ChatRepository:
    """Reads and changes chats; every change is published after it was written."""

    def __init__(
        self,
        store: Store,
        hub: EventHub,
        settings: ChatSettings,
        now: Now,
        hide: Callable[[str], str] = str,
    ) -> None:
        self.store = store
        self.hub = hub
        self.settings = settings
        self.now = now
        self.hide = hide
        """Masks secrets in what is written of calls and their results."""

    async def view(self, chat_id: str) -> ChatView:
        """Return a chat. Raises ``UnknownRow`` when there is none."""
        return await self.store.read(lambda session: chats.view(session, chat_id))

    async def create(self, wanted: NewChat) -> ChatView:
        """Write a new chat; with a prompt it is queued for its first turn."""
        view = await self.store.write(lambda session: self._create(session, wanted))
        self.hub.publish("created", view.id, _status(view))
        return view

    async def default_chat(self, token_name: str) -> ChatView:
        """Return the chat of callers that name none, made at the first time."""

        async def find(session: AsyncSession) -> tuple[ChatView, bool]:
            found = await chats.of_token(session, token_name)
            if found is not None:
                return await chats.view(session, found.id), False
            wanted = NewChat(title=f"Tools of {token_name}", token_name=token_name)
            return await self._create(session, wanted), True

        view, is_new = await self.store.write(find)
        if is_new:
            self.hub.publish("created", view.id, _status(view))
        return view

    async def send(self, chat_id: str, text: str, *, interrupt: bool = False) -> Transition:
        """Give a chat a message, now or when its turn ends."""
        if not text.strip():
            raise BadChatRequest("message is required")
        event = StateEvent.SEND_INTERRUPT if interrupt else StateEvent.SEND
        return await self.move(chat_id, event, message=Message("user", (Text(text),)))

    async def move(
        self,
        chat_id: str,
        event: StateEvent,
        *,
        message: Message | None = None,
        before: Callable[[AsyncSession, ChatRow], Any] | None = None,
    ) -> Transition:
        """Let ``event`` happen; ``before`` is awaited in the same transaction.

        Raises:
            UnknownRow: If there is no such chat.
            IllegalMove: If its state forbids it.
            QueueFull: If too many messages wait.
        """

        async def work(session: AsyncSession) -> tuple[Transition, ChatView]:
            chat = await chats.get(session, chat_id)
            if before is not None:
                await before(session, chat)
            made = await moves.apply(
                session,
                chat,
                event,
                self.now(),
                message=message,
                queue_limit=self.settings.queue_limit,
            )
            return made, await chats.view(session, chat_id)

        made, view = await self.store.write(work)
        self.hub.publish("status", chat_id, _status(view))
        if message is not None:
            self.hub.publish("message", chat_id, {"version": view.version})
        return made

    async def change(self, chat_id: str, change: Callable[[ChatRow], None]) -> ChatView:
        """Change fields of a chat and tell of it."""

        async def work(session: AsyncSession) -> ChatView:
            chat = await chats.get(session, chat_id)
            change(chat)
            moves.bump_version(chat, self.now())
            return await chats.view(session, chat_id)

        view = await self.store.write(work)
        self.hub.publish("status", chat_id, _status(view))
        return view

    async def note_recording(self, chat_id: str, status: str) -> None:
        """Write down how the recording of the current turn stands; earlier parts are kept."""

        async def work(session: AsyncSession) -> ChatView:
            chat = await chats.get(session, chat_id)
            turn = await turns.current(session, chat)
            if turn is not None:
                turn.recording = {**turn.recording, "status": status}
            moves.bump_version(chat, self.now())
            await session.flush()
            return await chats.view(session, chat_id)

        self.hub.publish("status", chat_id, _status(await self.store.write(work)))

    async def _create(self, session: AsyncSession, wanted: NewChat) -> ChatView:
        chat_id = str(uuid.uuid4())
        now = self.now()
        parent = await chats.get(session, wanted.parent_id) if wanted.parent_id else None
        chat = ChatRow(
            id=chat_id,
            parent_id=wanted.parent_id,
            root_id=parent.root_id if parent else chat_id,
            title=chat_title(wanted.title, wanted.prompt),
            mode=wanted.mode,
            model=wanted.model,
            state=ChatState.WAITING.value,
            archived=False,
            desktop_wish=wanted.desktop_wish,
            desktop_id=wanted.desktop_id,
            token_name=wanted.token_name,
            budget=wanted.budget or {},
            turn=0,
            version=0,
            created_at=now,
            updated_at=now,
        )
        session.add(chat)
        await session.flush()
        if wanted.prompt is not None:
            message = Message("user", (Text(wanted.prompt),))
            await messages.append(session, chat_id, message, now)
            await turns.begin(session, chat, now)
            chat.state = ChatState.QUEUED.value
            await session.flush()
        return await chats.view(session, chat_id)


def _status(view: ChatView) -> Json:
    shown = view.to_json()
    return {key: shown[key] for key in _TOLD}


_TOLD = (
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
    "recording_status",
    "recording_file_ids",
    "thumbnail_file_id",
    "updated_at",
    "version",
)
