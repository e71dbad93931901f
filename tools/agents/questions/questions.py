"""The one port to people: every question is asked, awaited and answered here.

The states of a question are in :mod:`deskhand.tools.conversation.question`. A question and the
state of its chat change in one transaction: a chat is ``requires_action`` while it has an open
question, and leaving that state in any other way than by the answer withdraws the question
(``transitions.apply``).

`Questions.ask` finds the question of its step, or inserts it, and returns it when it is closed.
So a call that a restart cut off is run again and continues with its question. The row is the
truth: the futures of this process only wake the waits for it.

- `answer` commits, then wakes the wait. Without a wait (the turn has not been resumed yet) the row
  is found by the next `ask`.
- Cancelling `ask` leaves the question open if the program ends. If the turn was interrupted, the
  interruption has withdrawn it already.
- Questions of one chat are asked one after the other, also those of calls that run in parallel.
"""

import asyncio
import math
import uuid
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from typing import Any, Protocol
from weakref import WeakValueDictionary

from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.conversation.errors import BadChatRequest, IllegalMove, QuestionClosed
from deskhand.tools.conversation.question import ChatQuestion, QuestionKind, answered, expired
from deskhand.tools.conversation.states import StateEvent
from deskhand.tools.kit.support.spec import ToolContext
from deskhand.tools.store.database import Store
from deskhand.tools.store.errors import UnknownRow
from deskhand.tools.store.schema import ChatRow, TurnRow

from . import rows as rows

Json = dict[str, Any]
Change = Callable[[AsyncSession, ChatRow], Awaitable[None]]


@dataclass(frozen=True)
class NewQuestion:
    """A question to ask; ``seconds`` is the time in which it must be answered."""

    chat_id: str
    step_id: str
    call_id: str
    kind: QuestionKind
    text: str
    seconds: float | None = None
    picture: str | None = None
    call: Json | None = None
    rules: tuple[str, ...] = ()


class ChargedWaits(Protocol):
    """The times for which turns are not charged."""

    def not_charged(self, chat_id: str, seconds: float) -> None:
        """Leave seconds of a chat's turn out of its budget."""


class AskingChats(Protocol):
    """The chats, whose states change with their questions."""

    @property
    def store(self) -> Store:
        """The database."""

    @property
    def now(self) -> Callable[[], float]:
        """Unix time in seconds."""

    @property
    def waits(self) -> ChargedWaits:
        """The waits of the chats, which their budgets leave out."""

    @property
    def generation_of(self) -> Callable[[str], int]:
        """Generation under which a chat is driven here."""

    async def move(
        self,
        chat_id: str,
        event: StateEvent,
        *,
        before: Change | None = None,
        generation: int = 0,
    ) -> object:
        """Apply an event to a chat; ``before`` is awaited in the same transaction."""


class QuestionEvents(Protocol):
    """The audit log."""

    def note(self, actor: str, action: str, subject: str, details: Json | None = None) -> None:
        """Record an event soon."""


class ChatNotices(Protocol):
    """The sender of notifications."""

    async def asked(self, session: AsyncSession, question: ChatQuestion) -> None:
        """Insert the event of a question, in the transaction that asks it."""

    async def ended(self, session: AsyncSession, chat: ChatRow, turn: TurnRow) -> None:
        """Insert the event of the end of a turn, in the transaction that ends it."""

    def wake(self) -> None:
        """Send what was committed just now."""


class WaitingPlaces(Protocol):
    """The places of desktops whose chats wait for a person."""

    @property
    def after_seconds(self) -> float:
        """Time of waiting after which a chat gives its place back."""

    def given_back(self, chat_id: str) -> AbstractAsyncContextManager[None]:
        """Give the place of a chat back while the body runs, then wait for one."""


