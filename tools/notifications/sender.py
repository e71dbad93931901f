"""The one sender of notifications: a task of its own that no turn waits for.

An event is a row, inserted in the transaction of what it reports. So an event is neither lost by a
restart, nor sent for what was rolled back. The sender takes the rows one after the other, by the
time of their next attempt. After a success the row is removed; after the last retry it is given
up, with a line in the log. An event of a question is sent only while the question is open.

A crash between the answer of the receiver and the commit that follows repeats an event, with the
same id.
"""

import asyncio
import logging
import uuid
from collections.abc import Callable
from typing import Protocol

from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.conversation.question import ChatQuestion
from deskhand.tools.store import chats
from deskhand.tools.store.database import Store
from deskhand.tools.store.errors import StoreError
from deskhand.tools.store.schema import ChatRow, TurnRow

from . import rows as rows
from .errors import DeliveryFailed
from .notification import Notification, TurnEnding, end_body, question_body, retry_after

log = logging.getLogger(__name__)

DATABASE_SECONDS = 5.0
"""Pause after a fault of the database."""


class Receiver(Protocol):
    """The webhook."""

    async def deliver(self, notification: Notification) -> None:
        """Send an event once; raises ``DeliveryFailed``."""


class NotificationSender:
    """Sends events to a receiver; ``base_url`` is the address of the pages for people."""

    def __init__(
        self, store: Store, receiver: Receiver, base_url: str, now: Callable[[], float]
    ) -> None:
        self._store = store
        self._receiver = receiver
        self._base_url = base_url
        self._now = now
        self._woken = asyncio.Event()

    async def asked(self, session: AsyncSession, question: ChatQuestion) -> None:
        """Insert the event of a question, in the transaction that asks it."""
        title = (await chats.get(session, question.chat_id)).title
        body = question_body(question, title, self._base_url)
        now = self._now()
        event = Notification(str(uuid.uuid4()), question.chat_id, question.id, body, now, 0, now)
        await rows.insert(session, event)

    async def ended(self, session: AsyncSession, chat: ChatRow, turn: TurnRow) -> None:
        """Insert the event of a turn's end, in its transaction.

        A subagent's turn is reported to its parent and not to people.
        """
        if chat.parent_id is not None and (await chats.get(session, chat.parent_id)).turn:
            return
        failed = turn.status == "failed"
        now = self._now()
        ending = TurnEnding(
            *(chat.id, chat.title, "error" if failed else "waiting", turn.ended_at or now),
            *(turn.outcome, turn.report, turn.error if failed else None),
        )
        body = end_body(ending, self._base_url)
        await rows.insert(
            session, Notification(str(uuid.uuid4()), chat.id, None, body, now, 0, now)
        )

    def wake(self) -> None:
        """Send what was committed just now."""
        self._woken.set()

    async def run(self) -> None:
        """Send what waits; never return."""
        while True:
            self._woken.clear()
            try:
                pause = await self._next()
            except StoreError as error:
                log.warning("notifications wait for the database: %s", error)
                pause = DATABASE_SECONDS
            try:
                async with asyncio.timeout(pause):
                    await self._woken.wait()
            except TimeoutError:
                continue

    async def _next(self) -> float | None:
        """Make the attempts that are due; return the seconds until the next one."""
        while True:
            notification = await self._store.read(rows.first)
            if notification is None:
                await self._store.write(rows.remove_closed)
                return None
            left = notification.next_at - self._now()
            if left > 0:
                return left
            await self._attempt(notification)

    async def _attempt(self, notification: Notification) -> None:
        try:
            await self._receiver.deliver(notification)
        except DeliveryFailed as error:
            delay = retry_after(notification.attempts + 1)
            log.warning("a notification was not taken: %s", error)
            if delay is not None:
                until = self._now() + delay
                await self._store.write(lambda s: rows.postpone(s, notification, until))
                return
            log.error("a notification is given up after %d attempts", notification.attempts + 1)
        await self._store.write(lambda s: rows.remove(s, notification))
