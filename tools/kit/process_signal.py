"""The tool that ends a process."""

from urllib.parse import quote

from deskhand.desktop.fields import Field, Fields, count, one_of, word
from deskhand.tools.kit.support.arguments import CheckedTool
from deskhand.tools.kit.support.process_result import Unreachable
from deskhand.tools.kit.support.spec import Json, ToolContext, ToolOutcome, ToolSpec

SIGNALS = ("terminate", "kill", "interrupt")

_SPEC = ToolSpec.of(
    "process_signal",
    "End a process that execute left running, with everything that it started. terminate asks "
    "it to end, kill forces it, interrupt is Ctrl+C. Prefer terminate, and kill what does not "
    "end by it.",
    Fields(
        {
            "process_id": Field(
                {"type": "string", "description": "The id that execute gave."}, word
            ),
            "signal": Field({"type": "string", "enum": list(SIGNALS)}, one_of(*SIGNALS)),
            "escalate_after_ms": Field(
                {
                    "type": "integer",
                    "description": "After a terminate: kill what is left so much later.",
                },
                count,
                0,
            ),
        },
        ("process_id", "signal"),
    ),
)


class ProcessSignalTool(CheckedTool):
    """Sends a signal to a whole process tree."""

    @property
    def spec(self) -> ToolSpec:
        """Name, description and argument schema, as sent to a model."""
        return _SPEC

    async def run(self, given: Json, context: ToolContext) -> ToolOutcome:
        """Send the signal, without waiting for the exit."""
        process_id, body = given["process_id"], {"signal": given["signal"]}
        # 0 is left out like a missing value: the process gets no second signal.
        if later := given["escalate_after_ms"]:
            body["escalate_after_ms"] = later
        try:
            response = await context.machine.request(
                "POST", f"/api/v0/processes/{quote(process_id, safe='')}/signal", json=body
            )
        except Unreachable as error:
            return ToolOutcome({"success": False, "error": f"signal process: {error}"})
        message = response.get("message", "") if isinstance(response, dict) else ""
        return ToolOutcome({"success": True, "message": message})