class Questions:
    """The questions of all chats; those that are asked are reported to ``notices``.

    A chat that waits for long gives its place back by ``places``.
    """

    def __init__(
        self,
        chats: AskingChats,
        events: QuestionEvents | None = None,
        places: WaitingPlaces | None = None,
    ) -> None:
        self._places = places
        self._chats = chats
        self._events = events
        self.notices: ChatNotices | None = None
        self._waits: dict[str, tuple[str, asyncio.Future[ChatQuestion]]] = {}
        """Chat and wait, by the id of the step that asks."""
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def ask(self, wanted: NewQuestion) -> ChatQuestion:
        """Ask a question once for its step; return it when it is closed."""
        async with self._locks.setdefault(wanted.chat_id, asyncio.Lock()):
            # Before the question can be read by anybody who may answer it.
            wait: asyncio.Future[ChatQuestion] = asyncio.get_running_loop().create_future()
            self._waits[wanted.step_id] = wanted.chat_id, wait
            began = self._chats.now()
            try:
                question = await self.of_step(wanted.step_id) or await self._inserted(wanted)
                return await self._closed(question, wait) if question.is_open else question
            finally:
                del self._waits[wanted.step_id]
                self._chats.waits.not_charged(wanted.chat_id, self._chats.now() - began)

    async def ask_person(self, context: ToolContext, text: str) -> str:
        """Ask a person for a tool, without a limit of time; return the answer.

        Raises:
            QuestionClosed: If the question was withdrawn.
        """
        question = await self.ask(
            NewQuestion(
                context.chat_id,
                context.step_id,
                context.tool_call_id,
                "human",
                context.hide(text),
            )
        )
        if question.answer is None:
            raise QuestionClosed(question.id, question.state.value, None, None, question.closed_at)
        return question.answer

    async def of_step(self, step_id: str) -> ChatQuestion | None:
        """Return the question that the call of a step has asked."""
        return await self._chats.store.read(lambda session: rows.of_step(session, step_id))

    async def continuing(self, chat_id: str, turn: int) -> dict[str, ChatQuestion]:
        """Return the questions whose calls can be run again, by the ids of their steps."""
        return await self._chats.store.read(lambda session: rows.continuing(session, chat_id, turn))

    async def always_approved(self, chat_id: str) -> frozenset[str]:
        """Return the rules for which a person has approved all later calls of a chat."""
        return await self._chats.store.read(lambda session: rows.always_approved(session, chat_id))

    async def performing(self, question: ChatQuestion) -> bool:
        """Record that the approved call begins; return False if it began before."""

        async def write(session: AsyncSession) -> bool:
            current = await rows.get(session, question.id)
            if current.performed_at is not None:
                return False
            await rows.save(session, replace(current, performed_at=self._chats.now()))
            return True

        return await self._chats.store.write(write)

    async def answer(
        self, chat_id: str, answer: str, *, by: str = "owner", question: str | None = None
    ) -> ChatQuestion:
        """Answer the open question of a chat, or the one that is named.

        Raises:
            BadChatRequest: If the answer is blank, or does not decide on an approval.
            QuestionClosed: If it was answered before, or is no longer asked.
            IllegalMove: If the chat has asked nothing in its turn.
            UnknownRow: If the chat has no such question.
        """
        if not answer.strip():
            raise BadChatRequest("answer is required")
        found: list[ChatQuestion] = []

        async def write(session: AsyncSession, chat: ChatRow) -> None:
            asked = await rows.newest(session, chat_id, chat.turn)
            if question is not None and (asked is None or asked.id != question):
                asked = await rows.get(session, question)
                if asked.chat_id != chat_id:
                    raise UnknownRow("question", question)
            if asked is None:
                raise IllegalMove(StateEvent.ANSWER.value, chat.state)
            closed = answered(asked, answer, by, self._chats.now())
            await rows.save(session, closed)
            found[:] = [closed]

        await self._chats.move(chat_id, StateEvent.ANSWER, before=write)
        self._wake(found[0])
        self._note(found[0], by, "question.answered")
        return found[0]

    async def _inserted(self, wanted: NewQuestion) -> ChatQuestion:
        questions: list[ChatQuestion] = []

        async def write(session: AsyncSession, chat: ChatRow) -> None:
            now = self._chats.now()
            question = ChatQuestion(
                id=str(uuid.uuid4()),
                chat_id=wanted.chat_id,
                turn=chat.turn,
                step_id=wanted.step_id,
                call_id=wanted.call_id,
                kind=wanted.kind,
                text=wanted.text,
                asked_at=now,
                deadline=None if wanted.seconds is None else now + wanted.seconds,
                picture=wanted.picture,
                call=wanted.call,
                rules=wanted.rules,
            )
            await rows.insert(session, question)
            if self.notices is not None:
                await self.notices.asked(session, question)
            questions[:] = [question]

        await self._chats.move(
            wanted.chat_id,
            StateEvent.REQUIRE_ACTION,
            before=write,
            generation=self._chats.generation_of(wanted.chat_id),
        )
        if self.notices is not None:
            self.notices.wake()
        return questions[0]

    async def _closed(
        self, question: ChatQuestion, wait: asyncio.Future[ChatQuestion]
    ) -> ChatQuestion:
        deadline = math.inf if question.deadline is None else question.deadline
        after = math.inf if self._places is None else self._places.after_seconds
        given = question.asked_at + after
        await self._wait_until(min(deadline, given), wait)
        if wait.done() or self._places is None or deadline <= given:
            return await self._ended(question, wait)
        async with self._places.given_back(question.chat_id):
            await self._wait_until(deadline, wait)
            return await self._ended(question, wait)

    async def _wait_until(self, moment: float, wait: asyncio.Future[ChatQuestion]) -> None:
        left = None if moment == math.inf else max(0.0, moment - self._chats.now())
        # The wait itself is not cancelled: an answer may come in the next moment.
        await asyncio.wait({wait}, timeout=left)

    async def _ended(
        self, question: ChatQuestion, wait: asyncio.Future[ChatQuestion]
    ) -> ChatQuestion:
        return wait.result() if wait.done() else await self._expired(question)

    async def _expired(self, question: ChatQuestion) -> ChatQuestion:
        found: list[ChatQuestion] = []

        async def write(session: AsyncSession, _: ChatRow) -> None:
            current = await rows.get(session, question.id)
            found[:] = [current]
            if not current.is_open:
                # An answer was committed just before: the chat has left its state already.
                raise QuestionClosed(current.id, current.state.value, None, None, None)
            found[:] = [expired(current, self._chats.now())]
            await rows.save(session, found[0])

        try:
            await self._chats.move(
                question.chat_id,
                StateEvent.ANSWER,
                before=write,
                generation=self._chats.generation_of(question.chat_id),
            )
        except QuestionClosed:
            return found[0]
        self._note(found[0], "deskhand", "question.expired")
        return found[0]

    async def follow(self, chat_id: str | None) -> None:
        """Find the answers that another control plane has stored; ``None`` for all chats."""
        for step_id, (asking, _) in tuple(self._waits.items()):
            if chat_id in (None, asking):
                question = await self.of_step(step_id)
                if question is not None and not question.is_open:
                    self._wake(question)

    def _wake(self, question: ChatQuestion) -> None:
        _, wait = self._waits.get(question.step_id, ("", None))
        if wait is not None and not wait.done():
            wait.set_result(question)

    def _note(self, question: ChatQuestion, actor: str, action: str) -> None:
        if self._events is None:
            return
        details: Json = {"question": question.id, "kind": question.kind}
        if question.kind == "approval":
            # The answer to another question may contain anything, also a value of a secret.
            details |= {"answer": question.answer, "rules": list(question.rules)}
        self._events.note(actor, action, question.chat_id, details)
