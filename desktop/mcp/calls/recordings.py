"""The tool of the group record, as requests to the recording routes of a desktop."""

import hashlib
import uuid
from collections.abc import Callable, Mapping
from typing import Any

from deskhand.desktop.mcp.errors import McpError
from deskhand.desktop.mcp.ports import DesktopRequests
from deskhand.desktop.mcp.tool import Json, McpResult

DESKTOP = "/api/v0/desktop"
SCHEME = "deskhand://"
STOP_SECONDS = 45.0
LONGEST_LABEL = 2000
_DIGITS = 12
"""Length of the last group of a UUID."""


class RecordingCalls:
    """Starts, stops and lists recordings of one desktop.

    ``link`` turns a path of the desktop's API into an address for people. A caller ends only its
    own recordings: their ids end with a digest of its ``key``, as nothing is remembered.
    """

    def __init__(
        self,
        desktop: DesktopRequests,
        key: str,
        link: Callable[[str], str] = str,
        new_id: Callable[[], str] = lambda: str(uuid.uuid4()),
    ) -> None:
        self._desktop = desktop
        self._own = hashlib.sha256(key.encode()).hexdigest()[:_DIGITS]
        self._link = link
        self._new_id = new_id

    async def recording(self, arguments: Json) -> McpResult:
        """Start or stop a recording, or list all."""
        action = arguments["action"]
        running = [one for one in await self.listed() if self._is_own(one) and one["active"]]
        if action == "start":
            return await self._start(arguments["label"], running)
        if action == "stop":
            return await self._stop(running)
        listed = await self.listed()
        lines = [f"{len(listed)} recordings.", *(_line(one) for one in listed)]
        return McpResult("\n".join(lines), {"recordings": listed})

    async def listed(self) -> list[Json]:
        """Return the recordings, newest first, with links."""
        reply = await self._desktop.request("GET", f"{DESKTOP}/recordings")
        return [self._facts(one) for one in reply.get("recordings") or []]

    async def resource(self, recording_id: str) -> str:
        """Return the steps of a recording as text, with links."""
        listed = await self.listed()
        found = next((one for one in listed if one["id"] == recording_id), None)
        if found is None:
            raise McpError(f"there is no recording {recording_id[:80]}")
        reply = await self._desktop.request("GET", f"{DESKTOP}/recordings/{recording_id}")
        steps = [_step(number, one) for number, one in enumerate(reply.get("steps") or [], 1)]
        return "\n".join([_line(found), f"{len(steps)} steps:", *steps])

    async def _start(self, label: str, running: list[Json]) -> McpResult:
        if running:
            raise McpError("your recording runs already: stop it first")
        name = f"{self._new_id()[:-_DIGITS]}{self._own}"
        body = {"recording_id": name, "label": label[:LONGEST_LABEL]}
        await self._desktop.request("POST", f"{DESKTOP}/recording/start", json=body)
        return await self._result("The screen is recorded.", [name])

    async def _stop(self, running: list[Json]) -> McpResult:
        if not running:
            raise McpError("no recording of yours runs")
        for one in running:
            await self._desktop.request(
                "POST",
                f"{DESKTOP}/recording/stop",
                json={"recording_id": one["id"]},
                timeout=STOP_SECONDS,
            )
        return await self._result("The recording has ended.", [one["id"] for one in running])

    async def _result(self, done: str, names: list[str]) -> McpResult:
        found = [one for one in await self.listed() if one["id"] in names]
        return McpResult("\n".join([done, *map(_line, found)]), {"recordings": found})

    def _is_own(self, one: Json) -> bool:
        return str(one["id"]).endswith(self._own)

    def _facts(self, one: Mapping[str, Any]) -> Json:
        name = str(one["id"])
        return {
            "id": name,
            "label": str(one.get("label") or ""),
            "active": one.get("status") == "recording",
            "seconds": float(one.get("duration_s") or 0),
            "video": self._link(f"{DESKTOP}/recordings/{name}/video"),
            "steps": f"{SCHEME}recordings/{name}",
        }


def _line(one: Json) -> str:
    label = f' "{one["label"]}"' if one["label"] else ""
    state = "runs" if one["active"] else "ended"
    name, links = one["id"], f"video {one['video']}, steps {one['steps']}"
    return f"{name}{label} ({state}, {one['seconds']:.0f} s): {links}"


def _step(number: int, one: Mapping[str, Any]) -> str:
    title = one.get("title") or one.get("tool") or one.get("action") or ""
    error = f" - failed: {one['error']}" if one.get("error") else ""
    return f"{number}. {title}{error}"
