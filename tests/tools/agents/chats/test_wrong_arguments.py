"""A call whose arguments are wrong: nobody is asked, and no desktop is started for it."""

import asyncio
from pathlib import Path

import pytest

from deskhand.tools.conversation.conversation import ToolCall
from deskhand.tools.conversation.restrictions import ChatRestrictions
from deskhand.tools.kit.browser import BrowserTool
from deskhand.tools.kit.execute import ExecuteTool
from deskhand.tools.kit.write_file import WriteFileTool
from deskhand.tools.store import steps
from tests.tools.agents.chats.fakes import ScriptedModel, act, call, open_chats

HIDDEN = {"query": "x", "action": "javascript_exec", "text": "document.title"}
"""A member that only reads, with the name of another one among its arguments."""


def member(name: str, **arguments: object) -> ToolCall:
    return ToolCall("b1", name, arguments, "browser")


@pytest.mark.parametrize(
    ("made", "mode", "problem"),
    [
        (call("execute", cmd="rm -rf /"), "general", "unknown argument cmd: did you mean command?"),
        (call("write_file", path="/a"), "general", "content is required"),
        (call("write_file", path="/a", content=None), "general", "content is required"),
        (act("left_click", coordinate=[1, 2], key="ctrl"), "computer_use", "unknown argument key"),
        (member("find", **HIDDEN), "computer_use", "find: unknown argument"),
        (member("navigate", uri="a.test"), "computer_use", "navigate: unknown argument uri"),
    ],
)
def test_a_wrong_call_asks_nobody_and_starts_nothing(
    tmp_path: Path, made: ToolCall, mode: str, problem: str
) -> None:
    async def scenario() -> None:
        model = ScriptedModel([[made], []])
        browser = BrowserTool(lambda _: None)  # type: ignore[arg-type,return-value]
        tools = (ExecuteTool(), WriteFileTool(), browser)
        async with open_chats(tmp_path, {"parent": model, "child": model}, tools=tools) as p:
            every = ChatRestrictions("every")
            chat = await p.chats.create(prompt="Go", title="x", mode=mode, restrictions=every)
            await p.until(chat.id, "waiting")
            (done,) = await p.store.read(lambda db: steps.of_turn(db, chat.id, 1))
            assert problem in str(done.error)
            sent = [
                path for desktop in p.machines.desktops.values() for _, path, _ in desktop.requests
            ]
            # A chat with a desktop begins by a recording and the context of its desktop.
            begun = ("recording", "/context-config")
            assert not [path for path in sent if not any(part in path for part in begun)]

    asyncio.run(scenario())
