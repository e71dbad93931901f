"""The conversation of one chat as the loop reads and writes it, kept in the store."""

from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.agents.loop.history import interrupted, open_calls
from deskhand.tools.agents.providers.port import Usage
from deskhand.tools.conversation.conversation import (
    Message,
    ToolResult,
    message_from_json,
    message_to_json,
)
from deskhand.tools.store import chats, messages, steps, turns

from . import transitions as moves
from .repository import ChatRepository


class StoredTranscript:
    """The history of one chat."""

    def __init__(self, book: ChatRepository, chat_id: str) -> None:
        self._book = book
        self._chat_id = chat_id

    async def messages(self) -> tuple[Message, ...]:
        """Return what was said so far."""
        return await self._book.store.read(lambda s: messages.history(s, self._chat_id))

    async def append(self, message: Message, usage: Usage | None = None) -> None:
        """Add a message, and to the turn what it cost."""

        async def work(session: AsyncSession) -> int:
            chat = await chats.get(session, self._chat_id)
            now = self._book.now()
            await messages.append(session, chat.id, message, now)
            turn = await turns.current(session, chat)
            if usage is not None and turn is not None:
                turn.input_tokens += usage.input_tokens
                turn.output_tokens += usage.output_tokens
                turn.cache_read_tokens += usage.cache_read_tokens
                turn.cache_write_tokens += usage.cache_write_tokens
            moves.bump_version(chat, now)
            return chat.version

        version = await self._book.store.write(work)
        self._book.hub.publish("message", self._chat_id, {"version": version})

    def say(self, text: str) -> None:
        """Tell listeners what the model has said so far of a message that is not whole yet."""
        self._book.hub.publish("text", self._chat_id, {"text": text})

    async def answer_open_calls(self) -> None:
        """Give every call that was cut off a result, its true one where it was written down."""

        async def work(session: AsyncSession) -> bool:
            now = self._book.now()
            for step in await steps.running(session, self._chat_id):
                step.status, step.ended_at = "interrupted", now
                step.error = "interrupted before it gave a result"
            left = open_calls(await messages.history(session, self._chat_id))
            chat = await chats.get(session, self._chat_id)
            known = {
                step.tool_call_id: result_from_json(step.result)
                for step in await steps.of_turn(session, chat.id, chat.turn)
                if step.result is not None
            }
            if left:
                results = tuple(known.get(call.id) or interrupted(call) for call in left)
                await messages.append(session, chat.id, Message("user", results), now)
            moves.bump_version(chat, now)
            return bool(left)

        if await self._book.store.write(work):
            self._book.hub.publish("message", self._chat_id, {})


def result_to_json(result: ToolResult) -> dict[str, object]:
    """Return a form that :func:`result_from_json` reads back."""
    block: dict[str, object] = message_to_json(Message("user", (result,)))["content"][0]
    return block


def result_from_json(data: dict[str, object]) -> ToolResult:
    """Read what :func:`result_to_json` wrote."""
    block = message_from_json({"role": "user", "content": [data]}).content[0]
    if not isinstance(block, ToolResult):
        raise TypeError("a step's result is a tool result")
    return block
