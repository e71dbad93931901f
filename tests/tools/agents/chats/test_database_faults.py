"""Turns whose writes fail: they wait, and continue where they were."""

import asyncio
import errno
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.agents.desktops.ports import ChatSettings
from deskhand.tools.conversation.conversation import Text
from deskhand.tools.conversation.run_recording import FetchedRecording
from deskhand.tools.conversation.waiting import TEXTS
from deskhand.tools.kit.support.spec import MachineRefused, ToolContext, ToolOutcome, ToolSpec
from deskhand.tools.store.database import FaultTiming
from deskhand.tools.store.errors import StoreUnavailable
from tests.tools.agents.chats.fakes import (
    LIMIT,
    FakeDesktop,
    FakeLostRecordings,
    FakeMachines,
    OpenChats,
    ScriptedModel,
    StuckTool,
    act,
    call,
    open_chats,
    report,
)

pytestmark = pytest.mark.sqlite

Json = dict[str, Any]
SESSION = {"name": "Ada", "seconds": 1.0, "keys": 0, "clicks": 1, "private": False}
SPAWN = "spawn_computer_use_agent"
SHORT = FaultTiming(busy=0.01, first_delay=0.01, longest_delay=0.02, longest_check=0.01)


class Lock:
    """The lock of a database, held by a connection that is not the program's."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "deskhand.db"
        self._held = ExitStack()

    def take(self) -> None:
        self._held.enter_context(_locked(self._path))

    def release(self) -> None:
        self._held.close()


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("BEGIN EXCLUSIVE")
    try:
        yield
    finally:
        connection.execute("ROLLBACK")
        connection.close()


class LockingTool:
    """Has an effect, and another process locks the database meanwhile."""

    spec = ToolSpec("locking", "Lock.", {"type": "object"})

    def __init__(self, lock: Lock) -> None:
        self._lock = lock
        self.calls = 0

    async def call(self, arguments: Json, context: ToolContext) -> ToolOutcome:
        self.calls += 1
        self._lock.take()
        return ToolOutcome({"done": self.calls})


async def _paused(p: OpenChats, chat_id: str) -> Json:
    """Return what a chat waits for, as soon as it does."""
    async with asyncio.timeout(LIMIT):
        with p.chats.events(chat_id) as news:
            while (shown := (await p.chats.get(chat_id)).to_json())["waiting_for"] is None:
                await anext(news)
    waiting: Json = shown["waiting_for"]
    return waiting


def test_a_result_that_cannot_be_written_is_written_later_and_the_call_made_once(
    tmp_path: Path,
) -> None:
    async def scenario() -> None:
        lock = Lock(tmp_path)
        tool = LockingTool(lock)
        parent = ScriptedModel([[call("locking")], [Text("Done.")]])
        async with open_chats(tmp_path, {"parent": parent}, tools=(tool,), timing=SHORT) as p:
            chat = await p.chats.create(prompt="Go")
            waiting = await _paused(p, chat.id)
            assert (waiting["kind"], waiting["text"]) == ("database", "waiting for the database")
            listed = await p.chats.list(parent=None, state=None, limit=9, cursor=None)
            assert listed.to_json()["chats"][0]["waiting_for"] == waiting
            lock.release()
            await p.until(chat.id, "waiting", "error")
            done = await p.chats.get(chat.id)
            assert (done.report, done.last_error, done.waiting_for) == ("Done.", None, None)
            assert tool.calls == 1
            assert [step.status for step in await p.chats.steps(chat.id)] == ["done"]
            assert "nterrupted" not in str(parent.prompts[-1].messages)

    asyncio.run(scenario())


def test_the_result_of_a_call_whose_client_has_left_is_written_later(tmp_path: Path) -> None:
    async def scenario() -> None:
        lock = Lock(tmp_path)
        tool = LockingTool(lock)
        async with open_chats(tmp_path, tools=(tool,), timing=SHORT) as p:
            caller = await p.caller()
            calling = asyncio.create_task(p.chats.call_tool("locking", {}, caller, "one"))
            await _paused(p, caller)
            # As the route does when the client hangs up, and the server when it ends.
            for _ in range(2):
                calling.cancel()
                await asyncio.sleep(0)
            lock.release()
            await asyncio.wait({calling})
            assert calling.cancelled()
            assert [step.status for step in await p.chats.steps(caller)] == ["done"]
            assert await p.tool("locking", caller, "one") == {"done": 1}

    asyncio.run(scenario())


def test_a_call_whose_client_leaves_before_it_began_is_not_left_running(tmp_path: Path) -> None:
    async def scenario() -> None:
        tool = StuckTool()
        leaving: list[asyncio.Task[ToolOutcome]] = []

        def now() -> float:
            # The transaction that begins the step reads the clock.
            if leaving:
                leaving.pop().cancel()
            return 1_800_000_000.0

        async with open_chats(tmp_path, tools=(tool,), now=now) as p:
            caller = await p.caller()
            calling = asyncio.create_task(p.chats.call_tool("stuck", {}, caller, "one"))
            leaving.append(calling)
            await asyncio.wait({calling})
            assert calling.cancelled()
            assert [step.status for step in await p.chats.steps(caller)] == ["interrupted"]
            assert tool.calls == 0

    asyncio.run(scenario())


def test_events_report_the_begin_and_the_end_of_a_wait(tmp_path: Path) -> None:
    async def scenario() -> None:
        lock = Lock(tmp_path)
        parent = ScriptedModel([[call("locking")], [Text("Done.")]])
        tools = (LockingTool(lock),)
        async with open_chats(tmp_path, {"parent": parent}, tools=tools, timing=SHORT) as p:
            with p.chats.events(None) as news:
                await p.chats.create(prompt="Go")
                kinds: list[str | None] = []
                async with asyncio.timeout(LIMIT):
                    async for event in news:
                        if event.kind != "status":
                            continue
                        found = event.data["waiting_for"]
                        kinds.append(found and found["kind"])
                        if found:
                            lock.release()
                        if event.data["state"] == "waiting":
                            break
            assert kinds.count("database") >= 1
            assert kinds[-1] is None

    asyncio.run(scenario())


def test_a_turn_whose_end_cannot_be_written_ends_later_with_its_recording(tmp_path: Path) -> None:
    async def scenario() -> None:
        lock = Lock(tmp_path)
        desktop = FakeDesktop()

        async def locked_meanwhile() -> None:
            lock.take()

        desktop.before["recording/stop"] = locked_meanwhile
        machines = FakeMachines({"desktop-1": desktop})
        child = ScriptedModel([[act("screenshot")], [report("Seen")]])
        async with open_chats(tmp_path, {"child": child}, machines=machines, timing=SHORT) as p:
            caller = await p.caller()
            chat_id = (await p.tool(SPAWN, caller, prompt="Go"))["chat_id"]
            assert (await _paused(p, chat_id))["kind"] == "database"
            early = await p.chats._children.wait(caller, chat_id, 0.01)
            assert early["waiting_for"]["text"] == TEXTS["database"]
            lock.release()
            result = await p.tool("wait_agent", caller, chat_id=chat_id)
            assert (result["report"], result["recording_status"]) == ("Seen", "stored")
            assert len(desktop.posted("recording/stop")) == 1

    asyncio.run(scenario())


def test_a_recording_for_which_the_disk_stays_full_is_stored_later(tmp_path: Path) -> None:
    async def scenario() -> None:
        desktop, lost = FakeDesktop(), FakeLostRecordings()
        desktop.refuses["video?part=1"] = OSError(errno.ENOSPC, "No space left on device")
        machines = FakeMachines({"desktop-1": desktop})
        child = ScriptedModel([[act("screenshot")], [report("Seen")]])
        settings = ChatSettings(recording_seconds=0.1)
        async with open_chats(
            tmp_path,
            {"child": child},
            machines=machines,
            settings=settings,
            timing=SHORT,
            lost_recordings=lost,
        ) as p:
            caller = await p.caller()
            chat_id = (await p.tool(SPAWN, caller, prompt="Go"))["chat_id"]
            result = await p.tool("wait_agent", caller, chat_id=chat_id)
            assert (result["report"], result["recording_status"]) == ("Seen", "none")
            assert result["recording_warning"] == (
                "recording not stored: it took longer than 0 s; "
                "storing it is tried again, at the latest when its desktop has ended"
            )
            assert lost.left == [(chat_id, "desktop-1")]
            assert not [method for method, _, _ in desktop.requests if method == "DELETE"]
            (take,), source = lost.takes, lost.source
            assert take is not None
            assert source is not None
            assert (take.end_reason, take.metadata["take"]) == ("completed", 1)
            assert await source.fetch(chat_id, "desktop-1", take) == FetchedRecording()
            desktop.refuses.clear()
            # The time for one fetch, 0.1 s, may pass on a busy machine.
            async with asyncio.timeout(30):
                while (found := await source.fetch(chat_id, "desktop-1", take)).session is None:
                    pass
            assert (len(found.session.parts), found.final, found.whole) == (1, True, True)
            await source.clear(chat_id, "desktop-1", take)
            assert [method for method, _, _ in desktop.requests if method == "DELETE"]
            gone = await source.fetch(chat_id, "desktop-2", take)
            assert gone == FetchedRecording()
            desktop.refuses["video?part=1"] = MachineRefused(404, "Recording not found.")
            async with asyncio.timeout(30):
                while not (await source.fetch(chat_id, "desktop-1", take)).final:
                    pass
            # No recorder was stopped for this: it may record the next turn.
            assert len(desktop.posted("recording/stop")) == 1

    asyncio.run(scenario())


def test_requests_fail_at_once_while_a_turn_waits(tmp_path: Path) -> None:
    async def scenario() -> None:
        lock = Lock(tmp_path)
        parent = ScriptedModel([[call("locking")], [Text("Done.")]])
        tools = (LockingTool(lock),)
        async with open_chats(tmp_path, {"parent": parent}, tools=tools, timing=SHORT) as p:
            chat = await p.chats.create(prompt="Go")
            await _paused(p, chat.id)
            for request in (p.chats.create(prompt="More"), p.chats.interrupt(chat.id)):
                with pytest.raises(StoreUnavailable):
                    await request
            lock.release()
            await p.until(chat.id, "waiting")

    asyncio.run(scenario())


def test_a_pause_is_not_charged_to_the_budget(tmp_path: Path) -> None:
    async def scenario() -> None:
        lock = Lock(tmp_path)
        passed = [0.0]
        child = ScriptedModel([[call("locking")], [report("In time")]])
        async with open_chats(
            tmp_path,
            {"child": child},
            tools=(LockingTool(lock),),
            timing=SHORT,
            monotonic=lambda: passed[0],
        ) as p:
            caller = await p.caller()
            spawned = await p.tool(SPAWN, caller, prompt="Go", budget={"minutes": 1})
            await _paused(p, spawned["chat_id"])
            passed[0] = 3600.0
            lock.release()
            result = await p.tool("wait_agent", caller, chat_id=spawned["chat_id"])
            assert result["outcome"] == "done", result

    asyncio.run(scenario())


def test_closing_during_a_fault_leaves_the_turn_to_the_next_start(tmp_path: Path) -> None:
    async def scenario() -> None:
        lock = Lock(tmp_path)
        tool = LockingTool(lock)
        parent = ScriptedModel([[call("locking")]])
        async with open_chats(tmp_path, {"parent": parent}, tools=(tool,), timing=SHORT) as p:
            chat = await p.chats.create(prompt="Go")
            await _paused(p, chat.id)
        lock.release()
        successor = ScriptedModel([[Text("Went on")]])
        async with open_chats(tmp_path, {"parent": successor}, tools=(tool,), timing=SHORT) as p:
            await p.until(chat.id, "waiting")
            assert (await p.chats.get(chat.id)).report == "Went on"
            assert tool.calls == 1
            assert "nterrupted" in str(successor.prompts[0].messages[-1])

    asyncio.run(scenario())


def test_a_question_is_reported_in_the_same_field(tmp_path: Path) -> None:
    async def scenario() -> None:
        parent = ScriptedModel([[call("request_human", reason="Which one?")], [Text("Thanks")]])
        async with open_chats(tmp_path, {"parent": parent}) as p:
            chat = await p.chats.create(prompt="Go")
            waiting = await _paused(p, chat.id)
            asked = (await p.chats.get(chat.id)).requires_action or {}
            assert waiting == {
                "kind": "question",
                "text": "waiting for an answer",
                "since": asked["asked_at"],
            }
            await p.chats.answer(chat.id, "The left one")
            await p.until(chat.id, "waiting")
            assert (await p.chats.get(chat.id)).waiting_for is None

    asyncio.run(scenario())


def test_the_supervisor_resumes_a_chat_without_a_task_and_counts_it(tmp_path: Path) -> None:
    async def strand(session: AsyncSession) -> None:
        await session.execute(text("UPDATE chats SET state = 'running', updated_at = 0"))
        await session.execute(text("UPDATE turns SET status = 'running', outcome = NULL"))

    async def scenario() -> None:
        parent = ScriptedModel([[Text("First")], [Text("Again")]])
        async with open_chats(tmp_path, {"parent": parent}) as p:
            chat = await p.chats.create(prompt="Go")
            await p.until(chat.id, "waiting")
            assert await p.chats.supervisor.resume_stranded() == ()
            await p.store.write(strand)
            assert await p.chats.supervisor.resume_stranded() == (chat.id,)
            # The task that was just started counts.
            assert await p.chats.supervisor.resume_stranded() == ()
            await p.until(chat.id, "waiting")
            assert (await p.chats.get(chat.id)).report == "Again"
            assert p.chats.supervisor.resumed == 1

    asyncio.run(scenario())


def test_a_person_in_control_is_reported_in_the_same_field(tmp_path: Path) -> None:
    async def scenario() -> None:
        desktop = FakeDesktop()
        released = asyncio.Event()
        requests: list[str] = []

        async def occupied() -> None:
            if not released.is_set():
                raise MachineRefused(409, "Ada is in control.")

        async def lease() -> None:
            # Requests: for a session that was missed, for the state, and for its next change.
            requests.append("lease")
            if len(requests) == 3:
                await released.wait()
            kind = "free" if released.is_set() else "person"
            last = SESSION if released.is_set() else None
            desktop.lease = {"holder": {"kind": kind}, "revision": 1, "last": last}

        desktop.before = {"action": occupied}
        machines = FakeMachines({"desktop-1": desktop})
        child = ScriptedModel([[act("left_click", coordinate=[1, 2])], [report("Done")]])
        async with open_chats(tmp_path, {"child": child}, machines=machines) as p:
            desktop.before["lease"] = lease
            caller = await p.caller()
            chat_id = (await p.tool(SPAWN, caller, prompt="Go"))["chat_id"]
            assert (await _paused(p, chat_id))["kind"] == "human_in_control"
            released.set()
            await p.until(chat_id, "waiting")
            assert (await p.chats.get(chat_id)).waiting_for is None

    asyncio.run(scenario())
