"""The tool that writes whole files."""

from deskhand.desktop.fields import Field, Fields, any_text, word
from deskhand.tools.kit.support.arguments import CheckedTool
from deskhand.tools.kit.support.process_result import Unreachable
from deskhand.tools.kit.support.spec import Json, ToolContext, ToolOutcome, ToolSpec
from deskhand.tools.kit.support.workdir_path import absolute_path

_SPEC = ToolSpec.of(
    "write_file",
    "Write a file on this chat's machine: a new one, or all of an old one anew. Missing "
    "directories are made. To change parts of a file use edit_files.",
    Fields(
        {
            "path": Field(
                {"type": "string", "description": "Absolute, or from the working directory."}, word
            ),
            "content": Field({"type": "string", "description": "The whole content."}, any_text),
        },
        ("path", "content"),
    ),
)


class WriteFileTool(CheckedTool):
    """Writes the whole content of a file."""

    @property
    def spec(self) -> ToolSpec:
        """Name, description and argument schema, as sent to a model."""
        return _SPEC

    async def run(self, given: Json, context: ToolContext) -> ToolOutcome:
        """Write the file."""
        try:
            params = {"path": await absolute_path(given["path"], context)}
            content = given["content"].encode()
            await context.machine.request(
                "POST", "/api/v0/write-file", params=params, content=content
            )
        except Unreachable as error:
            return ToolOutcome.of_error(error)
        return ToolOutcome({"ok": True})
