"""Chats on two control planes: either one shows and changes what the other one works on."""

import asyncio
import itertools
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import text

from deskhand.tools.conversation.conversation import Text
from deskhand.tools.kit.people import REQUEST_HUMAN
from deskhand.tools.kit.support.spec import MachineRefused, ToolOutcome
from deskhand.tools.store.errors import StoreUnavailable
from deskhand.tools.store.rows import claims, desktops, planes
from tests.cluster.planes import Plane, played
from tests.postgres_server import PostgresServer
from tests.tools.agents.chats.fakes import (
    EchoTool,
    FakeDesktop,
    Hold,
    ScriptedModel,
    act,
    call,
    report,
)

pytestmark = pytest.mark.cluster

SPAWN = "spawn_computer_use_agent"
CLICK = act("left_click", coordinate=[1, 2])
NONE: dict[str, ScriptedModel] = {}
CUT = text(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    " WHERE application_name = 'deskhand events' AND datname = current_database()"
)


async def _listening(plane: Plane, number: int, besides: frozenset[int] = frozenset()) -> None:
    """Return when so many control planes wait for notices, on connections ``besides`` others."""
    while True:
        # A connection of the pool from before fails; the next one is new.
        with suppress(StoreUnavailable):
            if len(await _connections(plane) - besides) == number:
                return
        await asyncio.sleep(0.1)


async def _connections(plane: Plane) -> frozenset[int]:
    """Return the processes of the server on which control planes wait for notices."""
    query = text(
        "SELECT pid FROM pg_stat_activity JOIN pg_locks USING (pid) WHERE locktype = 'advisory'"
        " AND application_name = 'deskhand events' AND datname = current_database()"
    )
    return frozenset(await plane.store.read(lambda s: s.scalars(query)))


def test_each_shows_the_events_of_the_other(database: str, tmp_path: Path) -> None:
    async def scenario(one: Plane, two: Plane) -> None:
        chat = await one.chats.create(prompt="Say hello")
        await one.until(chat.id, "waiting")
        status = await two.event("status", chat.id)
        while status.data["state"] != "waiting":
            two.heard.clear()
            await two.heard.wait()
            status = await two.event("status", chat.id)
        assert {"created", "status", "message"} <= set(two.kinds(chat.id))
        # Text that a model is writing is not stored, and stays where it is.
        assert "text" in one.kinds(chat.id)
        assert "text" not in two.kinds(chat.id)
        assert status.data == (await one.event("status", chat.id)).data
        created = [event.data for event in two.events if event.kind == "created"]
        assert [data["title"] for data in created] == [chat.title]
        await two.chats.delete(chat.id)
        await one.event("deleted", chat.id)

    model = ScriptedModel([[Text("Hello.")]])
    played(database, tmp_path, ({"parent": model}, NONE), scenario)


def test_steps_are_shown_with_all_that_their_rows_contain(database: str, tmp_path: Path) -> None:
    async def scenario(one: Plane, two: Plane) -> None:
        caller = await one.caller()
        chat_id = (await one.tool(SPAWN, caller, prompt="Click"))["chat_id"]
        # Waited for where it does not run.
        result = await two.tool("wait_agent", caller, chat_id=chat_id)
        assert (result["report"], result["status"]) == ("Clicked.", "waiting")
        (step,) = await two.chats.steps(chat_id)
        shown = await two.event("step", chat_id)
        while shown.data["status"] != "done":
            two.heard.clear()
            await two.heard.wait()
            shown = await two.event("step", chat_id)
        # The place in the recording is written after the step: the event's reader may find it.
        stored = step.to_json()
        placed = {name: shown.data[name] for name in ("video_start", "video_end")}
        assert shown.data == {**stored, **placed}
        assert all(value in (None, stored[name]) for name, value in placed.items())

    model = ScriptedModel([[CLICK], [report("Clicked.")]])
    played(database, tmp_path, ({"child": model}, NONE), scenario)


