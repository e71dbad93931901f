"""The tool that saves the run of a subagent as a playbook."""

from typing import Protocol

from deskhand.desktop.fields import Field, Fields, filled_text, optional_word, spoken_flag
from deskhand.tools.kit.support.arguments import CheckedTool
from deskhand.tools.kit.support.spec import Json, ToolContext, ToolOutcome, ToolSpec

_SPEC = ToolSpec.of(
    "save_playbook",
    "Save what an agent of yours did as a playbook, which can be replayed without a model, and "
    "return its YAML. Do it after a run that did the task well and will be needed again.",
    Fields(
        {
            "chat_id": Field(
                {"type": "string", "description": "The agent, which has ended its work."},
                filled_text,
            ),
            "name": Field(
                {
                    "type": "string",
                    "description": "Of a-z, 0-9, - and _; by default made of the title.",
                },
                optional_word,
            ),
            "replace": Field(
                {
                    "type": "boolean",
                    "description": "Replace a playbook of that name. Default false.",
                },
                spoken_flag,
                False,
            ),
        },
        ("chat_id",),
    ),
)


class SavedPlaybooks(Protocol):
    """Saving of runs for an agent."""

    async def save_for(
        self, caller: str, chat_id: str, name: str | None, *, replace: bool
    ) -> tuple[str, str]:
        """Save the run of a child of ``caller``; return name and YAML, or raise ``ValueError``."""


class SavePlaybookTool(CheckedTool):
    """Saves runs as playbooks."""

    def __init__(self, playbooks: SavedPlaybooks) -> None:
        self._playbooks = playbooks

    @property
    def spec(self) -> ToolSpec:
        """Name, description and argument schema, as sent to a model."""
        return _SPEC

    async def run(self, given: Json, context: ToolContext) -> ToolOutcome:
        """Save a run."""
        try:
            name, written = await self._playbooks.save_for(
                context.chat_id, given["chat_id"], given["name"], replace=given["replace"]
            )
        except ValueError as error:
            return ToolOutcome(error=str(error))
        return ToolOutcome({"name": name, "yaml": written})
