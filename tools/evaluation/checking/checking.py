"""Checks if a run has done its task.

A checker starts after the agent has ended. First the state of the screen is recorded, then every
program of the agent is ended, so that none can change what the checker finds. A Python checker runs
in a process of its own beside the runner, with an empty environment in a folder with its files, and
reaches the machine by calls over its pipes. A command runs on the machine as the agent's user; the
files that it needs are written for it now. Neither sees the conversation, the report of the agent
or how many steps it took.
"""

import asyncio
import base64
import json
import os
import shlex
import signal
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

from deskhand.desktop.errors import DesktopRefused
from deskhand.tools.evaluation.errors import RunError
from deskhand.tools.evaluation.places import filled
from deskhand.tools.evaluation.task import Checker, Task

from .machine import CommandResult, ScreenState

Json = dict[str, Any]

PROGRAM = Path(__file__).with_name("checker_program.py")
LONGEST_REASON = 2000
ENTRIES = ("-mindepth", "1", "-maxdepth", "1", "-printf", "%f\\n")
"""Expression of find(1) for the names in a folder."""
LINE_LIMIT = 64 * 1024 * 1024
"""Bytes of one line between checker and runner: files are sent in one."""


@dataclass(frozen=True)
class Verdict:
    """The result of a check."""

    passed: bool
    reason: str = ""
    """Why it has not passed."""


@dataclass(frozen=True)
class Requests:
    """What the served pages received."""

    posted: tuple[Json, ...] = ()
    visited: tuple[str, ...] = ()
    base_url: str = ""


class CheckableMachine(Protocol):
    """The machine of a run; :class:`.machine.TaskMachine` outside of tests."""

    workdir: str
    home: str
    screen: ScreenState

    async def look(self) -> ScreenState:
        """Record what the screen shows."""

    async def end_programs(self) -> None:
        """End every program of the agent."""

    def path(self, path: str) -> str:
        """Return an absolute path."""

    async def run(self, command: str, seconds: float) -> CommandResult:
        """Run a command line of the shell."""

    async def run_clean(self, command: Sequence[str], seconds: float) -> CommandResult:
        """Run a program that finds nothing of the agent's environment."""

    async def write(self, path: str, content: bytes) -> None:
        """Write a file."""

    async def read(self, path: str) -> bytes | None:
        """Return the content of a file, None if there is none."""


async def check(task: Task, machine: CheckableMachine, requests: Requests) -> Verdict:
    """Check a run whose agent has ended.

    Raises:
        RunError: If the checker has an error, does not end in time, or the desktop does not answer.
    """
    seconds = task.checker.seconds
    try:
        await machine.look()
        await machine.end_programs()
        async with asyncio.timeout(seconds):
            if task.checker.python is not None:
                return await _check_python(task, machine, requests)
            return await _check_command(task, machine, requests)
    except TimeoutError:
        raise RunError("checker", f"the checker has not ended in {seconds:g} s") from None
    except DesktopRefused as error:
        raise RunError("desktop", f"the desktop refused a request of the checker: {error}") from (
            error
        )


async def _check_command(task: Task, machine: CheckableMachine, requests: Requests) -> Verdict:
    checker = task.checker
    folder = (await machine.run("mktemp -d", 10.0)).output.strip()
    lines = "".join(json.dumps(one) + "\n" for one in requests.posted)
    places = {"posted": f"{folder}/posted.jsonl", "checker_dir": f"{folder}/files"}
    await machine.write(places["posted"], lines.encode())
    for name, content in _files(task):
        await machine.write(f"{places['checker_dir']}/{name}", content)
    argv = [filled(one, places | _places(machine, requests)) for one in checker.command]
    inside = ["sh", "-c", f"cd {shlex.quote(machine.workdir)} && exec {shlex.join(argv)}"]
    ended = await machine.run_clean(inside, checker.seconds)
    if ended.status is None:
        raise TimeoutError
    if ended.status in (126, 127):
        raise RunError("checker", f"the command cannot be run: {_end(ended.output)}")
    reason = _end(ended.output) or f"the command ended with the status {ended.status}"
    return Verdict(ended.status == 0, "" if ended.status == 0 else reason)


async def _check_python(task: Task, machine: CheckableMachine, requests: Requests) -> Verdict:
    with tempfile.TemporaryDirectory(prefix="deskhand-checker-") as folder:
        await asyncio.to_thread(_write_files, task, Path(folder))
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-B", str(PROGRAM)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            cwd=folder,
            env={"PATH": os.defpath, "LC_ALL": "C.UTF-8"},
            start_new_session=True,
            limit=LINE_LIMIT,
        )
        try:
            return await _answered(process, task.checker, machine, requests)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()


async def _answered(
    process: asyncio.subprocess.Process,
    checker: Checker,
    machine: CheckableMachine,
    requests: Requests,
) -> Verdict:
    """Answer the calls of a checker until its verdict."""
    start = {
        "source": checker.python,
        "line": checker.line,
        "file": "checker",
        "facts": {**asdict(requests), **machine.screen.to_json(), **_places(machine, requests)},
    }
    assert process.stdin is not None  # noqa: S101 - both are pipes
    assert process.stdout is not None  # noqa: S101
    process.stdin.write(json.dumps(start).encode() + b"\n")
    while line := await process.stdout.readline():
        message: Json = json.loads(line)
        if "passed" in message:
            return Verdict(True)
        if "failed" in message:
            return Verdict(False, str(message["failed"])[:LONGEST_REASON])
        if "error" in message:
            raise RunError("checker", str(message["error"])[:LONGEST_REASON])
        answer = await _performed(message, machine)
        process.stdin.write(json.dumps(answer).encode() + b"\n")
        await process.stdin.drain()
    raise RunError("checker", "the process of the checker ended without a verdict")


async def _performed(message: Json, machine: CheckableMachine) -> Json:
    try:
        match message["call"]:
            case "run":
                ended = await machine.run_clean(
                    ["sh", "-c", 'cd "$0" && exec "$@"', machine.workdir, *message["argv"]],
                    float(message["seconds"]),
                )
                return {"status": ended.status, "output": ended.output}
            case "read":
                content = await machine.read(message["path"])
                kept = None if content is None else base64.b64encode(content).decode()
                return {"content": kept}
            case "exists":
                test = await machine.run_clean(["test", "-e", machine.path(message["path"])], 10.0)
                return {"exists": test.status == 0}
            case "files":
                listed = await machine.run_clean(
                    ["find", machine.path(message["path"]), *ENTRIES], 10.0
                )
                names = listed.output.splitlines() if listed.status == 0 else []
                return {"names": sorted(names)}
    except DesktopRefused as error:
        return {"error": str(error)}
    return {"error": f"unknown call {message['call']!r}"}


def _files(task: Task) -> list[tuple[str, bytes]]:
    return [
        (file.path, file_content(file.text, file.source, task.folder))
        for file in task.checker.files
    ]


def _write_files(task: Task, folder: Path) -> None:
    for name, content in _files(task):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def file_content(text: str | None, source: str | None, folder: Path) -> bytes:
    """Return the content of a file of a task: its text, or that of a file beside the task."""
    if text is not None:
        return text.encode()
    return (folder / (source or "")).read_bytes()


def _places(machine: CheckableMachine, requests: Requests) -> dict[str, str]:
    return {
        "workdir": machine.workdir,
        "home": machine.home,
        "base_url": requests.base_url,
    }


def _end(output: str) -> str:
    return output.strip()[-LONGEST_REASON:]
