"""Tool calls of programs, which act for a chat without being its model."""

from functools import partial
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Session

from deskhand.tools.agents.chat_repository.repository import ChatRepository
from deskhand.tools.agents.desktops.ports import DesktopMachine
from deskhand.tools.agents.workdirs.rows import CallStart, call_start
from deskhand.tools.agents.workdirs.start_files import StartFiles
from deskhand.tools.conversation.conversation import ToolCall
from deskhand.tools.conversation.errors import CallBegun, UnknownTool
from deskhand.tools.conversation.views import StepView
from deskhand.tools.kit.support.refused_tools import program_refusal
from deskhand.tools.kit.support.spec import Tool, ToolOutcome
from deskhand.tools.secrets.chat_secrets import ChatSecrets
from deskhand.tools.store import steps
from deskhand.tools.store.rows import planes
from deskhand.tools.store.schema import StepRow

from .chat_tools import ChatTools
from .desktop_assignment import DesktopAssignment
from .toolbox import ChatToolbox
from .transcript import earlier_step, interrupt, still_running, stored_outcome

Json = dict[str, Any]


class OutsideCalls:
    """Calls tools for programs, each call id once."""

    def __init__(
        self,
        repository: ChatRepository,
        assignment: DesktopAssignment,
        tools: ChatTools,
        secrets: ChatSecrets,
        start_files: StartFiles,
    ) -> None:
        self._repository = repository
        self._assignment = assignment
        self._tools = tools
        self._secrets = secrets
        self._start_files = start_files

    async def call(
        self, tool: str | Tool, arguments: Json, caller_chat_id: str, tool_call_id: str
    ) -> ToolOutcome:
        """Call a tool, named or the caller's own; a call id used before gets the stored result.

        Cancelling stops the wait, not what was started. Raises ``UnknownTool``.
        """
        name = tool if isinstance(tool, str) else tool.spec.name
        tools = self._tools.all() | ({} if isinstance(tool, str) else {name: tool})
        if name not in tools:
            raise UnknownTool(name, tuple(tools))
        find = partial(_found, chat_id=caller_chat_id, tool_call_id=tool_call_id)
        (earlier, above, lacks), start = await self._repository.store.read_short(find)
        if earlier is not None:
            return stored_outcome(earlier)
        if reason := program_refusal(name, without_execute=lacks):
            return ToolOutcome(error=reason)
        offered = {**tools, **self._tools.typing_secrets(above, execute=not lacks)}
        machine = partial(self._machine, caller_chat_id, start.is_placed)
        mask = self._secrets.mask(caller_chat_id, above)
        toolbox = ChatToolbox(
            *(self._repository, caller_chat_id, offered, machine),
            mask=mask,
            workdir=start.workdir,
        )
        with self._assignment.calling((caller_chat_id, *above)[-1]):
            try:
                return await toolbox.outcome(ToolCall(tool_call_id, name, arguments))
            except CallBegun:
                # By a request at the same time, here or at another control plane.
                return still_running(tool_call_id)

    async def end_cut_off(self) -> None:
        """End the calls whose control plane has ended; their effect is unknown.

        They are not repeated: another request with the id of one gets an error.
        """

        async def work(session: AsyncSession) -> list[StepView]:
            living = await planes.living(session)
            left = await steps.cut_off(session, tuple(living))
            for step in left:
                interrupt(step, self._repository.now())
            await session.flush()
            return [steps.view(step) for step in left]

        for view in await self._repository.store.write(work):
            self._repository.hub.publish("step", view.chat_id, view.to_json())

    async def _machine(self, chat_id: str, is_placed: bool) -> DesktopMachine:
        # A chat whose tools programs call may never have a turn, which would place the files.
        if not is_placed:
            await self._start_files.place(chat_id)
        return await self._assignment.machine(chat_id)


def _found(
    session: Session, chat_id: str, tool_call_id: str
) -> tuple[tuple[StepRow | None, tuple[str, ...], bool], CallStart]:
    """Return what a call needs of its chat, in one read: each is a change of threads."""
    return earlier_step(session, chat_id, tool_call_id), call_start(session, chat_id)
