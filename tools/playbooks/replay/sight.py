"""Reading of the desktop during a replay: searches for targets, waits, and checks.

Nothing here acts: actions are calls of the chat's tools. Waits are those of
``POST /desktop/wait-for``, which is driven by events. Files are looked at by a command of the
agent's user, which also knows the directory of the chat.
"""

import asyncio
import shlex
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from deskhand.tools.agents.desktops.ports import DesktopMachine
from deskhand.tools.kit.execute import ExecuteTool
from deskhand.tools.kit.support.spec import (
    HUMAN_IN_CONTROL,
    Machine,
    MachineRefused,
    ToolContext,
)
from deskhand.tools.playbooks.playbook import (
    Check,
    FileCheck,
    Point,
    RegionCheck,
    StepWait,
    Target,
)
from deskhand.tools.playbooks.targets.region_hash import is_alike, region_hash, scaled_box

Json = dict[str, Any]

SCREENSHOT = "/api/v0/desktop/screenshot"
SCREEN_TEXT = "/api/v0/desktop/accessibility/text"
WAIT_FOR = "/api/v0/desktop/wait-for"
LONGEST_WAIT = 300.0
"""Longest wait of one request in seconds."""
PATIENCE = 30.0
"""Seconds beyond a wait in which the desktop must answer."""


ReadPixels = Callable[[bytes], tuple[int, int, bytes]]
"""Returns width, height and RGB bytes of a picture."""


class PersonInControl(Exception):
    """A person is in control in private, so that the screen cannot be read."""


@dataclass(frozen=True)
class Screen:
    """Size of the screen in the pixels of the computer tool."""

    width: int
    height: int

    @property
    def middle(self) -> Point:
        """The point in the middle."""
        return self.width // 2, self.height // 2


@dataclass(frozen=True)
class Located:
    """The place of a target, and by what it was found."""

    point: Point
    by: str


@dataclass(frozen=True)
class NotLocated:
    """The reason for which a target was not found."""

    searched: str
    seen: str
    ambiguous: bool = False
    """True if several places match."""
    scrollable: Point | None = None
    """Where the wheel may bring the target into view; ``None`` if nothing scrolls."""


class TargetSearch(Protocol):
    """Search for targets on a screen."""

    async def identify(self, machine: Machine, point: Point) -> Target | None:
        """Return the widget at a point of the computer tool; ``None`` if none can be named."""

    async def screen(self, machine: Machine) -> Screen:
        """Return the size of the screen; programs that start later show their widgets."""

    async def find(
        self, machine: Machine, target: Target, recorded: tuple[int, int], patches: str
    ) -> Located | NotLocated:
        """Search once; points of the target refer to a screen of the size ``recorded``.

        ``patches`` is the folder of its pictures.
        """


@dataclass(frozen=True)
class Unmet:
    """Conditions that did not become true in time, and what was there."""

    conditions: tuple[str, ...]
    seen: Json = field(default_factory=dict)


