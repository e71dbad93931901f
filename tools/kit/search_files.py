"""The tool that finds lines and files in a tree."""

from deskhand.tools.kit.support.arguments import BadArguments, flag, number, optional_text, text
from deskhand.tools.kit.support.process_result import Unreachable
from deskhand.tools.kit.support.spec import Json, ToolContext, ToolOutcome, ToolSpec
from deskhand.tools.kit.support.workdir_path import absolute_path

USUAL_LIMIT = 50
MOST = 200
PATIENCE = 30.0
"""Timeout in seconds. After 10 s the machine returns the matches that it has found so far."""

_SPEC = ToolSpec(
    "search_files",
    "Find text in the files of a directory on this chat's machine by a regular expression, or "
    "find files by name with a glob alone. What git ignores is left out, hidden files are not. "
    "Use it instead of grep, rg or find: it answers with paths and line numbers for read_file "
    "and edit_files, and pages with offset.",
    {
        "type": "object",
        "properties": {
            "path": {
                "type": "string",
                "description": "Directory or one file; absolute, or from the working directory.",
            },
            "pattern": {
                "type": "string",
                "description": "Regular expression, looked for line by line. Leave it out to "
                "list the files that the glob fits.",
            },
            "glob": {
                "type": "string",
                "description": "Which files, as in .gitignore: *.py, src/**/*.{c,h}; with ! in "
                "front which not. Several: one a line.",
            },
            "literal": {"type": "boolean", "description": "The pattern is plain text."},
            "ignore_case": {"type": "boolean", "description": "Upper and lower case alike."},
            "offset": {"type": "integer", "description": "How many finds to skip. Default 0."},
            "limit": {
                "type": "integer",
                "description": f"How many finds at most. Default {USUAL_LIMIT}, most {MOST}.",
            },
        },
        "required": ["path"],
    },
)


class SearchFilesTool:
    """Searches files and returns one page of matches, one on each line."""

    @property
    def spec(self) -> ToolSpec:
        """Name, description and argument schema, as sent to a model."""
        return _SPEC

    async def call(self, arguments: Json, context: ToolContext) -> ToolOutcome:
        """Run the search."""
        try:
            body = _body(arguments)
        except BadArguments as error:
            return ToolOutcome(error=str(error))
        try:
            body["path"] = await absolute_path(body["path"], context)
            response = await context.machine.request(
                "POST", "/api/v0/search", json=body, timeout=PATIENCE
            )
        except Unreachable as error:
            return ToolOutcome(error=str(error))
        if not isinstance(response, dict):
            return ToolOutcome(error="the machine's answer is not JSON")
        return ToolOutcome(_result(response))


def _body(arguments: Json) -> Json:
    body: Json = {
        "path": text(arguments, "path").strip(),
        "pattern": optional_text(arguments, "pattern"),
        "globs": [line for line in optional_text(arguments, "glob").splitlines() if line.strip()],
        "literal": flag(arguments, "literal"),
        "ignore_case": flag(arguments, "ignore_case"),
        "offset": number(arguments, "offset"),
        "limit": min(number(arguments, "limit") or USUAL_LIMIT, MOST),
    }
    if not body["pattern"] and not body["globs"]:
        raise BadArguments("pattern is required unless glob says which files to list")
    return body


def _result(response: Json) -> Json:
    result: Json = {
        "content": "\n".join(_line(match) for match in response.get("matches") or []),
        "count": response.get("count", 0),
    }
    notes = []
    if response.get("has_more"):
        notes.append(f"There is more: continue with offset={response.get('next_offset')}.")
    if response.get("timed_out"):
        notes.append("The search took too long and was ended: narrow path, glob or pattern.")
    if notes:
        result["note"] = " ".join(notes)
    return result


def _line(match: Json) -> str:
    if "line" not in match:
        return str(match["path"])
    # The form of ``grep -n``, which models know.
    return f"{match['path']}:{match['line']}: {match['text']}"
