"""The tool that reads the screen as text."""

from deskhand.desktop.fields import Field, Fields, count, spoken_flag
from deskhand.tools.kit.support.arguments import CheckedTool
from deskhand.tools.kit.support.process_result import Unreachable
from deskhand.tools.kit.support.spec import Json, ToolContext, ToolOutcome, ToolSpec

PATIENCE = 25.0
"""Timeout in seconds. A desktop returns what it has of a tree after 5 s, and may start first."""

_SPEC = ToolSpec.of(
    "read_screen",
    "Read what the windows on your screen show as text: one line a widget, with its role, name, "
    "ref and the point of its middle for the computer tool. It is exact and takes fewer tokens "
    "than a screenshot of a page with much text. A canvas, a picture or a terminal shows nothing "
    "here: take a screenshot of them.",
    Fields(
        {
            "interactive": Field(
                {
                    "type": "boolean",
                    "description": "Only what takes clicks or keys. Default false.",
                },
                spoken_flag,
                False,
            ),
            "offset": Field(
                {
                    "type": "integer",
                    "description": "The line to begin with, where a note names one. Default 0.",
                },
                count,
                0,
            ),
        }
    ),
)


class ReadScreenTool(CheckedTool):
    """Reads one page of the widgets on the screen, one on each line."""

    @property
    def spec(self) -> ToolSpec:
        """Name, description and argument schema, as sent to a model."""
        return _SPEC

    async def run(self, given: Json, context: ToolContext) -> ToolOutcome:
        """Read the widgets."""
        params = {name: str(given[name]).lower() for name in ("interactive", "offset")}
        try:
            page = await context.machine.request(
                "GET", "/api/v0/desktop/accessibility/text", params=params, timeout=PATIENCE
            )
        except Unreachable as error:
            return ToolOutcome(error=str(error))
        if not isinstance(page, dict):
            return ToolOutcome(error="the machine's answer is not JSON")
        return ToolOutcome(_result(page))


def _result(page: Json) -> Json:
    notes = [str(page["note"])] if "note" in page else []
    if not page.get("complete", True):
        cut = ", ".join(map(str, page.get("cut", ())))
        notes.append(f"The text is not complete: limits of {cut or 'time'} were reached.")
    if "next_offset" in page:
        notes.append(f"There is more: continue with offset={page['next_offset']}.")
    result: Json = {"content": page.get("text", "")}
    return result | ({"note": " ".join(notes)} if notes else {})