class DesktopSight:
    """The desktop of one chat, as a replay reads it.

    All methods raise :class:`PersonInControl` while a person is in control in private.
    """

    def __init__(
        self,
        machine: DesktopMachine,
        chat_id: str,
        search: TargetSearch,
        token: str,
        pixels: ReadPixels,
    ) -> None:
        """``token`` is part of the ids of commands, which the machine runs once each.

        ``pixels`` decodes pictures of the desktop; it blocks.
        """
        self._pixels = pixels
        self._machine = machine.for_call("")
        self._for_call = machine.for_call
        self._chat_id = chat_id
        self._search = search
        self._token = token
        self._commands = 0

    async def screen(self) -> Screen:
        """Return the size of the screen."""
        try:
            return await self._search.screen(self._machine)
        except MachineRefused as error:
            raise _translated(error) from error

    async def find(
        self, target: Target, recorded: tuple[int, int], patches: str
    ) -> Located | NotLocated:
        """Search for a target once."""
        try:
            return await self._search.find(self._machine, target, recorded, patches)
        except MachineRefused as error:
            raise _translated(error) from error

    async def text(self) -> str:
        """Return the widgets on the screen as lines of text."""
        try:
            page = await self._machine.request("GET", SCREEN_TEXT, timeout=PATIENCE)
        except MachineRefused as error:
            raise _translated(error) from error
        return str(page.get("text", ""))

    async def identify(self, point: Point) -> Target | None:
        """Return the widget at a point; ``None`` if none can be named."""
        try:
            return await self._search.identify(self._machine, point)
        except MachineRefused as error:
            raise _translated(error) from error

    async def change(self, screen: Screen, seconds: float) -> None:
        """Return when something on the screen has changed, or after ``seconds``."""
        region = [0, 0, screen.width, screen.height]
        await self._conditions({"changed_region": region}, seconds)

    async def rest(self, quiet_ms: int, seconds: float) -> None:
        """Return when nothing was painted for ``quiet_ms``, or after ``seconds``."""
        await self._conditions({"quiet_ms": quiet_ms}, seconds)

    async def wait(self, wait: StepWait) -> Unmet | None:
        """Wait until the conditions hold; return those that did not become true in time."""
        if wait.seconds:
            await asyncio.sleep(wait.seconds)
        if wait.file:
            unmet = await self._file(FileCheck(wait.file), wait.timeout_seconds, filled=True)
            if unmet is not None:
                return unmet
        body: Json = {
            name: value
            for name in ("text", "window", "url", "quiet_ms")
            if (value := getattr(wait, name))
        }
        if wait.changed_region is not None:
            body["changed_region"] = list(wait.changed_region)
        return await self._conditions(body, wait.timeout_seconds) if body else None

    async def check(self, check: Check, recorded: tuple[int, int]) -> Unmet | None:
        """Wait until a check holds; return what was there if it does not in time.

        Boxes refer to a screen of the size ``recorded``.
        """
        if check.region is not None:
            return await self._region(check.region, recorded, check.timeout_seconds)
        if check.file is not None:
            return await self._file(check.file, check.timeout_seconds)
        wait = StepWait(check.text, check.window, check.url, timeout_seconds=check.timeout_seconds)
        return await self.wait(wait)

    async def _region(
        self, region: RegionCheck, recorded: tuple[int, int], seconds: float
    ) -> Unmet | None:
        deadline = asyncio.get_running_loop().time() + seconds
        while True:
            try:
                data: bytes = await self._machine.request("GET", SCREENSHOT, timeout=PATIENCE)
            except MachineRefused as error:
                raise _translated(error) from error
            width, height, rgb = await asyncio.to_thread(self._pixels, data)
            box = scaled_box(region.box, recorded, (width, height))
            seen = region_hash(width, height, rgb, box)
            if is_alike(seen, region.hash):
                return None
            left = deadline - asyncio.get_running_loop().time()
            if left <= 0:
                return Unmet(("region",), {"hash": seen})
            await self.change(Screen(width, height), min(left, 1.0))

    async def _conditions(self, conditions: Json, seconds: float) -> Unmet | None:
        seconds = min(seconds, LONGEST_WAIT)
        body = {**conditions, "timeout_seconds": seconds, "screenshot": False}
        try:
            found: Json = await self._machine.request(
                "POST", WAIT_FOR, json=body, timeout=seconds + PATIENCE
            )
        except MachineRefused as error:
            raise _translated(error) from error
        return None if found["met"] else Unmet(tuple(found["unmet"]), found["seen"])

    async def _file(self, file: FileCheck, seconds: float, *, filled: bool = False) -> Unmet | None:
        path = _quoted(file.path)
        tests = [f"[ -s {path} ]" if filled else f"[ -e {path} ]"]
        if file.contains is not None:
            tests.append(f"grep -qF -e {shlex.quote(file.contains)} -- {path}")
        if file.sha256:
            tests.append(f'[ "$(sha256sum < {path})" = {shlex.quote(file.sha256 + "  -")} ]')
        rounds = max(1, round(seconds * 10))
        condition = " && ".join(tests)
        listing = f"ls -ld {path} 2>&1; head -c 300 {path} 2>/dev/null"
        value = await self._command(
            f"i=1; until {condition}; do [ $i -ge {rounds} ] && {{ {listing}; exit 1; }};"
            " i=$((i+1)); sleep 0.1; done 2>/dev/null",
            seconds * 2 + PATIENCE,
        )
        if value.get("exit_code") == 0:
            return None
        return Unmet(("file",), {"file": str(value.get("output") or value.get("error") or "")})

    async def _command(self, command: str, seconds: float) -> Json:
        self._commands += 1
        call_id = f"replay-look-{self._token}-{self._commands}"
        outcome = await ExecuteTool().call(
            {"command": command, "timeout": f"{seconds:.0f}s"},
            ToolContext(self._chat_id, call_id, self._for_call(call_id)),
        )
        return {"error": outcome.error, **outcome.value}


def _translated(error: MachineRefused) -> Exception:
    return PersonInControl() if error.code == HUMAN_IN_CONTROL else error


def _quoted(path: str) -> str:
    """Return a path for the shell; ``~/`` is the home directory."""
    if path.startswith("~/"):
        return f'"$HOME"/{shlex.quote(path[2:])}'
    return shlex.quote(path)
