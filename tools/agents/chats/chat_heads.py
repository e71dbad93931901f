"""Heads of the prompts of chats: made with the first request, and stored."""

import logging
from collections.abc import Mapping
from typing import cast

from deskhand.tools.agents.agent_context.agent_context import WorkspaceContext, workspace_context
from deskhand.tools.agents.agent_context.skill_tools import skill_tools
from deskhand.tools.agents.chat_repository.repository import ChatRepository
from deskhand.tools.agents.loop.prompts import Mode, system_prompt
from deskhand.tools.agents.loop.report import with_report
from deskhand.tools.agents.workdirs.rows import start_of
from deskhand.tools.conversation.views import ChatView
from deskhand.tools.kit.support.spec import MachineRefused, MachineUnavailable, Tool
from deskhand.tools.kit.support.workdir_path import CONTEXT
from deskhand.tools.store import messages

from .desktop_assignment import DesktopAssignment
from .prompt_head import PromptHead, head_from_json

log = logging.getLogger(__name__)


class ChatHeads:
    """The heads of all chats."""

    def __init__(self, repository: ChatRepository, assignment: DesktopAssignment) -> None:
        self._repository = repository
        self._assignment = assignment

    async def of(self, view: ChatView, tools: Mapping[str, Tool]) -> PromptHead:
        """Return what a chat's prompts begin with: as in its first turn."""
        stored = await self._repository.store.read(lambda s: messages.head(s, view.id))
        if stored is not None:
            return head_from_json(stored)
        context = await self._context(view)
        system = system_prompt(cast(Mode, view.mode), child=view.parent_id is not None)
        offered = {**tools, **skill_tools(context.skills)}
        head = PromptHead(
            "\n\n".join(filter(None, (system, context.prompt()))),
            with_report(tuple(tool.spec for tool in offered.values())),
            tuple(context.skills),
        )
        now = self._repository.now()
        content = await self._repository.store.write(
            lambda s: messages.fixed_head(s, view.id, head.to_json(), now)
        )
        return head_from_json(content)

    async def _context(self, view: ChatView) -> WorkspaceContext:
        """Read the context of a chat that works on a desktop, or starts with a directory."""
        start = await self._repository.store.read(lambda s: start_of(s, view.id))
        if view.mode != "computer_use" and start is None and not self._repository.settings.context:
            # A desktop would be started for a directory in which there is nothing yet.
            return WorkspaceContext()
        below = "" if start is None else start.workdir
        machine = await self._assignment.machine(view.id)
        try:
            params = {"workdir": below} if below else None
            return workspace_context(await machine.request("GET", CONTEXT, params=params))
        except (MachineRefused, MachineUnavailable) as error:
            log.warning("chat %s has no context: %s", view.id, error)
            return WorkspaceContext()
