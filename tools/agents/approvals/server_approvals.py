"""Approvals of MCP servers: who asked for which definition, and what a person answered.

An approval is for one definition, by its digest, and for all chats of one owner. The row also has
the text that the person sees, which is made of the definition and not by the model.
"""

from collections.abc import Callable, Collection
from typing import Protocol

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.kit.mcp_tools import WaitingServer
from deskhand.tools.store import chats
from deskhand.tools.store.database import Store
from deskhand.tools.store.schema import McpApprovalRow

YES = frozenset({"yes", "y", "ok", "approve", "approved", "ja"})


class AskedPeople(Protocol):
    """Questions to people."""

    async def ask(self, chat_id: str) -> str:
        """Return a person's answer to the open question of that chat."""


class ServerApprovals:
    """Implements the port of the tools; with ``trust`` every definition is approved."""

    def __init__(
        self,
        store: Store,
        questions: AskedPeople,
        now: Callable[[], float],
        *,
        trust: bool = False,
    ) -> None:
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

    async def ask(self, chat_id: str, server: WaitingServer) -> bool:
        """Ask a person for the approval of a definition; cancelling withdraws the question."""
        await self._write(chat_id, server, "asked")
        state = "withdrawn"
        try:
            answer = await self._questions.ask(chat_id)
            state = "approved" if answer.strip().strip(".!").lower() in YES else "refused"
        finally:
            await self._write(chat_id, server, state)
        return state == "approved"

    async def _write(self, chat_id: str, server: WaitingServer, state: str) -> None:
        now = self._now()

        async def write(session: AsyncSession) -> None:
            owner = (await chats.get(session, chat_id)).owner
            row = await session.get(McpApprovalRow, (owner, server.digest))
            if row is None:
                row = McpApprovalRow(owner=owner, digest=server.digest, asked_at=now)
                session.add(row)
            row.chat_id, row.name, row.state = chat_id, server.name, state
            row.question, row.changed_at = server.question, now

        await self._store.write(write)
