"""The desktop as OSWorld's routes use it: input, commands and files, over the own routes."""

import asyncio
from collections.abc import Sequence
from typing import Any

from deskhand.desktop.own_api.own_api import ApiCaller

from .calls import Json, located, needs_pointer, requests_of
from .commands import EndedCommand, ProgramFolder, collected, ended_of, text_of
from .errors import OsworldFailure

API = "/api/v0"
DESKTOP = f"{API}/desktop"
KILL_AFTER_MS = 2000
LONGEST_OUTPUT = {"cursor": "0", "limit": "65536"}


class OsworldMachine:
    """Acts for the client of one request. All methods raise ``DesktopRefused``."""

    def __init__(self, caller: ApiCaller, folder: ProgramFolder, tool: str) -> None:
        self.caller = caller
        self.folder = folder
        self.tool = tool
        """Name of the step."""

    async def perform(self, actions: Sequence[Json]) -> None:
        """Perform actions of `calls`; cancelling releases what they hold down."""
        at = (0, 0)
        if needs_pointer(actions):
            at = await self.pointer()
        for body in requests_of(located(actions, at)):
            answer = await self.caller.request(
                "POST", f"{DESKTOP}/actions", json=body, tool=self.tool
            )
            for result in answer["results"]:
                if "error" in result:
                    raise OsworldFailure(str(result["output"]))

    async def pointer(self) -> tuple[int, int]:
        """Return where the pointer is, in native pixels."""
        left, top = (await self.caller.request("GET", f"{DESKTOP}/pointer"))["native_point"]
        return left, top

    async def run(
        self, script: str, seconds: float, *, given: str | None = None, workdir: str = ""
    ) -> EndedCommand | None:
        """Run a script of `commands` to its end; None if it did not end in time, and was killed.

        ``given`` is its standard input.
        """
        process = await self.started(script, given=given, workdir=workdir)
        patience = str(int(seconds * 1000))
        ended = await self._output(process, wait_for="exit", timeout_ms=patience)
        if ended["running"]:
            stop = {"signal": "terminate", "escalate_after_ms": KILL_AFTER_MS}
            await self.caller.send("POST", f"{API}/processes/{process}/signal", json=stop)
            return None
        found = ended_of(ended["output"])
        if found is None:
            missing = ended.get("exit_code") == 127
            reason = "No such file or directory" if missing else ended["output"].strip()
            raise OsworldFailure(f"The command could not be started. {reason}".strip())
        return await self._with_files(found) if found.folder else found

    async def printed(self, script: str, seconds: float, failed: str) -> str:
        """Return what a script of ours prints; raises ``OsworldFailure`` unless it succeeds."""
        ended = await self.run(collected(self.folder, script), seconds)
        if ended is None:
            raise OsworldFailure(f"{failed} It took more than {seconds:g} seconds.")
        if ended.code:
            raise OsworldFailure(f"{failed} {text_of(ended.errors).strip()}".strip())
        return text_of(ended.output)

    async def started(self, script: str, *, given: str | None = None, workdir: str = "") -> str:
        """Start a script and return the id of its process."""
        body: Json = {"command": script, "name": self.tool, "stdin": given is not None}
        if workdir:
            body["workdir"] = workdir
        answer = await self.caller.request("POST", f"{API}/processes/start", json=body)
        process = str(answer["id"])
        if given is not None:
            stdin = {"data": given, "close": True}
            await self.caller.request("POST", f"{API}/processes/{process}/input", json=stdin)
        return process

    async def first_output(self, process: str) -> str:
        """Return what a process has written, as soon as that is anything or it has ended."""
        return str((await self._output(process, wait_for="output"))["output"])

    async def windows(self) -> list[Json]:
        """Return the windows, with their places in native pixels."""
        answer = await self.caller.request(
            "GET", f"{DESKTOP}/windows", params={"coordinate_space": "native"}
        )
        found: list[Json] = answer["windows"]
        return found

    async def file(self, path: str) -> bytes:
        """Return the content of a file."""
        answer = await self.caller.send("GET", f"{API}/read-file", params={"path": path})
        if answer.status >= 400:
            raise answer.refusal()
        return answer.body

    async def _output(self, process: str, **query: str) -> Any:
        return await self.caller.request(
            "GET", f"{API}/processes/{process}/output", params={**LONGEST_OUTPUT, **query}
        )

    async def _with_files(self, ended: EndedCommand) -> EndedCommand:
        paths = (f"{ended.folder}/{name}" for name in ("out", "err"))
        output, errors = await asyncio.gather(*map(self.file, paths))
        await self.started(f"rm -rf '{ended.folder}'")
        return EndedCommand(ended.code, output, errors)
