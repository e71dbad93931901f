"""Chats that wait for a person, and the answers that let them go on."""

import asyncio

from deskhand.tools.conversation.errors import BadChatRequest
from deskhand.tools.conversation.states import ChatState, StateEvent

from .repository import ChatRepository


class Questions:
    """The questions that are open now. A restart ends them: the model learns it and asks again."""

    def __init__(self, book: ChatRepository) -> None:
        self._book = book
        self._open: dict[str, asyncio.Future[str]] = {}

    async def ask(self, chat_id: str) -> str:
        """Put a chat at work aside until somebody answers; return the answer.

        Cancelling takes the question back.
        """
        answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._open[chat_id] = answer
        try:
            await self._book.move(chat_id, StateEvent.REQUIRE_ACTION)
            return await answer
        finally:
            del self._open[chat_id]
            if (await self._book.view(chat_id)).state == ChatState.REQUIRES_ACTION:
                await self._book.move(chat_id, StateEvent.ANSWER)

    async def answer(self, chat_id: str, text: str) -> None:
        """Let a chat go on.

        Raises:
            BadRequest: If the answer is blank.
            Conflict: If the chat has no question.
        """
        if not text.strip():
            raise BadChatRequest("answer is required")
        await self._book.move(chat_id, StateEvent.ANSWER)
        waiting = self._open.get(chat_id)
        if waiting is not None and not waiting.done():
            waiting.set_result(text.strip())
