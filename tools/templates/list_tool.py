"""The tool that lists the templates of desktops."""

import asyncio

from deskhand.desktop.fields import Field, Fields, any_text, count
from deskhand.tools.kit.support.arguments import CheckedTool
from deskhand.tools.kit.support.spec import Json, ToolContext, ToolOutcome, ToolSpec

from .library import PAGE, TemplateLibrary, Uses, listed

SPEC = ToolSpec.of(
    "list_desktop_templates",
    "List the templates that an agent's desktop can be started with (template of "
    f"spawn_computer_use_agent), {PAGE} on a page, those that were used most first.",
    Fields(
        {
            "query": Field(
                {"type": "string", "description": "Part of a name or description."}, any_text, ""
            ),
            "page": Field({"type": "integer", "minimum": 1, "default": 1}, count, 0),
        }
    ),
)


class ListTemplatesTool(CheckedTool):
    """Lists templates; ``uses`` counts the chats of each."""

    def __init__(self, library: TemplateLibrary, uses: Uses) -> None:
        self._library = library
        self._uses = uses

    @property
    def spec(self) -> ToolSpec:
        """Name, description and argument schema, as sent to a model."""
        return SPEC

    async def run(self, given: Json, context: ToolContext) -> ToolOutcome:
        """Return one page."""
        wanted = given["query"].strip().casefold()
        found = tuple(
            one
            for one in await asyncio.to_thread(self._library.all)
            if wanted in f"{one.name}\n{one.display_name}\n{one.description}".casefold()
        )
        return ToolOutcome(listed(found, await self._uses(), given["page"]))
