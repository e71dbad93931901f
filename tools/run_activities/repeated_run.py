"""Runs that begin again, with the same task or a changed one."""

from collections.abc import Callable
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.agents.chat_repository.repository import ChatRepository, NewChat
from deskhand.tools.agents.workdirs.rows import start_of
from deskhand.tools.conversation.chat_start import ChatStart
from deskhand.tools.conversation.conversation import Message, Text
from deskhand.tools.conversation.errors import BadChatRequest
from deskhand.tools.conversation.restrictions import ChatRestrictions
from deskhand.tools.conversation.views import ChatView
from deskhand.tools.store import chats, messages

OWN_DESKTOP = "own"
NO_TASK = "the chat was not started with a task"


class RepeatedRuns:
    """Creates chats like others; ``start`` starts the turn of a chat."""

    def __init__(
        self,
        repository: ChatRepository,
        resolve: Callable[[str | None, str], object],
        start: Callable[[str], object],
    ) -> None:
        """Take ``resolve``, which raises if no model serves a name and a mode."""
        self._repository = repository
        self._resolve = resolve
        self._start = start

    async def run_again(self, chat_id: str, prompt: str | None, owner: str) -> ChatView:
        """Create and start a chat with the task, model, budget and restrictions of another.

        ``prompt`` replaces the task. Files that the other chat began with are not copied.

        Raises:
            UnknownRow: If there is no such chat.
            BadChatRequest: If it was not started with a task.
            NoModel: If its model is not available any more.
        """
        new_chat = await self._repository.store.read(lambda s: _like(s, chat_id, prompt, owner))
        self._resolve(new_chat.model, new_chat.mode)
        view = await self._repository.create(new_chat)
        self._start(view.id)
        return view


async def _like(session: AsyncSession, chat_id: str, prompt: str | None, owner: str) -> NewChat:
    row = await chats.get(session, chat_id)
    history = await messages.history(session, chat_id)
    task = prompt if prompt is not None else _task(history)
    if not task.strip():
        raise BadChatRequest(NO_TASK)
    budget: dict[str, Any] = dict(row.budget)
    start = await start_of(session, chat_id)
    return NewChat(
        prompt=task.strip(),
        title=row.title if prompt is None else None,
        mode=row.mode,
        model=row.model,
        # The desktop of the other chat may have ended.
        requested_desktop=OWN_DESKTOP if row.mode == "computer_use" else None,
        budget=budget,
        owner=owner,
        egress=row.egress,
        without_execute=row.without_execute,
        restrictions=ChatRestrictions(
            row.approval,  # type: ignore[arg-type]
            tuple(row.domains or ()),
            row.look_only,
        ),
        effort=row.effort,
        start=_start_like(start),
    )


def _start_like(start: ChatStart | None) -> ChatStart:
    if start is None:
        return ChatStart()
    return ChatStart(
        template=start.template, timeout_seconds=start.timeout_seconds, record=start.record
    )


def _task(history: tuple[Message, ...]) -> str:
    if not history or history[0].role != "user":
        return ""
    return "\n".join(block.text for block in history[0].content if isinstance(block, Text))
