"""Tool calls of programs, which act for a chat without being its model."""

from functools import partial
from typing import Any

from sqlalchemy.orm import Session

from deskhand.tools.agents.chat_repository.repository import ChatRepository
from deskhand.tools.agents.desktops.ports import DesktopMachine
from deskhand.tools.agents.workdirs.rows import CallStart, call_start
from deskhand.tools.agents.workdirs.start_files import StartFiles
from deskhand.tools.conversation.conversation import ToolCall
from deskhand.tools.conversation.errors import UnknownTool
from deskhand.tools.kit.support.refused_tools import program_refusal
from deskhand.tools.kit.support.spec import Tool, ToolOutcome
from deskhand.tools.secrets.chat_secrets import ChatSecrets
from deskhand.tools.store.schema import StepRow

from .chat_tools import ChatTools
from .desktop_assignment import DesktopAssignment
from .toolbox import ChatToolbox
from .transcript import earlier_step, still_running, stored_outcome

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
        self._called: set[tuple[str, str]] = set()
        """Chat id and tool-call id of the calls that are running."""

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
        # Two requests with one id at the same time: the step of the first may not be written yet.
        called = (caller_chat_id, tool_call_id)
        if called in self._called:
            return still_running(tool_call_id)
        self._called.add(called)
        try:
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
                return await toolbox.outcome(ToolCall(tool_call_id, name, arguments))
        finally:
            self._called.discard(called)

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
