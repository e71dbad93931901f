"""The tool that finds lines and files in a tree."""

from deskhand.desktop.fields import Field, Fields, any_text, count, spoken_flag, word
from deskhand.tools.kit.support.arguments import CheckedTool, unusable
from deskhand.tools.kit.support.process_result import Unreachable
from deskhand.tools.kit.support.spec import Json, ToolContext, ToolOutcome, ToolSpec
from deskhand.tools.kit.support.workdir_path import absolute_path

USUAL_LIMIT = 50
MOST = 200
PATIENCE = 30.0
"""Timeout in seconds. After 10 s the machine returns the matches that it has found so far."""

_SPEC = ToolSpec.of(
    "search_files",
    "Find text in the files of a directory on this chat's machine by a regular expression, or "
    "find files by name with a glob alone. What git ignores is left out, hidden files are not. "
    "Use it instead of grep, rg or find: it answers with paths and line numbers for read_file "
    "and edit_files, and pages with offset.",
    Fields(
        {
            "path": Field(
                {
                    "type": "string",
                    "description": "Directory or one file; absolute, or from the working "
                    "directory.",
                },
                word,
            ),
            "pattern": Field(
                {
                    "type": "string",
                    "description": "Regular expression, looked for line by line. Leave it out to "
                    "list the files that the glob fits.",
                },
                any_text,
                "",
            ),
            "glob": Field(
                {
                    "type": "string",
                    "description": "Which files, as in .gitignore: *.py, src/**/*.{c,h}; with ! in "
                    "front which not. Several: one a line.",
                },
                any_text,
                "",
            ),
            "literal": Field(
                {"type": "boolean", "description": "The pattern is plain text."}, spoken_flag, False
            ),
            "ignore_case": Field(
                {"type": "boolean", "description": "Upper and lower case alike."},
                spoken_flag,
                False,
            ),
            "offset": Field(
                {"type": "integer", "description": "How many finds to skip. Default 0."}, count, 0
            ),
            "limit": Field(
                {
                    "type": "integer",
                    "description": f"How many finds at most. Default {USUAL_LIMIT}, most {MOST}.",
                },
                count,
                0,
            ),
        },
        ("path",),
    ),
)


class SearchFilesTool(CheckedTool):
    """Searches files and returns one page of matches, one on each line."""

    @property
    def spec(self) -> ToolSpec:
        """Name, description and argument schema, as sent to a model."""
        return _SPEC

    async def run(self, given: Json, context: ToolContext) -> ToolOutcome:
        """Run the search."""
        body = _body(given)
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


def _body(given: Json) -> Json:
    body: Json = {
        **{name: given[name] for name in ("path", "pattern", "literal", "ignore_case", "offset")},
        "globs": [line for line in given["glob"].splitlines() if line.strip()],
        "limit": min(given["limit"] or USUAL_LIMIT, MOST),
    }
    if not body["pattern"] and not body["globs"]:
        raise unusable("pattern", "pattern is required unless glob says which files to list")
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
