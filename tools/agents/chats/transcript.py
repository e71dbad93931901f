"""The conversation of one chat, as the loop reads it from the store and appends to it."""

import json
from dataclasses import asdict, dataclass

from sqlalchemy import Connection
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Session

from deskhand.tools.agents.chat_repository import transitions
from deskhand.tools.agents.chat_repository.joined_writes import JoinedWrites
from deskhand.tools.agents.chat_repository.repository import ChatRepository
from deskhand.tools.agents.checkpoints import rows as checkpoint_rows
from deskhand.tools.agents.checkpoints.checkpoint import Checkpoint, checkpoint_from_json
from deskhand.tools.agents.loop.history import interrupted, open_calls
from deskhand.tools.agents.loop.report import Report
from deskhand.tools.agents.providers.port import Usage
from deskhand.tools.agents.questions import rows as questions
from deskhand.tools.conversation.conversation import (
    Message,
    Text,
    ToolCall,
    ToolResult,
    message_from_json,
    message_to_json,
)
from deskhand.tools.conversation.question import ChatQuestion
from deskhand.tools.conversation.views import StepView
from deskhand.tools.kit.support.call_result import NO_ROOM
from deskhand.tools.kit.support.spec import ToolOutcome
from deskhand.tools.kit.support.untrusted import marked
from deskhand.tools.store import chats, messages, steps, turns
from deskhand.tools.store.rows import planes
from deskhand.tools.store.schema import StepRow

from .prompt_head import head_from_json


@dataclass(frozen=True)
class AskingCall:
    """A call without a result whose question can be continued."""

    call: ToolCall
    step_id: str
    question: ChatQuestion


class StoredTranscript:
    """The history of one chat, for one turn.

    It is read from the store once, and what is appended is kept too. In a turn nothing else appends
    to the history; where something did, the position of the next message shows it, and the history
    is read again.
    """

    def __init__(
        self,
        repository: ChatRepository,
        chat_id: str,
        writes: JoinedWrites | None = None,
        generation: int = 0,
    ) -> None:
        """Take a chat; ``writes`` are those of its turn, with which a reply is committed.

        ``generation`` is the one under which the turn drives the chat, in ``writes`` too.
        """
        self._repository = repository
        self._chat_id = chat_id
        self._generation = generation
        self._writes = writes or JoinedWrites(repository.store)
        self._messages: tuple[Message, ...] | None = None
        self._checkpoint: Checkpoint | None = None
        self._reads_checkpoint = True

    async def messages(self) -> tuple[Message, ...]:
        """Return the messages so far, without the queue."""
        await self._writes.flush()
        if self._messages is None:
            self._messages = await self._repository.store.read(
                lambda s: messages.history(s, self._chat_id)
            )
        return self._messages

    async def append(
        self, message: Message, usage: Usage | None = None, report: Report | None = None
    ) -> None:
        """Append a message, and add the tokens that it used to those of the turn.

        ``report`` becomes the result of the turn, which ends with this message.
        A reply with calls is committed with the begin of the first of them.
        """
        now = self._repository.now()

        def work(connection: Connection) -> tuple[int, int]:
            turn, version = chats.count_change(connection, self._chat_id, now)
            if usage is not None:
                turns.add_usage(connection, self._chat_id, turn, asdict(usage))
            if report is not None:
                result = report.summary, report.outcome, report.source
                turns.set_result(connection, self._chat_id, turn, *result)
            return messages.append_short(connection, self._chat_id, message, now), version

        def appended(stored: tuple[int, int]) -> None:
            position, version = stored
            if usage is not None:
                self._repository.costs.add_usage(usage)
            known = self._messages
            # The stored form, which another process would read: it may differ from what was passed.
            added = messages.as_stored(message)
            self._messages = None if known is None or position != len(known) else (*known, added)
            self._repository.hub.publish("message", self._chat_id, {"version": version})

        if message.role == "assistant" and any(isinstance(b, ToolCall) for b in message.content):
            self._writes.add(work, appended)
        else:
            await self._writes.write(work, appended)

    async def take_messages(self) -> None:
        """Append the messages that people sent for the time after the current step."""

        async def work(session: AsyncSession) -> bool:
            chat = await chats.locked(session, self._chat_id, self._generation)
            taken = await messages.promote_after_step(session, self._chat_id)
            if taken:
                transitions.bump_version(chat, self._repository.now())
            return bool(taken)

        # Most requests find none, and a read does not wait for the writer.
        if not await self._repository.store.read_short(
            lambda s: messages.any_after_step(s, self._chat_id)
        ):
            return
        if await self._repository.store.write(work):
            self._messages = None
            self._repository.hub.publish("message", self._chat_id, {})

    async def checkpoint(self) -> Checkpoint | None:
        """Return the newest checkpoint."""
        if self._reads_checkpoint:
            self._checkpoint = await self._repository.store.read(
                lambda s: checkpoint_rows.newest(s, self._chat_id)
            )
            self._reads_checkpoint = False
        return self._checkpoint

    async def begin_checkpoint(self, reason: str) -> str:
        """Insert the step of a checkpoint; return its id."""

        async def work(session: AsyncSession) -> StepView:
            now = self._repository.now()
            chat = await chats.locked(session, self._chat_id, self._generation)
            transitions.bump_version(chat, now)
            return await checkpoint_rows.begin(session, self._chat_id, reason, now)

        view = await self._repository.store.write(work)
        self._repository.hub.publish("step", self._chat_id, view.to_json())
        return view.id

    async def end_checkpoint(
        self, step_id: str, made: Checkpoint | None, text: str, usage: Usage
    ) -> None:
        """End the step, and store the checkpoint with it; ``None`` if it failed for ``text``."""
        # As another process would read it.
        stored = None if made is None else checkpoint_from_json(made.to_json())

        async def work(session: AsyncSession) -> StepView:
            now = self._repository.now()
            chat = await chats.locked(session, self._chat_id, self._generation)
            transitions.bump_version(chat, now)
            spent = asdict(usage)
            await session.run_sync(
                lambda s: turns.add_usage(s.connection(), chat.id, chat.turn, spent)
            )
            ended = steps.StepEnd(
                "failed" if stored is None else "done",
                result_to_json(ToolResult(step_id, (Text(text),), is_error=stored is None)),
                now,
                text if stored is None else None,
                usage=asdict(usage),
            )
            return await checkpoint_rows.end(session, step_id, ended, stored)

        view = await self._repository.store.write(work)
        self._repository.costs.add_usage(usage)
        if stored is not None:
            self._checkpoint, self._reads_checkpoint = stored, False
        self._repository.hub.publish("step", self._chat_id, view.to_json())

    def publish_text(self, text: str) -> None:
        """Publish the text so far of a reply that the model has not completed."""
        self._repository.hub.publish("text", self._chat_id, {"text": text})

    async def continuing(self) -> tuple[AskingCall, ...]:
        """Return the calls that a restart cut off while they waited for a person."""

        async def work(session: AsyncSession) -> tuple[AskingCall, ...]:
            chat = await chats.get(session, self._chat_id)
            asked = await questions.continuing(session, chat.id, chat.turn)
            left = {c.id: c for c in open_calls(await messages.history(session, chat.id))}
            return tuple(
                AskingCall(left[step.tool_call_id], step.id, asked[step.id])
                for step in await steps.running(session, chat.id)
                if step.id in asked and step.tool_call_id in left
            )

        return await self._repository.store.read(work)

    async def answer_open_calls(self) -> None:
        """Append a result for every call that was cut off: the stored one, or else an error.

        Providers refuse a conversation in which a call has no result.
        """

        async def work(session: AsyncSession) -> bool:
            now = self._repository.now()
            chat = await chats.locked(session, self._chat_id, self._generation)
            # Calls from outside may run at other control planes.
            others = await planes.living(session) if self._repository.plane else ()
            for step in await steps.running(session, self._chat_id, tuple(others)):
                interrupt(step, now)
            left = open_calls(await messages.history(session, self._chat_id))
            head = await messages.head(session, self._chat_id)
            marks = frozenset() if head is None else head_from_json(head).explained_marks
            known = {
                # As the model reads it.
                step.tool_call_id: marked(result_from_json(step.result), step.tool, marks)
                for step in await steps.of_turn(session, chat.id, chat.turn)
                if step.result is not None
            }
            if left:
                results = tuple(known.get(call.id) or interrupted(call) for call in left)
                await messages.append(session, chat.id, Message("user", results), now)
            transitions.bump_version(chat, now)
            return bool(left)

        self._messages = None
        if await self._repository.store.write(work):
            self._repository.hub.publish("message", self._chat_id, {})


