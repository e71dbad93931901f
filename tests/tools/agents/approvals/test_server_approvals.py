"""Approvals of MCP servers by people, asked during the turn of a chat."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from deskhand.tools.agents.approvals.server_approvals import ServerApprovals
from deskhand.tools.agents.desktops.ports import ChatSettings
from deskhand.tools.agents.questions.questions import NewQuestion
from deskhand.tools.conversation.question import ChatQuestion, QuestionState
from deskhand.tools.kit.mcp_tools import WaitingServer
from deskhand.tools.kit.support.spec import ToolContext
from tests.tools.agents.chats.fakes import FakeMachines, ScriptedModel, call, open_chats, report
from tests.tools.kit.machine import FakeMachine

Json = dict[str, Any]

DIGEST = "0" * 64
WAITS: Json = {
    "tools": [],
    "servers": [
        {"name": "a", "state": "needs_approval", "error": "", "digest": DIGEST, "summary": "run x"}
    ],
}
QUESTION = "May this MCP server run on the desktop? a: run x (yes or no)"


class Machines(FakeMachines):
    """Desktops on which a server waits for its approval."""

    async def acquire(self, *arguments: Any, **options: Any) -> str:
        desktop = await super().acquire(*arguments, **options)
        self.desktops[desktop].answers = {
            "/api/v0/mcp/tools": WAITS,
            "/api/v0/mcp-approvals": {"approved": 1},
        }
        return desktop

    def approvals(self) -> list[Any]:
        """What desktops were sent as approved."""
        every = [one for desktop in self.desktops.values() for one in desktop.requests]
        return [body["digests"] for _, path, body in every if path == "/api/v0/mcp-approvals"]


def asks() -> ScriptedModel:
    return ScriptedModel([[call("approve_mcp_server", server="a")], [report("Done")]])


@pytest.mark.parametrize(("answer", "status"), [(" Yes. ", "done"), ("no", "failed")])
def test_a_person_decides_on_the_definition(tmp_path: Path, answer: str, status: str) -> None:
    async def scenario() -> None:
        machines = Machines()
        async with open_chats(tmp_path, {"child": asks()}, machines=machines) as p:
            chat = await p.chats.create(prompt="Go", mode="computer_use")
            await p.until(chat.id, "requires_action")
            asked = (await p.chats.get(chat.id)).requires_action or {}
            assert (asked["kind"], asked["question"]) == ("approval", QUESTION)
            assert asked["rules"] == ["mcp_server"]
            assert machines.approvals() == []
            await p.chats.answer(chat.id, answer)
            await p.until(chat.id, "waiting")
            assert [step.status for step in await p.chats.steps(chat.id)] == [status]
            await p.tool("list_mcp_tools", chat.id)
            # Another chat of the owner does not ask again; a refusal is not remembered as a yes.
            await p.tool("list_mcp_tools", await p.caller())
            assert machines.approvals() == ([[DIGEST]] * 2 if status == "done" else [])

    asyncio.run(scenario())


class Answers:
    """Questions to people, each with the answer of its chat; None: it expires."""

    def __init__(self, answers: dict[str, str | None]) -> None:
        self._answers = answers

    async def ask(self, question: NewQuestion) -> ChatQuestion:
        answer = self._answers[question.chat_id]
        state = QuestionState.EXPIRED if answer is None else QuestionState.ANSWERED
        ids = question.chat_id, 1, question.step_id, question.call_id
        return ChatQuestion(
            "q", *ids, question.kind, question.text, 1.0, state=state, answer=answer
        )


@pytest.mark.parametrize(
    ("answers", "approved"),
    [
        (("approve", None), True),
        ((None, "approve"), True),
        (("refuse", "approve"), True),
        (("approve", "refuse"), False),
        ((None, None), False),
    ],
)
def test_chats_that_ask_for_the_same_server_lose_no_answer(
    tmp_path: Path, answers: tuple[str | None, str | None], approved: bool
) -> None:
    async def scenario() -> None:
        async with open_chats(tmp_path) as p:
            chats = [(await p.chats.create(prompt=None)).id for _ in answers]
            asked = Answers(dict(zip(chats, answers, strict=True)))
            approvals = ServerApprovals(p.store, asked, lambda: 2.0, 60.0)
            server = WaitingServer("a", DIGEST, "run x")
            for chat in chats:
                context = ToolContext(chat, "call", FakeMachine())
                given = await approvals.ask(context, server)
            assert given is approved
            for chat in chats:
                assert await approvals.approved(chat, [DIGEST]) == frozenset([DIGEST] * approved)

    asyncio.run(scenario())


def test_an_interrupted_question_approves_nothing(tmp_path: Path) -> None:
    async def scenario() -> None:
        machines = Machines()
        async with open_chats(tmp_path, {"child": asks()}, machines=machines) as p:
            chat = await p.chats.create(prompt="Go", mode="computer_use")
            await p.until(chat.id, "requires_action")
            await p.chats.interrupt(chat.id)
            await p.until(chat.id, "waiting")
            await p.tool("list_mcp_tools", chat.id)
            assert machines.approvals() == []

    asyncio.run(scenario())


def test_trusted_servers_need_no_person(tmp_path: Path) -> None:
    async def scenario() -> None:
        machines, settings = Machines(), ChatSettings("http://plane", trust_mcp_servers=True)
        async with open_chats(tmp_path, machines=machines, settings=settings) as p:
            await p.tool("list_mcp_tools", await p.caller())
            assert machines.approvals() == [[DIGEST]]

    asyncio.run(scenario())


def test_a_chat_without_programs_has_no_servers(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with open_chats(tmp_path, machines=Machines()) as p:
            chat = await p.chats.create(prompt=None, without_execute=True)
            outcome = await p.try_tool("list_mcp_tools", chat.id)
            assert "cannot run programs" in str(outcome.error)

    asyncio.run(scenario())
