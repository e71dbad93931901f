"""Steps of one chat as rows: written before a call and after it, and published each time."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.conversation.conversation import Image, ToolCall
from deskhand.tools.conversation.titles import step_title, withheld
from deskhand.tools.conversation.views import StepView
from deskhand.tools.kit.support.call_result import CallResult
from deskhand.tools.kit.support.spec import Tool
from deskhand.tools.secrets.chat_secrets import ChatMask
from deskhand.tools.secrets.masking import masked_json
from deskhand.tools.store import chats, steps

from .repository import ChatRepository
from .transcript import result_to_json

Json = dict[str, Any]


class StepRecords:
    """Writes the steps of a chat that calls ``tools``."""

    def __init__(
        self, repository: ChatRepository, chat_id: str, tools: Mapping[str, Tool], mask: ChatMask
    ) -> None:
        self._repository = repository
        self._chat_id = chat_id
        self._tools = tools
        self._mask = mask

    async def begin(self, call: ToolCall) -> str:
        """Insert the step of a call that begins; return its id."""
        arguments: Json = masked_json(call.arguments, self._mask.hide)
        # Whether the text goes into a password field is known only when it has been typed.
        if call.toolset and arguments == call.arguments:
            arguments = withheld(call.name, arguments)

        def work(connection: Connection) -> StepView:
            now = self._repository.now()
            return steps.begin(
                connection,
                self._chat_id,
                chats.count_change(connection, self._chat_id, now),
                tool_call_id=call.id,
                tool=call.toolset or call.name,
                title=step_title(call.name, arguments),
                action=call.name if call.toolset else None,
                arguments=arguments,
                now=now,
            )

        view = await self._repository.store.write_short(work)
        self._repository.hub.publish("step", self._chat_id, view.to_json())
        return view.id

    async def end(
        self, call: ToolCall, step_id: str, call_result: CallResult, status: str = "done"
    ) -> StepView:
        """Store the result of a step; raise ``UnknownRow`` if it was deleted with its chat."""
        pictures = [b.file_id for b in call_result.result.content if isinstance(b, Image)]
        final = call_result.final_arguments

        def work(connection: Connection) -> StepView:
            now = self._repository.now()
            ended = steps.StepEnd(
                "failed" if status == "done" and call_result.outcome.is_error else status,
                result_to_json(call_result.result),
                now,
                call_result.outcome.error,
                call_result.timings,
                call_result.details,
                pictures[-1] if pictures else None,
                None if final is None else step_title(call.name, final),
                final,
            )
            chats.count_change(connection, self._chat_id, now)
            return steps.end(connection, step_id, ended)

        view = await self._repository.store.write_short(work)
        self._repository.hub.publish("step", self._chat_id, view.to_json())
        known = call.toolset is not None or call.name in self._tools
        self._repository.tool_calls.add(view.tool, view.status, known=known)
        return view

    async def illustrate(self, step_id: str, file_id: str) -> None:
        """Set the picture of a step."""

        async def work(session: AsyncSession) -> StepView:
            return steps.view(await steps.illustrate(session, step_id, file_id))

        view = await self._repository.store.write(work)
        self._repository.hub.publish("step", self._chat_id, view.to_json())