def interrupt(step: StepRow, now: float) -> None:
    """End a step whose call was cut off."""
    # Another host may have begun it, with a clock that is ahead.
    step.status, step.ended_at = "interrupted", max(now, step.started_at)
    step.error = "interrupted before it gave a result"


def earlier_step(
    session: Session, chat_id: str, tool_call_id: str
) -> tuple[StepRow | None, tuple[str, ...], bool]:
    """Return the step of a call of this turn, if there is one, and two facts about the chat.

    They are its ancestors, and True if it cannot run programs.
    """
    step, parent, lacks_execute = steps.of_call(session, chat_id, tool_call_id)
    above = () if parent is None else (parent, *chats.above(session, parent))
    return step, tuple(dict.fromkeys(above)), lacks_execute


def stored_outcome(step: StepRow) -> ToolOutcome:
    """Return the outcome that a stored call had for a caller outside of any conversation."""
    if step.result is None:
        return still_running(step.tool_call_id)
    result = result_from_json(step.result)
    text = "".join(block.text for block in result.content if isinstance(block, Text))
    if not result.is_error:
        return ToolOutcome(json.loads(text))
    return ToolOutcome(error=text, no_room=bool(step.details.get(NO_ROOM)))


def still_running(tool_call_id: str) -> ToolOutcome:
    """Return the outcome for a repeated call whose first execution has not ended."""
    return ToolOutcome(error=f"the call {tool_call_id} is still at work")


def result_to_json(result: ToolResult) -> dict[str, object]:
    """Return the JSON form that :func:`result_from_json` reads."""
    block: dict[str, object] = message_to_json(Message("user", (result,)))["content"][0]
    return block


def result_from_json(data: dict[str, object]) -> ToolResult:
    """Return the result that :func:`result_to_json` has written."""
    block = message_from_json({"role": "user", "content": [data]}).content[0]
    if not isinstance(block, ToolResult):
        raise TypeError("a step's result is a tool result")
    return block
