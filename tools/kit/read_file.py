"""The tool that reads text files and lists directories."""

from deskhand.desktop.fields import Field, Fields, count, word
from deskhand.tools.kit.support.arguments import CheckedTool
from deskhand.tools.kit.support.process_result import Unreachable, json_object
from deskhand.tools.kit.support.spec import Json, ToolContext, ToolOutcome, ToolSpec
from deskhand.tools.kit.support.workdir_path import absolute_path

MOST_ENTRIES = 1_000

_SPEC = ToolSpec.of(
    "read_file",
    "Read a text file on this chat's machine with numbered lines, or list a directory. What "
    "does not fit in one answer is left out and the note says at which line to continue: page "
    "with offset and limit, files of any size. Read before you edit.",
    Fields(
        {
            "path": Field(
                {"type": "string", "description": "Absolute, or from the working directory."}, word
            ),
            "offset": Field(
                {"type": "integer", "description": "First line, from 1 on. Default 1."}, count, 0
            ),
            "limit": Field(
                {"type": "integer", "description": "How many lines. Default: what fits."}, count, 0
            ),
        },
        ("path",),
    ),
)


class ReadFileTool(CheckedTool):
    """Reads a range of lines of a file, or of the entries of a directory."""

    @property
    def spec(self) -> ToolSpec:
        """Name, description and argument schema, as sent to a model."""
        return _SPEC

    async def run(self, given: Json, context: ToolContext) -> ToolOutcome:
        """Read the file; if the path is a directory, list it."""
        offset, limit = given["offset"], given["limit"]
        # ``partial`` returns the lines that fit with a note, where the service would refuse a long
        # file.
        params = {"partial": "true"}
        params |= {"offset": str(offset)} if offset else {}
        params |= {"limit": str(limit)} if limit else {}
        try:
            params["path"] = path = await absolute_path(given["path"], context)
            response = json_object(
                await context.machine.request("GET", "/api/v0/read-file-lines", params=params)
            )
            if response.get("success"):
                return ToolOutcome({k: v for k, v in response.items() if k != "success"})
            error_text = str(response.get("error") or "the file could not be read")
            # The service reports a directory only in the text of the error.
            if "not a file" in error_text:
                listing = json_object(
                    await context.machine.request(
                        "POST", "/api/v0/list-directory", params={"path": path}, json={}
                    )
                )
                return _listed(listing, offset or 1, limit or MOST_ENTRIES)
        except Unreachable as error:
            return ToolOutcome(error=str(error))
        return ToolOutcome(error=error_text)


def _listed(listing: Json, offset: int, limit: int) -> ToolOutcome:
    # The service lists a directory whole, so pages are cut here, with the offsets of lines.
    entries = listing.get("contents") or []
    if offset > max(len(entries), 1):
        return ToolOutcome(
            error=f"offset {offset} is beyond the end: the directory has {len(entries)} entries"
        )
    page = entries[offset - 1 : offset - 1 + limit]
    names = [f"{entry['name']}{'/' if entry['is_dir'] else ''}" for entry in page]
    return ToolOutcome(
        {
            "is_directory": True,
            "absolute_path": listing.get("absolute_path"),
            "absolute_path_string": listing.get("absolute_path_string"),
            "content": "".join(f"{n}\t{name}\n" for n, name in enumerate(names, offset)),
            "entries_read": len(page),
            "total_entries": len(entries),
            "truncated": len(page) < len(entries),
        }
    )
