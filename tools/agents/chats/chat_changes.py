"""Changes of chats at rest by people: title, archive, and the context that the model is sent."""

from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.agents.chat_repository.repository import ChatRepository
from deskhand.tools.agents.checkpoints import rows as checkpoint_rows
from deskhand.tools.agents.checkpoints.checkpoint import Checkpoint
from deskhand.tools.agents.driving.port import TurnTasks
from deskhand.tools.conversation.conversation import Text, ToolResult
from deskhand.tools.conversation.errors import BadChatRequest
from deskhand.tools.conversation.states import StateEvent
from deskhand.tools.conversation.titles import chat_title
from deskhand.tools.conversation.views import StepView
from deskhand.tools.store import chats, messages, turns
from deskhand.tools.store.schema import ChatRow
from deskhand.tools.store.steps import StepEnd

from .transcript import result_to_json

CLEARED = "a person's request, without a summary"
CLEARED_TEXT = "The model is not sent what was said before this."


class ChatChanges:
    """Changes chats; each raises ``UnknownRow`` if there is no such chat."""

    def __init__(self, repository: ChatRepository, turns: TurnTasks) -> None:
        self._repository = repository
        self._turns = turns

    async def rename(self, chat_id: str, title: str) -> None:
        """Give a chat another title.

        Raises:
            BadChatRequest: If it is blank.
        """
        if not title.strip():
            raise BadChatRequest("title must not be blank")
        shown = chat_title(title, None)
        await self._repository.change(chat_id, lambda row: setattr(row, "title", shown))

    async def unarchive(self, chat_id: str) -> None:
        """Take a chat back with its children; it can receive messages again.

        Raises:
            Conflict: If the chat is not archived, or its parent still is.
        """
        view = await self._repository.view(chat_id)
        if view.parent_id is not None and (await self._repository.view(view.parent_id)).archived:
            raise BadChatRequest("its parent is archived: unarchive that chat")
        await self._repository.move(chat_id, StateEvent.UNARCHIVE)
        for row in await self._repository.store.read(lambda s: chats.with_descendants(s, chat_id)):
            if row.archived:
                await self._repository.move(row.id, StateEvent.UNARCHIVE)

    async def compact(self, chat_id: str) -> None:
        """Begin a turn that makes a checkpoint of a chat at rest.

        Raises:
            BadChatRequest: If the chat has no messages.
            Conflict: If it is at work or archived.
        """

        async def begin(session: AsyncSession, chat: ChatRow) -> None:
            if not await messages.history(session, chat_id):
                raise BadChatRequest("the chat has no messages")
            await turns.begin_compaction(session, chat, self._repository.now())

        await self._repository.move(chat_id, StateEvent.COMPACT, before=begin)
        self._turns.start(chat_id)

    async def clear(self, chat_id: str) -> None:
        """Leave all messages so far out of the requests to the model; they stay stored.

        Raises:
            Conflict: If the chat is at work, archived, or has queued messages.
        """
        shown: list[StepView] = []

        async def write(session: AsyncSession, chat: ChatRow) -> None:
            shown.clear()
            end = len(await messages.history(session, chat_id))
            before = await checkpoint_rows.newest(session, chat_id)
            if end == 0:
                return
            now = self._repository.now()
            step = await checkpoint_rows.begin(session, chat_id, CLEARED, now)
            result = result_to_json(ToolResult(step.tool_call_id, (Text(CLEARED_TEXT),)))
            tools = None if before is None else before.tools
            made = Checkpoint((), end, end, thinking_from=end, tools=tools)
            ended = StepEnd("done", result, now, None)
            shown.append(await checkpoint_rows.end(session, step.id, ended, made))

        await self._repository.move(chat_id, StateEvent.CLEAR, before=write)
        for view in shown:
            self._repository.hub.publish("step", chat_id, view.to_json())
