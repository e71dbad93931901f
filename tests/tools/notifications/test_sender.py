"""Notifications of questions that real chats ask, and of rows that a restart left."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy import text

from deskhand.tools.notifications.errors import DeliveryFailed
from deskhand.tools.notifications.notification import Notification
from deskhand.tools.notifications.sender import NotificationSender
from tests.tools.agents.chats.fakes import OpenChats, ScriptedModel, call, open_chats, report


@dataclass
class FakeReceiver:
    """Fails the given number of attempts."""

    failures: int = 0
    hangs: bool = False
    attempts: list[Notification] = field(default_factory=list)
    taken: asyncio.Event = field(default_factory=asyncio.Event)

    async def deliver(self, notification: Notification) -> None:
        self.attempts.append(notification)
        if self.hangs:
            self.taken.set()
            await asyncio.Event().wait()
        if len(self.attempts) <= self.failures:
            raise DeliveryFailed("it answered 500")
        self.taken.set()


class Hurried:
    """A clock on which delays are over at once."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        self.now += 1000.0
        return self.now


@asynccontextmanager
async def sending(p: OpenChats, receiver: FakeReceiver) -> AsyncIterator[NotificationSender]:
    sender = NotificationSender(p.store, receiver, "http://plane", Hurried())
    p.chats.questions.notices = sender
    task = asyncio.create_task(sender.run())
    try:
        yield sender
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def all_gone(p: OpenChats) -> None:
    """Return when no event waits any more."""
    count = text("SELECT count(*) FROM notifications")
    while await p.store.read(lambda s: s.scalar(count)):
        pass


def events(receiver: FakeReceiver) -> list[str]:
    return [one.body["event"] for one in receiver.attempts]


def asking() -> ScriptedModel:
    asks = call("request_human", reason="Please sign in.")
    return ScriptedModel([[asks], [report("Signed in")]])


def test_a_question_is_sent_once_and_retried_until_it_is_taken(tmp_path: Path) -> None:
    async def scenario() -> None:
        receiver = FakeReceiver(failures=2)
        async with open_chats(tmp_path, {"parent": asking()}) as p, sending(p, receiver):
            chat = await p.chats.create(prompt="Go", title="Order")
            await p.until(chat.id, "requires_action")
            await receiver.taken.wait()
            await all_gone(p)
            assert len({one.id for one in receiver.attempts}) == 1
            assert len(receiver.attempts) == 3
            body = receiver.attempts[0].body
            assert body["question"]["question"] == "Please sign in."
            assert body["url"] == f"http://plane/runs/{chat.id}"
            again = FakeReceiver()
            async with sending(p, again):
                await p.chats.answer(chat.id, "Done")
                await p.until(chat.id, "waiting")
                await all_gone(p)
            assert events(again) == ["ended"]

    asyncio.run(scenario())


def test_it_is_given_up_after_five_retries(tmp_path: Path) -> None:
    async def scenario() -> None:
        receiver = FakeReceiver(failures=6)
        async with open_chats(tmp_path, {"parent": asking()}) as p, sending(p, receiver):
            chat = await p.chats.create(prompt="Go")
            await p.until(chat.id, "requires_action")
            await all_gone(p)
            assert len(receiver.attempts) == 6

    asyncio.run(scenario())


def test_a_receiver_that_hangs_does_not_delay_the_turn(tmp_path: Path) -> None:
    async def scenario() -> None:
        receiver = FakeReceiver(hangs=True)
        async with open_chats(tmp_path, {"parent": asking()}) as p, sending(p, receiver):
            chat = await p.chats.create(prompt="Go")
            await receiver.taken.wait()
            await p.chats.answer(chat.id, "Done")
            await p.until(chat.id, "waiting")
            assert (await p.chats.get(chat.id)).report == "Signed in"

    asyncio.run(scenario())


def test_after_a_restart_only_questions_that_are_open_are_sent(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with open_chats(tmp_path, {"parent": asking(), "other": asking()}) as p:
            # No task sends what is inserted here, as after a crash.
            before = NotificationSender(p.store, FakeReceiver(), "", lambda: 1.0)
            p.chats.questions.notices = before
            closed = await p.chats.create(prompt="Go")
            still = await p.chats.create(prompt="Go", model="other")
            for chat in (closed, still):
                await p.until(chat.id, "requires_action")
            await p.chats.answer(closed.id, "Done")
            receiver = FakeReceiver()
            async with sending(p, receiver):
                await receiver.taken.wait()
                await all_gone(p)
            asked = [one for one in receiver.attempts if one.body["event"] == "question"]
            assert [one.chat_id for one in asked] == [still.id]

    asyncio.run(scenario())


def test_the_end_of_a_task_is_sent_and_the_ends_of_its_subagents_are_not(tmp_path: Path) -> None:
    spawn = call("spawn_agent", type="general", prompt="Count", model="child")
    parent = ScriptedModel([[spawn], [call("wait_agent", chat_id="{child}")], [report("Counted")]])
    child = ScriptedModel([[report("3")]])

    async def scenario() -> None:
        receiver = FakeReceiver()
        models = {"parent": parent, "child": child}
        async with open_chats(tmp_path, models) as p, sending(p, receiver):
            chat = await p.chats.create(prompt="Go", title="Order")
            await p.until(chat.id, "waiting")
            await all_gone(p)
            (sent,) = receiver.attempts
            assert (sent.chat_id, sent.body["event"]) == (chat.id, "ended")
            assert (sent.body["outcome"], sent.body["report"]) == ("done", "Counted")

    asyncio.run(scenario())


def test_a_task_that_fails_is_sent_with_its_error(tmp_path: Path) -> None:
    async def scenario() -> None:
        receiver = FakeReceiver()
        broken = ScriptedModel([RuntimeError("no more")])
        async with open_chats(tmp_path, {"parent": broken}) as p, sending(p, receiver):
            chat = await p.chats.create(prompt="Go")
            await p.until(chat.id, "error")
            await all_gone(p)
            assert events(receiver) == ["failed"]
            assert "no more" in receiver.attempts[0].body["error"]

    asyncio.run(scenario())
