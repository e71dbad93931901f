"""The tool that ends a process."""

from urllib.parse import quote

from deskhand.tools.kit.support.arguments import BadArguments, number, optional_text, text
from deskhand.tools.kit.support.process_result import Unreachable
from deskhand.tools.kit.support.spec import Json, ToolContext, ToolOutcome, ToolSpec

SIGNALS = ("terminate", "kill", "interrupt")

_SPEC = ToolSpec(
    "process_signal",
    "End a process that execute left running, with everything that it started. terminate asks "
    "it to end, kill forces it, interrupt is Ctrl+C. Prefer terminate, and kill what does not "
    "end by it.",
    {
        "type": "object",
        "properties": {
            "process_id": {"type": "string", "description": "The id that execute gave."},
            "signal": {"type": "string", "enum": list(SIGNALS)},
            "escalate_after_ms": {
                "type": "integer",
                "description": "After a terminate: kill what is left so much later.",
            },
        },
        "required": ["process_id", "signal"],
    },
)


class ProcessSignalTool:
    """Sends a signal to a whole process tree."""

    @property
    def spec(self) -> ToolSpec:
        """Name, description and argument schema, as sent to a model."""
        return _SPEC

    async def call(self, arguments: Json, context: ToolContext) -> ToolOutcome:
        """Send the signal, without waiting for the exit."""
        try:
            process_id = text(arguments, "process_id").strip()
            name = optional_text(arguments, "signal").strip()
            if name not in SIGNALS:
                raise BadArguments(f'signal must be terminate, kill or interrupt, not "{name}"')
            body: Json = {"signal": name}
            # 0 is left out like a missing value: the process gets no second signal.
            if later := number(arguments, "escalate_after_ms"):
                body["escalate_after_ms"] = later
        except BadArguments as error:
            return ToolOutcome(error=str(error))
        try:
            response = await context.machine.request(
                "POST", f"/api/v0/processes/{quote(process_id, safe='')}/signal", json=body
            )
        except Unreachable as error:
            return ToolOutcome({"success": False, "error": f"signal process: {error}"})
        message = response.get("message", "") if isinstance(response, dict) else ""
        return ToolOutcome({"success": True, "message": message})
