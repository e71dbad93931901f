"""The tool that writes whole files."""

from deskhand.tools.kit.support.arguments import BadArguments, optional_text, text
from deskhand.tools.kit.support.process_result import Unreachable
from deskhand.tools.kit.support.spec import Json, ToolContext, ToolOutcome, ToolSpec
from deskhand.tools.kit.support.workdir_path import absolute_path

_SPEC = ToolSpec(
    "write_file",
    "Write a file on this chat's machine: a new one, or all of an old one anew. Missing "
    "directories are made. To change parts of a file use edit_files.",
    {
        "type": "object",
        "properties": {
            "path": {
                "type": "string",
                "description": "Absolute, or from the working directory.",
            },
            "content": {"type": "string", "description": "The whole content."},
        },
        "required": ["path", "content"],
    },
)


class WriteFileTool:
    """Writes the whole content of a file."""

    @property
    def spec(self) -> ToolSpec:
        """Name, description and argument schema, as sent to a model."""
        return _SPEC

    async def call(self, arguments: Json, context: ToolContext) -> ToolOutcome:
        """Write the file."""
        try:
            path = text(arguments, "path").strip()
            content = optional_text(arguments, "content").encode()
        except (BadArguments, UnicodeEncodeError) as error:
            return ToolOutcome(error=str(error))
        try:
            params = {"path": await absolute_path(path, context)}
            await context.machine.request(
                "POST", "/api/v0/write-file", params=params, content=content
            )
        except Unreachable as error:
            return ToolOutcome.of_error(error)
        return ToolOutcome({"ok": True})
