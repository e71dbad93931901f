"""The tool that lists a chat's processes."""

from deskhand.desktop.fields import Fields
from deskhand.tools.kit.support.arguments import CheckedTool
from deskhand.tools.kit.support.process_result import Unreachable
from deskhand.tools.kit.support.spec import Json, ToolContext, ToolOutcome, ToolSpec

_SPEC = ToolSpec.of(
    "process_list",
    "List the processes that this chat started on its machine, running ones first, with ids, "
    "commands and exit codes. Use it when an id is lost or to see what still runs.",
    Fields({}),
)


class ProcessListTool(CheckedTool):
    """Returns the machine's list of processes unchanged."""

    @property
    def spec(self) -> ToolSpec:
        """Name, description and argument schema, as sent to a model."""
        return _SPEC

    async def run(self, given: Json, context: ToolContext) -> ToolOutcome:
        """Request the list."""
        try:
            response = await context.machine.request(
                # The machine's default of 10 would hide processes whose ids the model has lost.
                "GET",
                "/api/v0/processes/list",
                params={"limit": "50"},
            )
        except Unreachable as error:
            return ToolOutcome(error=f"list processes: {error}")
        return ToolOutcome(response)