def test_a_message_and_an_interruption_reach_the_driver_at_once(
    database: str, tmp_path: Path
) -> None:
    hold = Hold(report("Never"))

    async def scenario(one: Plane, two: Plane) -> None:
        caller = await one.caller()
        chat_id = (await one.tool(SPAWN, caller, prompt="Go"))["chat_id"]
        await hold.reached.wait()
        # No heartbeat is written in this test: the notices do it.
        assert await two.chats.send(chat_id, "Another way", interrupt=True)
        result = await two.tool("wait_agent", caller, chat_id=chat_id)
        assert result["report"] == "Another way it is."
        assert (await two.chats.get(chat_id)).turn == 2
        assert await two.chats.interrupt(chat_id) is False
        # At rest, it is driven by the one that gets its next message.
        await two.chats.send(chat_id, "And now?")
        result = await one.tool("wait_agent", caller, chat_id=chat_id)
        assert result["report"] == "The other one."

    played(
        database,
        tmp_path,
        (
            {"child": ScriptedModel([hold, [report("Another way it is.")]])},
            {"child": ScriptedModel([[report("The other one.")]])},
        ),
        scenario,
    )


def test_a_question_is_answered_at_the_other_one(database: str, tmp_path: Path) -> None:
    async def scenario(one: Plane, two: Plane) -> None:
        chat = await one.chats.create(prompt="Ask")
        await two.until(chat.id, "requires_action")
        await two.chats.answer(chat.id, "Blue")
        await two.until(chat.id, "waiting")
        (step,) = await two.chats.steps(chat.id)
        assert step.status == "done"
        assert "Blue" in str((await two.chats.messages(chat.id))[-2])

    asks = ScriptedModel([[call(REQUEST_HUMAN.name, reason="Which colour?")], [Text("Blue.")]])
    played(database, tmp_path, ({"parent": asks}, NONE), scenario)


def test_an_agent_is_closed_at_the_other_one_with_its_recording(
    database: str, tmp_path: Path
) -> None:
    hold = Hold(report("Never"))

    async def scenario(one: Plane, two: Plane) -> None:
        caller = await one.caller()
        chat_id = (await one.tool(SPAWN, caller, prompt="Go"))["chat_id"]
        await hold.reached.wait()
        desktop: FakeDesktop = one.machines.desktops["desktop-1"]
        assert (await two.tool("close_agent", caller, chat_id=chat_id))["terminated"] is True
        view = await two.chats.get(chat_id)
        assert (view.state, view.recording_status) == ("waiting", "stored")
        assert len(desktop.posted("recording/stop")) == 1

    model = ScriptedModel([[act("screenshot")], hold])
    played(database, tmp_path, ({"child": model}, NONE), scenario)


def test_after_a_lost_connection_clients_read_again_and_no_event_is_missing(
    database: str, tmp_path: Path
) -> None:
    async def scenario(one: Plane, two: Plane) -> None:
        for _ in range(3):
            one.events.clear()
            two.events.clear()
            before = await _connections(one)
            await one.store.read(lambda s: s.execute(CUT))
            made = [await one.chats.create(prompt=None, title=str(n)) for n in range(3)]
            for chat in made:
                # As an event, or as one of those that `lost` stands for.
                while chat.id not in {e.chat_id for e in two.events if e.kind == "created"}:
                    if any(event.kind == "lost" for event in two.events):
                        break
                    two.heard.clear()
                    await two.heard.wait()
            await two.event("lost")
            await one.event("lost")
            await _listening(one, 2, besides=before)
            # Connected again: the next one arrives by itself.
            later = await one.chats.create(prompt=None, title="later")
            await two.event("created", later.id)

    played(database, tmp_path, (NONE, NONE), scenario)


def test_a_restart_of_the_server_ends_no_exchange(server: PostgresServer, tmp_path: Path) -> None:
    async def scenario(one: Plane, two: Plane) -> None:
        two.events.clear()
        await asyncio.to_thread(server.stop, "fast")
        await two.event("lost")
        await asyncio.to_thread(server.start)
        await _listening(one, 2)
        # Each has connected again, and missed nothing since.
        chat = await one.chats.create(prompt=None, title="after")
        await two.event("created", chat.id)

    played(server.database(), tmp_path, (NONE, NONE), scenario)


