"""The tools of the group files, as requests to the file routes of a desktop."""

from collections.abc import Iterable

from deskhand.desktop.mcp.errors import McpError
from deskhand.desktop.mcp.ports import DesktopRequests
from deskhand.desktop.mcp.tool import Json, McpResult

from .tool_results import result_of

MOST_ENTRIES = 1_000
USUAL_FINDS, MOST_FINDS = 50, 200


class FileCalls:
    """Reads and changes files of one desktop, with arguments as the table reads them."""

    def __init__(self, desktop: DesktopRequests) -> None:
        self._desktop = desktop

    async def read_file(self, arguments: Json) -> McpResult:
        """Read lines of a file, or list a directory."""
        path, offset, limit = arguments["path"], arguments["offset"], arguments["limit"]
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
        await self._desktop.request(
            "POST",
            "/api/v0/write-file",
            params={"path": arguments["path"]},
            content=arguments["content"].encode(),
        )
        return result_of("write_file", {"ok": True})

    async def edit_files(self, arguments: Json) -> McpResult:
        """Replace texts in files, all or none."""
        body = {"files": _by_file(arguments["edits"]), "include_diff": True}
        reply = await self._desktop.request("POST", "/api/v0/edit-files", json=body)
        return result_of("edit_files", {"ok": True, "files": reply.get("files") or []})

    async def search_files(self, arguments: Json) -> McpResult:
        """Find lines or files."""
        kept = ("path", "pattern", "literal", "ignore_case", "offset")
        body: Json = {
            **{name: arguments[name] for name in kept},
            "globs": [line for line in arguments["glob"].splitlines() if line.strip()],
            "limit": min(arguments["limit"] or USUAL_FINDS, MOST_FINDS),
        }
        if not body["pattern"] and not body["globs"]:
            raise McpError("pattern or glob is required")
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


def _by_file(edits: Iterable[Json]) -> list[Json]:
    files: dict[str, list[Json]] = {}
    for edit in edits:
        texts = {name: value for name, value in edit.items() if name != "path"}
        files.setdefault(edit["path"], []).append(texts)
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
