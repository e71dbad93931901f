import asyncio
from pathlib import Path
from typing import Any

from deskhand.tools.agents.desktops.ports import ChatSettings
from deskhand.tools.conversation.chat_start import ChatStart
from deskhand.tools.conversation.conversation import Text
from deskhand.tools.kit.support.spec import MachineRefused
from tests.tools.agents.chats.fakes import (
    FakeDesktop,
    FakeMachines,
    ScriptedModel,
    call,
    open_chats,
    report,
)

CONTEXT = "/api/v0/context-config"
ANSWER: dict[str, Any] = {
    "working_dir": "/w",
    "parts": [
        {"type": "context-file", "path": "/w/A", "content": "Be brief.", "truncated": False},
        {"type": "skill", "name": "forms", "description": "F", "dir": "/s", "meta_file": "/s/m"},
    ],
}


def test_a_chat_reads_its_context_once(tmp_path: Path) -> None:
    async def scenario() -> None:
        answers = {CONTEXT: ANSWER, "/api/v0/read-file": b"Do it.", "/api/v0/search": {}}
        desktop = FakeDesktop(answers=answers)
        child = ScriptedModel(
            [[call("read_skill", name="forms")], [report("Done")], [report("Again")]]
        )
        machines = FakeMachines({"desktop-1": desktop})
        async with open_chats(tmp_path, {"child": child}, machines=machines) as p:
            chat = await p.chats.create(prompt="Go", mode="computer_use")
            await p.until(chat.id, "waiting")
            desktop.answers[CONTEXT] = {"working_dir": "/other", "parts": []}
            await p.chats.send(chat.id, "More")
            await p.until(chat.id, "waiting")
            assert [path for _, path, _ in desktop.requests].count(CONTEXT) == 1
            first, _, last = child.prompts
            assert "Be brief." in first.system
            assert first.system == last.system
            assert first.tools == last.tools
            assert {"read_skill", "read_skill_file"} <= {tool.name for tool in first.tools}
            (step,) = await p.chats.steps(chat.id)
            assert (step.tool, step.status) == ("read_skill", "done")

    asyncio.run(scenario())


def test_a_chat_without_a_desktop_reads_no_context(tmp_path: Path) -> None:
    async def scenario() -> None:
        model = ScriptedModel([[Text("One")], [Text("Two")]])
        async with open_chats(tmp_path, {"parent": model}) as p:
            chat = await p.chats.create(prompt="Go")
            await p.until(chat.id, "waiting")
            assert p.machines.acquired == []
            assert "read_skill" not in {tool.name for tool in model.prompts[0].tools}
            started = await p.chats.create(prompt="Go", start=ChatStart(template=None, workdir=""))
            await p.until(started.id, "waiting")
            assert p.machines.acquired == []

    asyncio.run(scenario())


def test_a_setting_makes_every_chat_read_it(tmp_path: Path) -> None:
    async def scenario() -> None:
        machines = FakeMachines({"desktop-1": FakeDesktop(answers={CONTEXT: ANSWER})})
        model = ScriptedModel([[Text("One")]])
        settings = ChatSettings(context=True)
        async with open_chats(
            tmp_path, {"parent": model}, machines=machines, settings=settings
        ) as p:
            chat = await p.chats.create(prompt="Go")
            await p.until(chat.id, "waiting")
            assert "Working Directory: /w" in model.prompts[0].system

    asyncio.run(scenario())


def test_a_chat_works_without_a_context_that_cannot_be_read(tmp_path: Path) -> None:
    async def scenario() -> None:
        refuses: dict[str, Exception] = {"context-config": MachineRefused(500, "broken")}
        machines = FakeMachines({"desktop-1": FakeDesktop(refuses=refuses)})
        child = ScriptedModel([[report("Done")]])
        async with open_chats(tmp_path, {"child": child}, machines=machines) as p:
            chat = await p.chats.create(prompt="Go", mode="computer_use")
            await p.until(chat.id, "waiting")
            assert "workspace-context" not in child.prompts[0].system

    asyncio.run(scenario())