def test_a_call_of_a_program_runs_once_on_both(database: str, tmp_path: Path) -> None:
    async def scenario(one: Plane, two: Plane) -> None:
        caller = await one.caller()
        await one.tool("echo", caller, say="The desktop is there.")
        (desktop,) = one.machines.desktops.values()
        before = len(desktop.posted("echo"))
        for number in range(10):
            calls = [
                each.chats.call_tool("echo", {"say": number}, caller, f"call-{number}")
                for each in (one, two, one, two)
            ]
            outcomes = await asyncio.gather(*calls)
            done = [outcome for outcome in outcomes if outcome.error is None]
            others = [outcome.error for outcome in outcomes if outcome.error is not None]
            assert len(done) >= 1
            assert set(others) <= {f"the call call-{number} is still at work"}
        assert len(desktop.posted("echo")) - before == 10

    played(database, tmp_path, (NONE, NONE), scenario, tools=(EchoTool(),))


def test_a_chat_is_taken_over_with_its_desktop(database: str, tmp_path: Path) -> None:
    hold = Hold(report("Never"))

    async def scenario(one: Plane, two: Plane) -> None:
        caller = await one.caller()
        chat_id = (await one.tool(SPAWN, caller, prompt="Go"))["chat_id"]
        await hold.reached.wait()
        await one.store.write(partial(planes.leave, plane="one"))
        assert await two.driver.beat() == (chat_id,)
        result = await two.tool("wait_agent", caller, chat_id=chat_id)
        assert result["report"] == "Taken over."
        assert one.machines.acquired == [chat_id]
        assert _actions(one.machines.desktops["desktop-1"]) == ["screenshot", "left_click"]
        # The desktop rests where the chat was last driven, and not where its turn was abandoned.
        hold.released.set()
        await one.driver.over(chat_id)
        assert one.machines.released == []

    model = ScriptedModel([[act("screenshot")], hold])
    other = ScriptedModel([[CLICK], [report("Taken over.")]])
    played(database, tmp_path, ({"child": model}, {"child": other}), scenario)


@pytest.mark.slow("a server that has run for 10 s")
def test_one_that_was_killed_is_replaced_as_soon_as_its_socket_is_closed(
    database: str, tmp_path: Path
) -> None:
    hold = Hold(report("Never"))

    async def scenario(one: Plane, two: Plane) -> None:
        caller = await one.caller()
        chat_id = (await one.tool(SPAWN, caller, prompt="Go"))["chat_id"]
        await hold.reached.wait()
        # Right after a start of the server nobody is known to have ended.
        started = "SELECT now() - pg_postmaster_start_time() > interval '10 s'"
        while not await one.store.read(lambda s: s.scalar(text(started))):
            assert await one.driver.beat() == await two.driver.beat() == ()
            await asyncio.sleep(0.2)
        # A connection that is made again at once is no end.
        before = await _connections(one)
        await one.store.read(lambda s: s.execute(CUT))
        await two.driver.check()
        await _listening(one, 2, besides=before)
        assert await two.driver.check() == ()
        one.channel.cancel()
        await asyncio.gather(one.channel, return_exceptions=True)
        assert await two.driver.check() == ()
        assert await two.driver.check() == (chat_id,)
        # Its heartbeat is not old yet.
        assert "one" in await two.store.read(planes.living)
        result = await two.tool("wait_agent", caller, chat_id=chat_id)
        assert result["report"] == "Taken over."

    model = ScriptedModel([[act("screenshot")], hold])
    other = ScriptedModel([[report("Taken over.")]])
    models = {"child": model}, {"child": other}
    played(database, tmp_path, models, scenario)


def _actions(desktop: FakeDesktop) -> list[str]:
    return [body["action"] for body in desktop.posted("action")]


async def _held_call(
    one: Plane, caller_at: Plane, caller: str
) -> tuple[asyncio.Task[ToolOutcome], Hold]:
    """Return a call, ``call-1``, that waits on the desktop that ``one`` has started."""
    await one.tool("echo", caller, say="The desktop is there.")
    (desktop,) = one.machines.desktops.values()
    hold = Hold()
    desktop.before["echo"] = hold.wait
    call = asyncio.create_task(caller_at.chats.call_tool("echo", {"say": 1}, caller, "call-1"))
    await hold.reached.wait()
    return call, hold


