"""The tools of the group files, as requests to the file routes of a desktop."""

import json
from typing import Any

from deskhand.desktop.mcp.errors import BadMcpArguments
from deskhand.desktop.mcp.ports import DesktopRequests
from deskhand.desktop.mcp.tool import Json, McpResult

from .arguments import flag, number, text
from .tool_results import result_of

MOST_ENTRIES = 1_000
USUAL_FINDS, MOST_FINDS = 50, 200


class FileCalls:
    """Reads and changes files of one desktop."""

    def __init__(self, desktop: DesktopRequests) -> None:
        self._desktop = desktop

    async def read_file(self, arguments: Json) -> McpResult:
        """Read lines of a file, or list a directory."""
        path = text(arguments, "path").strip()
        offset, limit = number(arguments, "offset"), number(arguments, "limit")
        params = {"path": path, "partial": "true"}
        params |= {"offset": str(offset)} if offset else {}
        params |= {"limit": str(limit)} if limit else {}
        reply = await self._desktop.request("GET", "/api/v0/read-file-lines", params=params)
        if reply.get("success"):
            return result_of("read_file", {k: v for k, v in reply.items() if k != "success"})
        error = str(reply.get("error") or "the file could not be read")
        # The service reports a directory only in the text of the error.
        if "not a file" not in error:
            return result_of("read_file", {}, error)
        listing = await self._desktop.request(
            "POST", "/api/v0/list-directory", params={"path": path}, json={}
        )
        return _listed(listing.get("contents") or [], offset or 1, limit or MOST_ENTRIES)

    async def write_file(self, arguments: Json) -> McpResult:
        """Write a whole file."""
        path = text(arguments, "path").strip()
        content = arguments.get("content")
        if not isinstance(content, str):
            raise BadMcpArguments("content must be a text")
        await self._desktop.request(
            "POST",
            "/api/v0/write-file",
            params={"path": path},
            content=content.encode("utf-8", "replace"),
        )
        return result_of("write_file", {"ok": True})

    async def edit_files(self, arguments: Json) -> McpResult:
        """Replace texts in files, all or none."""
        body = {"files": _by_file(_edits(arguments)), "include_diff": True}
        reply = await self._desktop.request("POST", "/api/v0/edit-files", json=body)
        return result_of("edit_files", {"ok": True, "files": reply.get("files") or []})

    async def search_files(self, arguments: Json) -> McpResult:
        """Find lines or files."""
        limit = min(number(arguments, "limit") or USUAL_FINDS, MOST_FINDS)
        glob = text(arguments, "glob", required=False)
        body: Json = {
            "path": text(arguments, "path").strip(),
            "pattern": text(arguments, "pattern", required=False),
            "globs": [line for line in glob.splitlines() if line.strip()],
            "literal": flag(arguments, "literal"),
            "ignore_case": flag(arguments, "ignore_case"),
            "offset": number(arguments, "offset"),
            "limit": limit,
        }
        if not body["pattern"] and not body["globs"]:
            raise BadMcpArguments("pattern or glob is required")
        reply = await self._desktop.request("POST", "/api/v0/search", json=body)
        return result_of("search_files", _finds(reply))


def _listed(entries: list[Json], offset: int, limit: int) -> McpResult:
    page = entries[offset - 1 : offset - 1 + limit]
    lines = [
        f"{number}\t{entry['name']}{'/' if entry.get('is_dir') else ''}"
        for number, entry in enumerate(page, offset)
    ]
    value = {
        "is_directory": True,
        "content": "\n".join(lines),
        "total_entries": len(entries),
        "truncated": len(page) < len(entries),
    }
    return result_of("read_file", value)


def _edits(arguments: Json) -> list[Any]:
    edits = arguments.get("edits")
    # Some models send nested JSON as a text.
    if isinstance(edits, str):
        try:
            edits = json.loads(edits)
        except ValueError:
            edits = None
    if not isinstance(edits, list) or not edits:
        raise BadMcpArguments("edits must be a list of objects with path, old_text and new_text")
    for position, edit in enumerate(edits):
        if not isinstance(edit, dict) or not isinstance(edit.get("path"), str):
            raise BadMcpArguments(f"edits[{position}] must be an object with a path")
    return edits


def _by_file(edits: list[Any]) -> list[Json]:
    files: dict[str, list[Json]] = {}
    for edit in edits:
        files.setdefault(edit["path"].strip(), []).append(
            {
                "old_text": edit.get("old_text"),
                "new_text": edit.get("new_text"),
                "replace_all": bool(edit.get("replace_all")),
            }
        )
    return [{"path": path, "edits": entries} for path, entries in files.items()]


def _finds(reply: Json) -> Json:
    lines = [
        f"{one['path']}:{one['line']}: {one['text']}" if "line" in one else str(one["path"])
        for one in reply.get("matches") or []
    ]
    value: Json = {"content": "\n".join(lines), "count": int(reply.get("count") or 0)}
    notes = []
    if reply.get("has_more"):
        notes.append(f"There is more: continue with offset={reply.get('next_offset')}.")
    if reply.get("timed_out"):
        notes.append("The search was ended early: narrow path, glob or pattern.")
    return value | ({"note": " ".join(notes)} if notes else {})
