"""The tool that reads the output and state of a process."""

from deskhand.tools.kit.support.arguments import BadArguments, duration, text
from deskhand.tools.kit.support.process_result import (
    Unreachable,
    read_output,
    result_fields,
    wait_output,
)
from deskhand.tools.kit.support.spec import Json, ToolContext, ToolOutcome, ToolSpec

_SPEC = ToolSpec(
    "process_output",
    "Get the output and the state of a process that execute left running. It waits for the "
    "process to exit, 10s by default; give a longer wait_timeout instead of asking again and "
    "again, or 0s to look without waiting.",
    {
        "type": "object",
        "properties": {
            "process_id": {"type": "string", "description": "The id that execute gave."},
            "wait_timeout": {
                "type": "string",
                "description": "How long to wait for its exit, as 30s or 5m. Default 10s.",
            },
            "model_intent": {
                "type": "string",
                "description": "What this is for, in a few words; shown to the user.",
            },
        },
        "required": ["process_id"],
    },
)


class ProcessOutputTool:
    """Waits for the exit of a process up to a timeout, and returns its output."""

    @property
    def spec(self) -> ToolSpec:
        """Name, description and argument schema, as sent to a model."""
        return _SPEC

    async def call(self, arguments: Json, context: ToolContext) -> ToolOutcome:
        """Wait for the process and read its output."""
        try:
            process_id = text(arguments, "process_id").strip()
            # The machine ends a wait after 300 s (``LONGEST_WAIT_MS``), whatever the request names.
            seconds = min(duration(arguments, "wait_timeout", "10s"), 300.0)
        except BadArguments as error:
            return ToolOutcome(error=str(error))
        try:
            response = await self._response(context, process_id, seconds)
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
