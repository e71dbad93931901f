"""Questions of chats to people, and the answers with which their turns continue."""

import asyncio

from deskhand.tools.conversation.errors import BadChatRequest
from deskhand.tools.conversation.states import ChatState, StateEvent

from .repository import ChatRepository


class Questions:
    """The open questions, in memory only.

    A restart ends them: the call of the tool is answered with an error, and the model asks again.
    """

    def __init__(self, repository: ChatRepository) -> None:
        self._repository = repository
        self._open: dict[str, asyncio.Future[str]] = {}

    async def ask(self, chat_id: str) -> str:
        """Move a chat to ``requires_action`` until a person answers; return the answer.

        Cancelling withdraws the question.
        """
        answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._open[chat_id] = answer
        try:
            await self._repository.move(chat_id, StateEvent.REQUIRE_ACTION)
            return await answer
        finally:
            del self._open[chat_id]
            # Still asking means that the wait was cancelled: the turn must not stay stopped.
            if (await self._repository.view(chat_id)).state == ChatState.REQUIRES_ACTION:
                await self._repository.move(chat_id, StateEvent.ANSWER)

    async def answer(self, chat_id: str, text: str) -> None:
        """Continue the turn of a chat with a person's answer.

        Raises:
            BadChatRequest: If the answer is blank.
            Conflict: If the chat has no question.
        """
        if not text.strip():
            raise BadChatRequest("answer is required")
        await self._repository.move(chat_id, StateEvent.ANSWER)
        waiting = self._open.get(chat_id)
        if waiting is not None and not waiting.done():
            waiting.set_result(text.strip())
