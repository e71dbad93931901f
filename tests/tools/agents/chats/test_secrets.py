import asyncio
from pathlib import Path
from typing import Any

import pytest

from deskhand.tools.conversation.conversation import Text, ToolResult
from deskhand.tools.kit.support.spec import Json, ToolContext, ToolOutcome, ToolSpec
from deskhand.tools.secrets.secret import Secret
from deskhand.tools.secrets.store import SecretStore
from tests.tools.agents.chats.fakes import (
    LIMIT,
    FakeDesktop,
    FakeMachines,
    ScriptedModel,
    act,
    call,
    open_chats,
    report,
    result_text,
)

HORSE = 'correct "horse"'


def secret_store(*chats: str) -> SecretStore:
    made = SecretStore()
    made.put(Secret("mail", HORSE, chats or None, anywhere=True))
    return made


class LeakyTool:
    """Returns, or fails with, what it was given."""

    spec = ToolSpec("leak", "Leak.", {"type": "object"})

    async def call(self, arguments: Json, context: ToolContext) -> ToolOutcome:
        if arguments.get("fail"):
            return ToolOutcome(error=f"no {HORSE} here")
        return ToolOutcome({"lines": [HORSE, {HORSE: 1}], "said": f"a {HORSE}", "count": 3})


def test_a_known_value_is_masked_in_all_that_is_kept_of_a_call(tmp_path: Path) -> None:
    async def scenario() -> None:
        model = ScriptedModel(
            [
                [call("leak", command=f"echo {HORSE}")],
                [call("leak", fail=True)],
                [act("type", text=f"tom {HORSE}")],
                [report("Done")],
            ]
        )
        async with open_chats(
            tmp_path, {"child": model}, tools=(LeakyTool(),), secret_store=secret_store()
        ) as p:
            with p.chats.events(None) as news:
                chat = await p.chats.create(prompt="Go", mode="computer_use")
                events: list[Any] = []
                async with asyncio.timeout(LIMIT):
                    while (await p.chats.get(chat.id)).state != "waiting":
                        events.append(await anext(news))
            steps = await p.chats.steps(chat.id)
            assert steps[0].title == "leak: echo ••••"
            assert steps[0].arguments == {"command": "echo ••••"}
            assert steps[1].error == "no •••• here"
            assert steps[2].arguments == {"text": "tom ••••"}
            results = [
                block
                for prompt in model.prompts
                for message in prompt.messages
                for block in message.content
                if isinstance(block, ToolResult)
            ]
            assert '"said": "a ••••"' in result_text(results[0])
            kept = [*map(str, steps), *map(str, results), *map(str, events)]
            assert not any("horse" in one for one in kept)
            (desktop,) = p.machines.desktops.values()
            assert desktop.posted("desktop/secrets")[0] == {"values": [HORSE]}
            assert "horse" not in str(desktop.posted("/steps"))

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("told_text", "kept", "title"),
    [("7 characters", "7 characters", "type: 7 characters"), (None, "hunter2", "type: hunter2")],
)
def test_a_step_that_types_has_its_text_once_that_is_known_to_be_no_password(
    tmp_path: Path, told_text: str | None, kept: str, title: str
) -> None:
    async def scenario() -> None:
        machines = FakeMachines({"desktop-1": FakeDesktop(told_text=told_text)})
        model = ScriptedModel([[act("type", text="hunter2")], [report("Done")]])
        async with open_chats(tmp_path, {"child": model}, machines=machines) as p:
            with p.chats.events(None) as news:
                chat = await p.chats.create(prompt="Go", mode="computer_use")
                events: list[Any] = []
                async with asyncio.timeout(LIMIT):
                    while (await p.chats.get(chat.id)).state != "waiting":
                        events.append(await anext(news))
            (step, *_) = await p.chats.steps(chat.id)
            assert (step.arguments, step.title) == ({"text": kept}, title)
            titles = [one.data["title"] for one in events if one.kind == "step"]
            assert titles[:2] == ["type: 7 characters", title]

    asyncio.run(scenario())


def test_an_agent_types_a_secret_that_it_never_sees(tmp_path: Path) -> None:
    async def scenario() -> None:
        model = ScriptedModel([[call("type_secret", name="mail")], [Text("Signed in.")]])
        machines = FakeMachines()
        async with open_chats(
            tmp_path, {"child": model}, machines=machines, secret_store=secret_store()
        ) as p:
            chat = await p.chats.create(prompt="Sign in", mode="computer_use")
            await p.until(chat.id, "waiting")
            (step,) = await p.chats.steps(chat.id)
            assert (step.title, step.status) == ("type_secret: mail", "done")
            assert "type_secret" in [spec.name for spec in model.prompts[0].tools]
            (desktop,) = p.machines.desktops.values()
            assert [one["text"] for one in desktop.posted("/action")] == [HORSE]
            assert "horse" not in str(model.prompts)

    asyncio.run(scenario())


def test_the_tool_for_secrets_is_offered_before_there_are_any(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with open_chats(tmp_path) as p:
            assert "type_secret" in [spec.name for spec in p.chats.tool_specs()]
        async with open_chats(tmp_path, secret_store=secret_store("stranger")) as p:
            assert "type_secret" in [spec.name for spec in p.chats.tool_specs()]
            wanted = {"name": "mail"}
            outcome = await p.chats.call_tool("type_secret", wanted, await p.caller(), "call-1")
            assert outcome.error == "there is no secret of that name for you; you have none"

    asyncio.run(scenario())


class FakeExecute:
    """The tool that runs programs."""

    spec = ToolSpec("execute", "Run a command.", {"type": "object"})

    async def call(self, arguments: Json, context: ToolContext) -> ToolOutcome:
        return ToolOutcome({"ran": True})


def test_a_chat_without_execute_types_the_secrets_that_are_only_for_such_chats(
    tmp_path: Path,
) -> None:
    async def scenario() -> None:
        store = SecretStore()
        store.put(Secret("mail", HORSE, anywhere=True, without_execute=True))
        child = ScriptedModel([[report("Done")] for _ in range(2)])
        async with open_chats(
            tmp_path, {"child": child}, tools=(FakeExecute(),), secret_store=store
        ) as p:
            plain = await p.chats.create(prompt=None)
            bound = await p.chats.create(prompt=None, without_execute=True)
            assert (plain.without_execute, bound.without_execute) == (False, True)
            assert await p.tool("execute", plain.id) == {"ran": True}
            assert "cannot run programs" in await p.error("execute", bound.id)
            typed = [
                await p.chats.call_tool("type_secret", {"name": "mail"}, chat.id, f"type-{chat.id}")
                for chat in (plain, bound)
            ]
            assert "you have none" in str(typed[0].error)
            assert typed[1].error is None
            for caller in (plain.id, bound.id):
                # A child of a chat without execute has none either.
                asked = caller == plain.id
                spawned = await p.tool(
                    "spawn_computer_use_agent", caller, prompt="Go", without_execute=asked
                )
                await p.tool("wait_agent", caller, chat_id=spawned["chat_id"])
                assert (await p.chats.get(spawned["chat_id"])).without_execute
            for prompt in child.prompts:
                offered = {tool.name for tool in prompt.tools}
                assert "type_secret" in offered
                assert "execute" not in offered

    asyncio.run(scenario())
