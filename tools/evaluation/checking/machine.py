"""The machine of one run: the desktop of a chat, as set-up and checker use it.

Commands run as the agent's user with an environment that the agent has not made: nothing is read
from its home directory, and programs are those of the system.
"""

import asyncio
import json
import posixpath
import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from deskhand.desktop.client.http import DesktopClient
from deskhand.desktop.errors import DesktopBusy, DesktopError, DesktopRefused
from deskhand.tools.evaluation.errors import RunError

Json = dict[str, Any]

CLEAN_PATH = "/usr/local/bin:/usr/bin:/bin"
KILL_OTHERS = "kill -9 -1"
NOWHERE = "deskhand-evaluation-no-such-address"
ANY_URL = ":"
"""Part of every URL."""
PAGE_SECONDS = 1.0
PAGES_SECONDS = 0.3
RETRIES = 20
RETRY_SECONDS = 0.25
OUTPUT_SECONDS = 10.0
NOT_FOUND = 404


@dataclass(frozen=True)
class CommandResult:
    """The end of a command."""

    status: int | None
    """Exit status; None if it was ended after its time."""
    output: str


@dataclass(frozen=True)
class ScreenState:
    """What the screen showed when the agent ended."""

    windows: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()
    clipboard: str = ""
    processes: tuple[str, ...] = ()
    """Command lines of the agent's user."""
    picture: bytes = b""
    """PNG of the screen."""

    def to_json(self) -> Json:
        """Return what a checker gets of it."""
        facts = asdict(self)
        del facts["picture"]
        return facts


@dataclass
class TaskMachine:
    """The desktop of one run; every method raises ``RunError`` when it does not answer."""

    client: DesktopClient
    chat_id: str
    desktop_id: str
    workdir: str = ""
    home: str = ""
    screen: ScreenState = field(default_factory=ScreenState)

    async def request(
        self, method: str, path: str, *, seconds: float = 30.0, **options: Any
    ) -> Json:
        """Send a request to the desktop service and return its JSON."""
        content = await self.content(method, path, seconds=seconds, **options)
        found: Json = json.loads(content)
        return found

    async def content(
        self, method: str, path: str, *, seconds: float = 30.0, **options: Any
    ) -> bytes:
        """Send a request and return the body of the answer; a busy service is asked again."""
        for attempt in range(RETRIES):
            try:
                reply = await self.client.reply(
                    method,
                    f"/api/v0/desktops/{self.desktop_id}{path}",
                    headers={"Deskhand-Chat-Id": self.chat_id},
                    timeout=seconds,
                    **options,
                )
            except DesktopBusy as error:
                # Among others while the helper that opens files is started again.
                if attempt == RETRIES - 1:
                    raise RunError("desktop", f"the desktop is busy: {error}") from error
                await asyncio.sleep(RETRY_SECONDS)
            except DesktopRefused:
                raise
            except DesktopError as error:
                raise RunError("desktop", f"the desktop does not answer: {error}") from error
            else:
                return reply.content
        raise AssertionError

    async def begin(self) -> None:
        """Find the directories of the agent."""
        found = await self.run('printf "%s\\n%s\\n" "$PWD" "$HOME"', 20.0)
        self.workdir, self.home = found.output.splitlines()[:2]

    def path(self, path: str) -> str:
        """Return an absolute path; relative ones are below the working directory."""
        if path == "~" or path.startswith("~/"):
            return posixpath.normpath(self.home + path[1:])
        return posixpath.normpath(posixpath.join(self.workdir, path))

    async def run(self, command: str, seconds: float) -> CommandResult:
        """Run a command line of the shell as the agent's user; end it after ``seconds``."""
        started = await self.request("POST", "/processes/start", json={"command": command})
        process = started["id"]
        limit = {"wait": "true", "timeout_ms": str(int(seconds * 1000))}
        found = await self.request(
            "GET", f"/processes/{process}/output", params=limit, seconds=seconds + OUTPUT_SECONDS
        )
        if found["running"]:
            await self.request("POST", f"/processes/{process}/signal", json={"signal": "kill"})
            return CommandResult(None, str(found.get("output", "")))
        code = found.get("exit_code")
        # A program that a signal has ended has no code.
        return CommandResult(-1 if code is None else int(code), str(found.get("output", "")))

    async def run_clean(self, command: Sequence[str], seconds: float) -> CommandResult:
        """Run a program of the system that finds nothing of the agent's environment."""
        clean = ["/usr/bin/env", "-i", f"PATH={CLEAN_PATH}", "HOME=/nonexistent", "LC_ALL=C.UTF-8"]
        return await self.run(shlex.join([*clean, "PYTHONNOUSERSITE=1", *command]), seconds)

    async def write(self, path: str, content: bytes) -> None:
        """Write a file; folders above it are made."""
        params = {"path": self.path(path)}
        await self.content("POST", "/write-file", content=content, params=params)

    async def read(self, path: str) -> bytes | None:
        """Return the content of a file, None if there is none."""
        try:
            return await self.content("GET", "/read-file", params={"path": self.path(path)})
        except DesktopRefused as error:
            if error.status == NOT_FOUND:
                return None
            raise

    async def wait_for(self, conditions: Json, seconds: float) -> Json:
        """Wait until the screen meets conditions; return the answer of the route."""
        body = {**conditions, "timeout_seconds": seconds, "screenshot": False}
        found: Json = await self.request(
            "POST", "/desktop/wait-for", json=body, seconds=seconds + OUTPUT_SECONDS
        )
        return found

    async def look(self) -> ScreenState:
        """Record windows, addresses, clipboard, processes and a picture, and return them."""
        seen = await self._seen()
        copied = await self.content("GET", "/desktop/clipboard", params={"type": "text"})
        listed = await self.run_clean(["ps", "-o", "args=", "x"], 10.0)
        self.screen = ScreenState(
            tuple(seen["windows"]),
            tuple(seen["urls"]),
            copied.decode("utf-8", "replace"),
            tuple(line.strip() for line in listed.output.splitlines()),
            await self.screenshot(),
        )
        return self.screen

    async def _seen(self) -> Json:
        """Return the titles of the windows and the addresses of the browser's pages."""
        seen: Json = (await self.wait_for({"url": ANY_URL}, 0))["seen"]
        if seen["windows"]:
            # The browser reports its pages one by one to each wait: the first within the limit of
            # the first wait, the others within that of the second.
            await self.wait_for({"url": ANY_URL}, PAGE_SECONDS)
            seen = (await self.wait_for({"url": NOWHERE}, PAGES_SECONDS))["seen"]
        return seen

    async def end_programs(self) -> None:
        """End every program of the agent, so that none can disturb the checker.

        Where the desktop has no user of its own, its programs cannot be told from those of a person
        and go on.
        """
        status = await self.request("GET", "/desktop")
        on = {one["name"] for one in status["protections"] if one["state"] == "on"}
        if {"separate users", "namespaces"} <= on:
            await self.run(KILL_OTHERS, 10.0)

    async def screenshot(self) -> bytes:
        """Return a PNG of the screen."""
        return await self.content("GET", "/desktop/screenshot")
