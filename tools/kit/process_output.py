"""The tool that reads the output and state of a process."""

from deskhand.desktop.fields import Field, Fields, any_text, duration, word
from deskhand.tools.kit.support.arguments import INTENT, CheckedTool
from deskhand.tools.kit.support.process_result import (
    Unreachable,
    read_output,
    result_fields,
    wait_output,
)
from deskhand.tools.kit.support.spec import Json, ToolContext, ToolOutcome, ToolSpec

_SPEC = ToolSpec.of(
    "process_output",
    "Get the output and the state of a process that execute left running. It waits for the "
    "process to exit, 10s by default; give a longer wait_timeout instead of asking again and "
    "again, or 0s to look without waiting.",
    Fields(
        {
            "process_id": Field(
                {"type": "string", "description": "The id that execute gave."}, word
            ),
            "wait_timeout": Field(
                {
                    "type": "string",
                    "description": "How long to wait for its exit, as 30s or 5m. Default 10s.",
                },
                duration,
                10.0,
            ),
            INTENT: Field(
                {
                    "type": "string",
                    "description": "What this is for, in a few words; shown to the user.",
                },
                any_text,
            ),
        },
        ("process_id",),
    ),
)


class ProcessOutputTool(CheckedTool):
    """Waits for the exit of a process up to a timeout, and returns its output."""

    @property
    def spec(self) -> ToolSpec:
        """Name, description and argument schema, as sent to a model."""
        return _SPEC

    async def run(self, given: Json, context: ToolContext) -> ToolOutcome:
        """Wait for the process and read its output."""
        # The machine ends a wait after 300 s (``LONGEST_WAIT_MS``), whatever the request names.
        seconds = min(given["wait_timeout"], 300.0)
        try:
            response = await self._response(context, given["process_id"], seconds)
        except Unreachable as error:
            return ToolOutcome({"success": False, "error": f"get process output: {error}"})
        result = result_fields(response)
        if response.get("running"):
            result["note"] = "process is still running"
        return ToolOutcome(result)

    @staticmethod
    async def _response(context: ToolContext, process_id: str, seconds: float) -> Json:
        if not seconds:
            return await read_output(context, process_id)
        try:
            return await wait_output(context, process_id, seconds)
        except Unreachable:
            # A long wait may break where a short request still succeeds.
            return await read_output(context, process_id)
