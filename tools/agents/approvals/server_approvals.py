"""Approvals of MCP servers: who asked for which definition, and what a person answered.

An approval is for one definition, by its digest, and for all chats of one owner. The row also has
the text that the person sees, which is made of the definition and not by the model. It outlives
the question, which ends with its chat (:mod:`deskhand.tools.agents.questions.questions`).
"""

from collections.abc import Callable, Collection
from typing import Protocol

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.agents.questions.questions import NewQuestion
from deskhand.tools.conversation.question import ChatQuestion
from deskhand.tools.kit.mcp_tools import APPROVE, WaitingServer
from deskhand.tools.kit.support.spec import ToolContext
from deskhand.tools.store import chats
from deskhand.tools.store.database import Store
from deskhand.tools.store.schema import McpApprovalRow

from .question_text import visible

MCP_SERVER = "mcp_server"
"""Rule of the question: a definition of a server that no person has approved."""


class AskedPeople(Protocol):
    """Questions to people."""

    async def ask(self, wanted: NewQuestion) -> ChatQuestion:
        """Ask a question; return it when it is closed."""


class ServerApprovals:
    """Implements the port of the tools; with ``trust`` every definition is approved."""

    def __init__(
        self,
        store: Store,
        questions: AskedPeople,
        now: Callable[[], float],
        seconds: float,
        *,
        trust: bool = False,
    ) -> None:
        """Ask for answers within ``seconds``."""
        self._seconds = seconds
        self._store = store
        self._questions = questions
        self._now = now
        self._trust = trust

    async def approved(self, chat_id: str, digests: Collection[str]) -> frozenset[str]:
        """Return those of the digests that are approved for a chat."""
        if self._trust:
            return frozenset(digests)

        async def read(session: AsyncSession) -> frozenset[str]:
            owner = (await chats.get(session, chat_id)).owner
            found = select(McpApprovalRow.digest).where(
                McpApprovalRow.owner == owner, McpApprovalRow.state == "approved"
            )
            return frozenset(await session.scalars(found)) & frozenset(digests)

        return await self._store.read(read)

    async def ask(self, context: ToolContext, server: WaitingServer) -> bool:
        """Ask a person for the approval of a definition; without an answer it is refused."""
        chat_id = context.chat_id
        question = await self._questions.ask(
            NewQuestion(
                chat_id,
                context.step_id,
                context.tool_call_id,
                "approval",
                visible(server.question),
                self._seconds,
                call={"tool": APPROVE, "title": server.name, "arguments": {"server": server.name}},
                rules=(MCP_SERVER,),
            )
        )
        state = "approved" if question.approved else "refused"
        now = self._now()

        async def write(session: AsyncSession) -> bool:
            owner = (await chats.get(session, chat_id)).owner
            row = await session.get(McpApprovalRow, (owner, server.digest))
            if row is None:
                row = McpApprovalRow(owner=owner, digest=server.digest, asked_at=question.asked_at)
                session.add(row)
            elif question.answer is None:
                # Meanwhile a person may have answered the same question of another chat.
                return row.state == "approved"
            row.chat_id, row.name, row.state = chat_id, server.name, state
            row.question, row.changed_at = server.question, now
            return question.approved

        return await self._store.write(write)
