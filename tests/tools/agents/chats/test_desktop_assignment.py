import asyncio
from functools import partial
from pathlib import Path

from sqlalchemy import text

from deskhand.tools.agents.desktops.ports import ChatSettings
from deskhand.tools.agents.driving.driver import Driver
from deskhand.tools.kit.support.spec import ToolContext, ToolOutcome, ToolSpec
from deskhand.tools.store import chats
from deskhand.tools.store.backends.local_bus import LocalBus
from deskhand.tools.store.rows import planes
from tests.tools.agents.chats.fakes import (
    LIMIT,
    FakeDesktop,
    FakeMachines,
    OpenChats,
    ScriptedModel,
    StuckTool,
    act,
    after_a_kill,
    open_chats,
    report,
)

SPAWN = "spawn_computer_use_agent"
USED = text("UPDATE chats SET updated_at = updated_at + :seconds WHERE id = :chat_id")
DRIVEN = text("UPDATE chats SET driver = :plane WHERE id = :chat_id")


async def chat_of(p: OpenChats, title: str, owner: str | None = None) -> str:
    return (await p.chats.create(prompt=None, title=title, owner=owner)).id


async def desktop_of(p: OpenChats, chat_id: str) -> str | None:
    return (await p.chats.get(chat_id)).desktop_id


