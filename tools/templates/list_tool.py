"""The tool that lists the templates of desktops."""

import asyncio

from deskhand.tools.kit.support.arguments import BadArguments, check_known, number, optional_text
from deskhand.tools.kit.support.spec import Json, ToolContext, ToolOutcome, ToolSpec

from .library import PAGE, TemplateLibrary, Uses, listed

SPEC = ToolSpec(
    "list_desktop_templates",
    "List the templates that an agent's desktop can be started with (template of "
    f"spawn_computer_use_agent), {PAGE} on a page, those that were used most first.",
    {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "Part of a name or description."},
            "page": {"type": "integer", "minimum": 1, "default": 1},
        },
    },
)


class ListTemplatesTool:
    """Lists templates; ``uses`` counts the chats of each."""

    def __init__(self, library: TemplateLibrary, uses: Uses) -> None:
        self._library = library
        self._uses = uses

    @property
    def spec(self) -> ToolSpec:
        """Name, description and argument schema, as sent to a model."""
        return SPEC

    async def call(self, arguments: Json, context: ToolContext) -> ToolOutcome:
        """Return one page."""
        try:
            check_known(arguments, SPEC.schema)
            query, page = optional_text(arguments, "query"), number(arguments, "page")
        except BadArguments as error:
            return ToolOutcome(error=str(error))
        wanted = query.strip().casefold()
        found = tuple(
            one
            for one in await asyncio.to_thread(self._library.all)
            if wanted in f"{one.name}\n{one.display_name}\n{one.description}".casefold()
        )
        return ToolOutcome(listed(found, await self._uses(), page))
