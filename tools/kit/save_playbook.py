"""The tool that saves the run of a subagent as a playbook."""

from typing import Protocol

from deskhand.tools.kit.support.arguments import BadArguments, check_known, flag, text
from deskhand.tools.kit.support.spec import Json, ToolContext, ToolOutcome, ToolSpec

_SPEC = ToolSpec(
    "save_playbook",
    "Save what an agent of yours did as a playbook, which can be replayed without a model, and "
    "return its YAML. Do it after a run that did the task well and will be needed again.",
    {
        "type": "object",
        "properties": {
            "chat_id": {"type": "string", "description": "The agent, which has ended its work."},
            "name": {
                "type": "string",
                "description": "Of a-z, 0-9, - and _; by default made of the title.",
            },
            "replace": {
                "type": "boolean",
                "description": "Replace a playbook of that name. Default false.",
            },
        },
        "required": ["chat_id"],
    },
)


class SavedPlaybooks(Protocol):
    """Saving of runs for an agent."""

    async def save_for(
        self, caller: str, chat_id: str, name: str | None, *, replace: bool
    ) -> tuple[str, str]:
        """Save the run of a child of ``caller``; return name and YAML, or raise ``ValueError``."""


class SavePlaybookTool:
    """Saves runs as playbooks."""

    def __init__(self, playbooks: SavedPlaybooks) -> None:
        self._playbooks = playbooks

    @property
    def spec(self) -> ToolSpec:
        """Name, description and argument schema, as sent to a model."""
        return _SPEC

    async def call(self, arguments: Json, context: ToolContext) -> ToolOutcome:
        """Save a run."""
        try:
            check_known(arguments, _SPEC.schema)
            chat_id, replace = text(arguments, "chat_id"), flag(arguments, "replace")
            wanted = text(arguments, "name") if arguments.get("name") else None
            name, written = await self._playbooks.save_for(
                context.chat_id, chat_id, wanted, replace=replace
            )
        except (BadArguments, ValueError) as error:
            return ToolOutcome(error=str(error))
        return ToolOutcome({"name": name, "yaml": written})
