"""Steps of one chat as rows: written before a call and after it, and published each time."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from typing import Any

from sqlalchemy import Connection

from deskhand.tools.agents.chat_repository.joined_writes import JoinedWrites
from deskhand.tools.agents.chat_repository.repository import ChatRepository
from deskhand.tools.agents.costs.step_times import StepTimes
from deskhand.tools.agents.providers.port import RequestFigures
from deskhand.tools.conversation.conversation import Image, Text, ToolCall, ToolResult
from deskhand.tools.conversation.errors import CallBegun
from deskhand.tools.conversation.titles import step_title, withheld
from deskhand.tools.conversation.views import StepView
from deskhand.tools.kit.support.call_result import CallResult
from deskhand.tools.kit.support.human_control import HumanControlWaits
from deskhand.tools.kit.support.spec import Tool
from deskhand.tools.secrets.chat_secrets import ChatMask
from deskhand.tools.secrets.masking import masked_json
from deskhand.tools.store import chats, steps
from deskhand.tools.store.rows.reported_people import set_reported_person

from .transcript import result_to_json

Json = dict[str, Any]

# Characters that the recorder accepts in a step's name and error.
_LONGEST_NAME, _LONGEST_ERROR = 200, 10_000


class StepRecords:
    """Writes the steps of a chat that calls ``tools``."""

    def __init__(
        self,
        repository: ChatRepository,
        chat_id: str,
        tools: Mapping[str, Tool],
        mask: ChatMask,
        writes: JoinedWrites | None,
        control_waits: HumanControlWaits | None = None,
    ) -> None:
        """Take a chat; with the ``writes`` of its turn, ends are committed with what follows.

        The sessions of people that ``control_waits`` have reported are stored with the results.
        Outside of a turn a call id begins once: programs choose them, and repeat requests.
        """
        self._repository = repository
        self._joins = writes is not None
        self._writes = writes or JoinedWrites(repository.store)
        self._begun: dict[str, StepView] = {}
        """Steps whose calls run, by their ids."""
        self._chat_id = chat_id
        self._tools = tools
        self._mask = mask
        self._control_waits = control_waits
        self._times = StepTimes(repository.clock())
        self._waited = 0.0
        """Seconds for which calls have waited for approvals."""

    def add_wait(self, seconds: float) -> None:
        """Record that the call that runs has waited for a person."""
        self._waited += seconds

    async def begin(self, call: ToolCall) -> str:
        """Insert the step of a call that begins; return its id.

        Raises:
            CallBegun: If a call outside of a turn has the id of an earlier one.
        """
        arguments: Json = masked_json(call.arguments, self._mask.hide)
        # Whether the text goes into a password field is known only when it has been typed.
        if call.toolset and arguments == call.arguments:
            arguments = withheld(call.name, arguments)

        def work(connection: Connection) -> StepView:
            now = self._repository.now()
            turn = chats.count_change(connection, self._chat_id, now)[0]
            if not self._joins and steps.has_begun(connection, self._chat_id, turn, call.id):
                raise CallBegun(f"the call {call.id} has begun before")
            return steps.begin(
                connection,
                *(self._chat_id, turn),
                tool_call_id=call.id,
                tool=call.toolset or call.name,
                title=step_title(call.name, arguments),
                action=call.name if call.toolset else None,
                arguments=arguments,
                now=now,
                plane=None if self._joins else self._repository.plane,
            )

        view = await self._writes.write(work, self._publish)
        self._begun[view.id] = view
        return view.id

    async def end(
        self,
        call: ToolCall,
        step_id: str,
        call_result: CallResult,
        status: str = "done",
        *,
        request: RequestFigures | None = None,
    ) -> StepView:
        """Store the result of a step, in a turn with the next write; return the ended step.

        ``request`` is the request to the model that led to it, if no earlier step has that.

        Raises:
            UnknownRow: If it was deleted with its chat.
        """
        times = self._times.of_step(
            self._repository.clock(),
            self._waited + self._repository.waits.waited_seconds(self._chat_id),
            None if request is None else request.times,
            call_result.timings,
        )
        pictures = [b.file_id for b in call_result.result.content if isinstance(b, Image)]
        final = call_result.final_arguments
        targets = [
            one and one.masked(self._mask.hide_recorded) for one in call_result.outcome.targets
        ]
        ended = steps.StepEnd(
            "failed" if status == "done" and call_result.outcome.is_error else status,
            result_to_json(call_result.result),
            self._repository.now(),
            call_result.outcome.error,
            times,
            call_result.details,
            pictures[-1] if pictures else None,
            None if final is None else step_title(call.name, final),
            final,
            None if request is None else asdict(request.usage),
        )

        begun = self._begun.pop(step_id, None)
        mark = self._reported_person(status)

        def work(connection: Connection) -> StepView:
            chats.count_change(connection, self._chat_id, ended.ended_at)
            if mark is not None:
                set_reported_person(connection, self._chat_id, mark)
            view = steps.end(connection, step_id, ended)
            steps.add_targets(connection, step_id, targets)
            return view

        def stored(view: StepView) -> None:
            self._publish(view)
            known = call.toolset is not None or call.name in self._tools
            self._repository.tool_calls.add(view.tool, view.status, known=known)
            self._repository.costs.add_step(times)

        if begun is None or not self._joins:
            return await self._writes.write(work, stored)
        self._writes.add(work, stored)
        return _ended(begun, ended)

    def _reported_person(self, status: str) -> str | None:
        """Return the mark of a person's session to store with a step that ends."""
        if self._control_waits is None:
            return None
        if status == "interrupted":
            self._control_waits.take_back()
        # Of calls that run at once any may have the report: it is stored with the last result.
        return None if self._begun else self._control_waits.unstored()

    async def commit(self) -> None:
        """Commit what waits for the next write."""
        await self._writes.flush()

    async def illustrate(self, step_id: str, file_id: str) -> None:
        """Set the picture of a step."""
        self._writes.add(
            lambda connection: steps.illustrate(connection, step_id, file_id), self._publish
        )
        if not self._joins:
            await self.commit()

    def _publish(self, view: StepView) -> None:
        self._repository.hub.publish("step", self._chat_id, view.to_json())


def _ended(begun: StepView, end: steps.StepEnd) -> StepView:
    return replace(
        begun,
        title=end.title or begun.title,
        status=end.status,
        error=end.error,
        ended_at=end.ended_at,
    )


def recorder_step(step: StepView) -> Json:
    """Return a step in the form that the recorder of its desktop accepts."""
    return {
        "tool_call_id": step.tool_call_id,
        "chat_id": step.chat_id,
        "tool": step.tool[:_LONGEST_NAME],
        "title": step.title,
        "started": step.started_at,
        "ended": step.ended_at,
        "error": step.error and step.error[:_LONGEST_ERROR],
    }


def hidden_result(result: ToolResult, hide: Callable[[str], str]) -> ToolResult:
    """Mask the texts of a result."""
    content = tuple(
        replace(block, text=hide(block.text)) if isinstance(block, Text) else block
        for block in result.content
    )
    return replace(result, content=content)