def test_a_call_of_a_program_at_a_plane_that_has_ended_is_not_at_work_for_ever(
    database: str, tmp_path: Path
) -> None:
    async def scenario(one: Plane, two: Plane) -> None:
        caller = await one.caller()
        call, _ = await _held_call(one, one, caller)
        # Its control plane lives: nothing is ended, also by a take-over of the chat.
        await two.chats.end_cut_off_calls()
        again = await two.chats.call_tool("echo", {"say": 1}, caller, "call-1")
        assert again.error == "the call call-1 is still at work"
        await one.store.write(partial(planes.leave, plane="one"))
        await two.chats.end_cut_off_calls()
        step = (await two.chats.steps(caller))[-1]
        assert (step.status, step.error) == ("interrupted", "interrupted before it gave a result")
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)

    played(database, tmp_path, (NONE, NONE), scenario, tools=(EchoTool(),))


def test_a_call_of_a_program_keeps_the_desktop_that_rests_at_the_other_one(
    database: str, tmp_path: Path
) -> None:
    async def scenario(one: Plane, two: Plane) -> None:
        caller = await one.caller()
        call, hold = await _held_call(one, two, caller)
        await one.chats.assignment.make_room(frozenset(["desktop-1"]), 1)
        assert one.machines.released == []
        hold.released.set()
        assert (await call).error is None
        # Its time of rest counts from there.
        since = partial(claims.changed_since, root_ids=[caller])
        now = (await one.chats.get(caller)).updated_at
        assert await one.store.read(partial(since, moment=now - 1.0)) == {caller}
        assert await one.store.read(partial(since, moment=now)) == set()
        await one.chats.assignment.make_room(frozenset(["desktop-1"]), 1)
        assert one.machines.released == ["desktop-1"]

    played(database, tmp_path, (NONE, NONE), scenario, tools=(EchoTool(),))


def test_each_shows_that_an_agent_of_the_other_one_waits_for_a_person(
    database: str, tmp_path: Path
) -> None:
    async def scenario(one: Plane, two: Plane) -> None:
        desktop, released, requests = FakeDesktop(), asyncio.Event(), itertools.count(1)
        one.machines.desktops["desktop-1"] = desktop

        async def occupied() -> None:
            if not released.is_set():
                raise MachineRefused(409, "Ada is in control.")

        async def lease() -> None:
            # Requests: for a session that was missed, for the state, and for its next change.
            if next(requests) == 3:
                await released.wait()
            kind = "free" if released.is_set() else "person"
            desktop.lease = {"holder": {"kind": kind}, "revision": 1, "last": None}

        async def shown(kind: str | None) -> None:
            while True:
                news = await two.event("status", chat_id)
                waiting = news.data["waiting_for"]
                if (waiting and waiting["kind"]) == kind:
                    return
                two.heard.clear()
                await two.heard.wait()

        desktop.before = {"action": occupied, "lease": lease}
        caller = await one.caller()
        chat_id = (await one.tool(SPAWN, caller, prompt="Click"))["chat_id"]
        await shown("human_in_control")
        released.set()
        await shown(None)

    model = ScriptedModel([[CLICK], [report("Clicked.")]])
    played(database, tmp_path, ({"child": model}, NONE), scenario)


def test_a_chat_whose_desktop_is_used_first_at_both_at_once_gets_one(
    database: str, tmp_path: Path
) -> None:
    async def scenario(one: Plane, two: Plane) -> None:
        caller = await one.caller()
        order = partial(desktops.order_once, chat_id=caller, wanted={}, created_at=1.0)
        ids = itertools.count()
        for _ in range(10):
            orders = [
                plane.store.write(partial(order, desktop_id=f"desktop-{next(ids)}"))
                for plane in (one, two, one, two)
            ]
            (first,) = set(await asyncio.gather(*orders))
            end = partial(desktops.move, desktop_id=first, before=("wanted",), state="ended")
            assert await one.store.write(end)

    played(database, tmp_path, (NONE, NONE), scenario)


def test_the_desktop_of_a_chat_is_released_where_the_chat_is_deleted(
    database: str, tmp_path: Path
) -> None:
    async def scenario(one: Plane, two: Plane) -> None:
        caller = await one.caller()
        await one.tool("echo", caller, say="hi")
        assert list(one.machines.desktops) == ["desktop-1"]
        # The other control plane has not used the desktop.
        await two.chats.delete(caller)
        assert one.machines.released == ["desktop-1"]

    played(database, tmp_path, (NONE, NONE), scenario, tools=(EchoTool(),))