def test_each_root_chat_has_a_desktop_of_its_own(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with open_chats(tmp_path) as p:
            x, y = await chat_of(p, "x"), await chat_of(p, "y")
            assert await desktop_of(p, x) is None
            for _ in range(2):
                for chat in (x, y):
                    await p.tool("echo", chat, say=chat)
            assert p.machines.acquired == [x, y]
            assert await desktop_of(p, x) == "desktop-1"
            assert [one["say"] for one in p.machines.desktops["desktop-2"].posted("echo")] == [y, y]

    asyncio.run(scenario())


def test_two_first_commands_at_once_start_one_desktop(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with open_chats(tmp_path) as p:
            chat = await chat_of(p, "x")
            await asyncio.gather(*(p.tool("echo", chat, say=n) for n in range(3)))
            assert p.machines.acquired == [chat]

    asyncio.run(scenario())


def test_a_child_without_a_desktop_works_on_that_of_its_root(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with open_chats(tmp_path) as p:
            root = await chat_of(p, "x")
            child = (await p.chats.create(prompt=None, parent_id=root)).id
            await p.tool("echo", child, say="child")
            await p.tool("echo", root, say="root")
            assert p.machines.acquired == [root]
            said = [one["say"] for one in p.machines.desktops["desktop-1"].posted("echo")]
            assert said == ["child", "root"]

    asyncio.run(scenario())


def test_a_chat_and_its_children_belong_to_the_credential_that_created_it(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with open_chats(tmp_path) as p:
            root = await chat_of(p, "x", owner="token-1")
            child = (await p.chats.create(prompt=None, parent_id=root)).id
            other = (await p.chats.default_chat("ci", "token-2")).id
            plain = await chat_of(p, "y")
            ids = (root, child, other, plain)
            rows = [await p.store.read(partial(chats.get, chat_id=one)) for one in ids]
            assert [row.owner for row in rows] == ["token-1", "token-1", "token-2", "owner"]

    asyncio.run(scenario())


def test_an_agent_is_not_put_on_the_desktop_of_another_chat(tmp_path: Path) -> None:
    async def scenario() -> None:
        machines = FakeMachines({"free": FakeDesktop()})
        child = ScriptedModel([[report("Done")] for _ in range(3)])
        async with open_chats(tmp_path, {"child": child}, machines=machines) as p:
            x, y = await chat_of(p, "x"), await chat_of(p, "y")
            await p.tool("echo", x, say="hi")
            refusal = await p.error(SPAWN, y, prompt="Look", desktop="desktop-1")
            unknown = await p.error(SPAWN, y, prompt="Look", desktop="desktop-9")
            assert refusal == unknown.replace("desktop-9", "desktop-1")
            spawned = await p.tool(SPAWN, x, prompt="Look", desktop="desktop-1")
            await p.tool("wait_agent", x, chat_id=spawned["chat_id"])
            spawned = await p.tool(SPAWN, y, prompt="Look", desktop="free")
            await p.tool("wait_agent", y, chat_id=spawned["chat_id"])

    asyncio.run(scenario())


def test_a_display_that_is_used_takes_a_place_and_waits_for_one(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with open_chats(tmp_path, settings=ChatSettings("http://plane", desktops=1)) as p:
            x, y = await chat_of(p, "x"), await chat_of(p, "y")
            for chat in (x, y):
                await p.tool("echo", chat, say="hi")
            # The chats are at rest: a person keeps the first desktop from being released.
            await p.machines.used("desktop-1")
            assert p.machines.has_display("desktop-1")
            p.machines.watched = {"desktop-1"}
            waiting = asyncio.ensure_future(p.machines.used("desktop-2"))
            await asyncio.sleep(0)
            await p.tool("echo", y, say="still works")
            assert not p.machines.has_display("desktop-2")
            p.machines.watched = set()
            await p.chats.assignment.release_idle()
            async with asyncio.timeout(LIMIT):
                await waiting
            assert p.machines.has_display("desktop-2")
            assert p.machines.released == ["desktop-1"]
            assert await desktop_of(p, x) is None

    asyncio.run(scenario())


def test_a_desktop_at_rest_stays_while_another_control_plane_uses_it(tmp_path: Path) -> None:
    async def scenario() -> None:
        model = ScriptedModel([[act("screenshot")], [report("Done")]])
        settings = ChatSettings(desktop_rest_seconds=0.0)
        async with open_chats(tmp_path, {"child": model}, settings=settings) as p:
            p.chats.shared_events(LocalBus(), Driver(p.store, "one", "one:1"))
            chat = await p.chats.create(prompt="Click", mode="computer_use")
            await p.until(chat.id, "waiting")
            for seconds, released in ((60, []), (-120, ["desktop-1"])):
                used = USED.bindparams(seconds=seconds, chat_id=chat.id)
                await p.store.write(lambda s, used=used: s.execute(used))  # type: ignore[misc]
                await p.chats.assignment.release_idle()
                assert p.machines.released == released

    asyncio.run(scenario())


def test_desktops_without_a_display_are_ten_times_as_many(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with open_chats(tmp_path, settings=ChatSettings("http://plane", desktops=1)) as p:
            ids = [await chat_of(p, str(number)) for number in range(11)]
            for chat in ids:
                await p.tool("echo", chat, say="hi")
            # All are at rest: the one that rested the longest was released for the last.
            assert p.machines.released == ["desktop-1"]
            assert len(p.machines.desktops) == 10
            await p.tool("echo", ids[0], say="again")
            assert await desktop_of(p, ids[0]) == "desktop-12"
            assert p.machines.released == ["desktop-1", "desktop-2"]

    asyncio.run(scenario())


def test_a_desktop_is_kept_while_a_call_from_outside_uses_it(tmp_path: Path) -> None:
    class Held(StuckTool):
        spec = ToolSpec("held", "Wait.", {"type": "object"})

        def __init__(self) -> None:
            super().__init__()
            self.go_on = asyncio.Event()

        async def call(self, arguments: dict[str, object], context: ToolContext) -> ToolOutcome:
            await context.machine.request("POST", "/api/v0/echo", json={})
            self.called.set()
            await self.go_on.wait()
            return ToolOutcome({})

    async def scenario() -> None:
        held = Held()
        settings = ChatSettings("http://plane", desktops=1)
        async with open_chats(tmp_path, settings=settings, tools=(held,)) as p:
            ids = [await chat_of(p, str(number)) for number in range(11)]
            await p.tool("echo", ids[0], say="hi")
            calling = asyncio.create_task(p.tool("held", ids[0]))
            await held.called.wait()
            for chat in ids[1:]:
                await p.tool("echo", chat, say="hi")
            assert p.machines.released == ["desktop-2"]
            held.go_on.set()
            await calling

    asyncio.run(scenario())


def test_after_a_restart_each_chat_has_its_desktop(tmp_path: Path) -> None:
    async def scenario() -> None:
        machines = FakeMachines()
        settings = ChatSettings("http://plane", desktops=1)
        async with open_chats(tmp_path, machines=machines, settings=settings) as p:
            x, y = await chat_of(p, "x"), await chat_of(p, "y")
            for chat in (x, y):
                await p.tool("echo", chat, say="hi")
            await machines.used("desktop-1")
        async with open_chats(tmp_path, machines=machines, settings=settings) as p:
            for chat in (x, y):
                await p.tool("echo", chat, say="again")
            assert machines.acquired == [x, y]
            # The display of the first takes the only place, and is at rest.
            await machines.used("desktop-2")
            assert machines.released == ["desktop-1"]

    asyncio.run(scenario())


def test_a_desktop_that_an_ended_control_plane_has_left_makes_room(tmp_path: Path) -> None:
    async def drive(p: OpenChats, chat_id: str, plane: str) -> None:
        await p.store.write(partial(planes.beat, plane=plane, address="host:1"))
        by = {"plane": plane, "chat_id": chat_id}
        await p.store.write(lambda s: s.execute(DRIVEN, by))

    async def scenario() -> None:
        async with open_chats(tmp_path) as ended, after_a_kill(ended, {}) as p:
            left = await chat_of(ended, "left")
            kept = await chat_of(ended, "kept")
            continued = await chat_of(ended, "continued")
            for chat in (left, kept, continued):
                await ended.tool("echo", chat, say="hi")
            found = {chat: await desktop_of(p, chat) for chat in (left, kept, continued)}
            await drive(p, kept, "living")
            assignment, all_of_them = p.chats.assignment, frozenset(map(str, found.values()))
            await assignment.make_room(all_of_them, 3)
            assert p.machines.released == []
            await assignment.take_over()
            # Another control plane continues the chat before there is a need for room.
            await drive(p, continued, "living")
            await assignment.leave_continued()
            await assignment.make_room(all_of_them, 3)
            assert p.machines.released == [found[left]]

    asyncio.run(scenario())


def test_an_agent_with_a_display_takes_over_the_desktop_of_its_commands(tmp_path: Path) -> None:
    async def scenario() -> None:
        model = ScriptedModel([[act("screenshot")], [report("Done")]])
        async with open_chats(tmp_path, {"child": model}) as p:
            chat = (await p.chats.create(prompt=None, mode="computer_use")).id
            await p.tool("echo", chat, say="hi")
            assert not p.machines.has_display("desktop-1")
            await p.chats.send(chat, "Look")
            await p.until(chat, "waiting")
            assert p.machines.acquired == [chat]
            assert p.machines.has_display("desktop-1")
            await p.chats.archive(chat)
            assert p.machines.released == ["desktop-1"]

    asyncio.run(scenario())
