"""Registry of the processes that commands of one desktop run in.

A record passes through these states:

* *running*: the shell lives. Its descendants carry a marker variable, by which signals reach them
  even outside of the process group.
* *exited*: exit code and output stay readable for ``keep_seconds``, for at most ``keep_exited``
  records.
* *forgotten*: record and output directory are gone. While a descendant still holds the output
  open, the process is kept in ``_undrained`` and read on: a closed pipe would raise SIGPIPE there.

Invariants: a tool call starts at most one process, however often it is sent (`tool_calls`); after
``close`` no descendant is left. Forking, scanning /proc and removing directories run in threads.
"""

import asyncio
import logging
import os
import shutil
import signal
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self, cast
from uuid import uuid4

from deskhand.desktop.fields import at_home
from deskhand.desktop.programs.child_launcher import ChildLauncher
from deskhand.desktop.programs.launcher import ProgramLauncher
from deskhand.desktop.programs.process_tree import Family
from deskhand.desktop.tool_calls.caller import CallingChat, Touched
from deskhand.desktop.tool_calls.errors import ToolCallError
from deskhand.desktop.tool_calls.identity import Identity
from deskhand.desktop.tool_calls.journal import Answer
from deskhand.desktop.tool_calls.once import OncePerCall, Progress

from . import output_copies
from .errors import NotRunning, StartFailed, UnknownProcess
from .fair_turns import FairScheduler
from .output_copies import OutputCopies, OwnCopies
from .process import Process
from .record import Listing, Record
from .requests import LaunchRequest, OutputRequest, SignalRequest, StartRequest, digest
from .spawn import ResourceLimits, Spawner, SpawnRequest

logger = logging.getLogger(__name__)

_SIGNALS = {
    "terminate": signal.SIGTERM,
    "kill": signal.SIGKILL,
    "interrupt": signal.SIGINT,
}


class CommandEnvironment(Protocol):
    """Environment and default directory of commands, provided by the service."""

    def environment(self) -> dict[str, str]:
        """Return the environment that a command's own variables are added to."""

    def workdir(self) -> Path | None:
        """Return the default directory; None, or one that does not exist, means the home."""


@dataclass(frozen=True)
class ProcessSettings:
    """Retention, timeouts and limits."""

    keep_exited: int = 200
    keep_seconds: float = 3600.0
    longest_wait: float = 300.0
    """Seconds that one request waits for output or an exit at most."""
    close_grace: float = 2.0
    """Seconds between SIGTERM and SIGKILL when the registry is closed."""
    limits: ResourceLimits = field(default_factory=ResourceLimits)
    output_folder: Path | None = None
    """Parent of one directory of output for each process; None to copy only on request."""
    journal: Path | None = None
    """File that keeps tool calls across restarts of the service."""


class Registry:
    """Owns every process that it started. Belongs to one event loop; use as ``async with``."""

    def __init__(
        self,
        command_environment: CommandEnvironment,
        settings: ProcessSettings | None = None,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
        touched: Touched = lambda chat, paths: None,
        copies: OutputCopies | None = None,
        launcher: ProgramLauncher | None = None,
    ) -> None:
        self._command_environment = command_environment
        self._copies = copies or OwnCopies()
        self._touched = touched
        self._settings = settings or ProcessSettings()
        self._clock = clock
        self.once = OncePerCall(self._settings.journal, clock, detached=True)
        """Results of tool calls, of processes and of all other routes that share it."""
        self._wall = wall
        self._launcher = launcher or ChildLauncher(clock)
        self.spawner = Spawner(self._launcher)
        self._scheduler = FairScheduler()
        self._marker = f"DESKHAND_PROCESS={uuid4()}"
        self._records: dict[str, Record] = {}
        self._timers: set[asyncio.TimerHandle] = set()
        self._thread_tasks: set[asyncio.Task[object]] = set()
        self._exits: dict[str, None] = {}
        """Ids of exited processes, in the order of their exits."""
        self._undrained: list[Process] = []
        self._numbers = count(1)
        self._closed = False
        self._closing: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        """Start the spawn thread."""
        self.spawner.open()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End all processes."""
        await self.close()

    def now(self) -> float:
        """Seconds on the registry's clock."""
        return self._clock()

    async def start(
        self, request: StartRequest, chat: CallingChat | None, call: Identity | None = None
    ) -> tuple[str, bool]:
        """Start a command, or find the one that the same tool call started before.

        A start that was begun is finished even if the caller is cancelled meanwhile.

        Returns the process's id, and True if this call started it.

        Raises:
            StartFailed: If the command cannot be started.
            CallRefused: If the tool call was canceled, or was made before with other input.
        """
        await self._scheduler.wait_turn()
        if self._closed:
            raise StartFailed("the process manager is closed")
        process_id = str(uuid4()) if call is None else call.process_id

        async def starting(progress: Progress) -> str:
            progress.began()
            return await self._spawn_process(process_id, request, chat)

        return await self.once.run(call, digest(request), starting)

    def find(self, process_id: str, chat: CallingChat | None) -> Record:
        """Return a process that the caller may see.

        Raises:
            UnknownProcess: Also for a process of another chat, whose existence is not disclosed.
        """
        record = self._records.get(process_id)
        if record is None or (chat and record.chat and record.chat.id != chat.id):
            raise UnknownProcess(process_id)
        return record

    def listing(self, chat: CallingChat | None, offset: int = 0, limit: int = 10) -> Listing:
        """Return running processes first, then the newest; with a chat, only its own."""
        visible = [
            r for r in self._records.values() if not chat or (r.chat and r.chat.id == chat.id)
        ]
        visible.sort(key=lambda r: (not r.running, -r.number))
        return Listing(tuple(visible[offset : offset + limit]), len(visible))

    def applications(self) -> frozenset[int]:
        """Return the pids of the running programs that the service launched."""
        return frozenset(r.process.group for r in tuple(self._records.values()) if r.launched)

    async def wait(self, record: Record, request: OutputRequest) -> None:
        """Wait for the condition of the request or its timeout. Cancelling is harmless."""
        timeout = min(request.wait_ms / 1000, self._settings.longest_wait)
        if request.from_execute and record.request.timeout_ms:
            deadline = record.started + record.request.timeout_ms / 1000
            timeout = min(timeout, max(deadline - self._clock(), 0.0))
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                if request.wait_for == "exit":
                    await record.process.wait_exit()
                    if record.noting is not None:
                        await asyncio.shield(record.noting)
                elif request.wait_for == "output":
                    seen = record.process.buffer.total
                    await record.process.wait_output(
                        seen if request.cursor is None else request.cursor
                    )

    async def signal(self, record: Record, request: SignalRequest) -> None:
        """Signal a process and all of its descendants, inside and outside of its group.

        Raises:
            NotRunning: If the process has exited.
        """
        number = _SIGNALS[request.signal]
        if not record.running:
            raise NotRunning(record.id)
        record.process.signal(number)
        outsiders = Family(
            markers=(self._mark(record.id),), spared=frozenset({record.process.group})
        )
        if request.escalate_after_ms and request.signal != "kill":
            self._call_later(request.escalate_after_ms / 1000, lambda: self._kill(record))
        await asyncio.to_thread(self._launcher.send, outsiders, number)

    async def cancel(self, call: Identity) -> Record | Answer | ToolCallError | None:
        """Prevent a tool call from beginning; if it has begun, wait and kill its process.

        Returns the process that the call started, else its answer or its error, or None if it
        never began.

        Raises:
            CallRefused: If an earlier service may have run the call.
        """
        task = self.once.cancel(call)
        if task is None or isinstance(task, tuple):
            return task
        try:
            result = await self.once.outcome(task)
        except ToolCallError as error:
            return error
        if not isinstance(result, str):
            return cast(Answer, result)
        record = self._records.get(result)
        if record is None:
            return 200, {"id": result, "started": True}
        if record.running:
            record.canceled = True
            await self.signal(record, SignalRequest("kill"))
            await record.process.wait_exit()
        return record

    async def close(self) -> None:
        """End every process with all descendants, by SIGTERM and then SIGKILL.

        Their output stays readable.
        """
        if self._closing is None:
            self._closed = True
            self._closing = asyncio.create_task(self._close())
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        # A start that has begun adds its record first: its process has to be ended too.
        await self.once.settle()
        running = [r for r in self._records.values() if r.running]
        family = Family(
            groups=frozenset(r.process.group for r in running),
            markers=(self._marker.encode(),),
        )
        await asyncio.to_thread(self._launcher.end, family, self._settings.close_grace)
        with suppress(TimeoutError):
            # A child in uninterruptible sleep (state D) outlives SIGKILL.
            async with asyncio.timeout(5.0):
                await asyncio.gather(*(r.process.wait_exit() for r in running))
        await asyncio.gather(*self._thread_tasks, return_exceptions=True)
        for timer in self._timers:
            timer.cancel()
        for process in [*self._undrained, *(r.process for r in self._records.values())]:
            process.close()
            if self._scheduler.used_up():
                await asyncio.sleep(0)
        await asyncio.to_thread(self.spawner.close)

    async def _spawn_process(
        self, process_id: str, request: StartRequest, chat: CallingChat | None
    ) -> str:
        if process_id in self._records:
            raise StartFailed("there is a process of this id already")
        environment = self._command_environment.environment() | dict(request.env)
        if chat:
            environment |= {"DESKHAND_CHAT_ID": chat.id, "CODER_CHAT_ID": chat.id}
        # Set last, so that a request cannot override the marker that finds descendants.
        name, _, value = self._mark(process_id).decode().partition("=")
        environment[name] = value
        copy = await output_copies.requested_copy(self._copies, request.output_path)
        spawn_request = SpawnRequest(
            command=request.command,
            workdirs=self._workdirs(request.workdir, environment),
            environment=environment,
            limits=self._settings.limits,
            stdin=request.stdin,
            terminal=request.pty,
            passed=request.descriptors if isinstance(request, LaunchRequest) else (),
            user=request.user if isinstance(request, LaunchRequest) else "agent",
            stoppable=not isinstance(request, LaunchRequest),
            copy=lambda: copy or output_copies.own_copy(self._settings.output_folder, process_id),
        )
        with output_copies.closed_on_error(copy):
            spawned = await self.spawner.spawn(spawn_request)
        record = Record(
            id=process_id,
            request=request,
            name=self._unique(request.name),
            workdir=spawned.workdir,
            chat=chat,
            process=Process(spawned, lambda: self._exited(record), self._scheduler),
            started_at=self._wall(),
            started=self._clock(),
            number=next(self._numbers),
        )
        self._records[process_id] = record
        # The command is not logged, because it may contain a secret.
        logger.info("process %s started, pid %d", process_id, record.process.group)
        return process_id

    def _workdirs(self, requested: str, environment: dict[str, str]) -> list[Path]:
        """Return the directories to work in; the first one that exists is used."""
        home = environment.get("HOME", os.sep)
        if requested:
            return [Path(at_home(requested, home))]
        places = self._command_environment.workdir(), Path(home)
        return [place for place in places if place is not None]

    def _unique(self, name: str) -> str:
        taken = {record.name for record in self._records.values()}
        unique, count = name, 1
        while unique and unique in taken:
            count += 1
            unique = f"{name}-{count}"
        return unique

    def _exited(self, record: Record) -> None:
        record.exited_at, record.ended = self._wall(), self._clock()
        logger.info("process %s exited: %s", record.id, record.process.exit)
        if record.process.copy is not None and record.process.exit is not None:
            ending = record.process.exit
            facts = {
                "exit_code": ending.code,
                "signal": ending.signal,
                "exited_at_unix": record.exited_at,
            }
            if record.request.output_path:
                path = record.process.copy.exit_path
                record.noting = self._run(output_copies.noted(self._copies, path, facts))
            else:
                record.process.copy.write_exit(facts)
        if record.chat is not None:
            requested = [str(record.workdir)] if record.request.workdir else []
            self._touched(record.chat, requested)
        process_id = record.id
        # The timer holds the id only: the record may be removed earlier, by `keep_exited`.
        self._call_later(self._settings.keep_seconds, lambda: self._forget(process_id))
        self._exits[process_id] = None
        while len(self._exits) > self._settings.keep_exited:
            self._forget(next(iter(self._exits)))

    def _forget(self, process_id: str) -> None:
        self._exits.pop(process_id, None)
        record = self._records.pop(process_id, None)
        if self._settings.output_folder is not None and record is not None:
            folder = self._settings.output_folder / process_id
            self._run_in_thread(lambda: shutil.rmtree(folder, ignore_errors=True))
        if record is not None and record.process.open:
            # Reading continues: a server left in the background must not get SIGPIPE.
            self._undrained = [*(p for p in self._undrained if p.open), record.process]

    def _kill(self, record: Record) -> None:
        with suppress(ToolCallError):
            record.process.signal(signal.SIGKILL)
        family = Family(markers=(self._mark(record.id),))
        self._run_in_thread(lambda: self._launcher.send(family, signal.SIGKILL))

    def _run_in_thread(self, work: Callable[[], object]) -> None:
        """Run a function in a thread; ``close`` waits for it."""
        self._run(asyncio.to_thread(work))

    def _run(self, work: Coroutine[object, object, object]) -> asyncio.Task[object]:
        task = asyncio.create_task(work)
        self._thread_tasks.add(task)
        task.add_done_callback(self._thread_tasks.discard)
        return task

    def _call_later(self, seconds: float, callback: Callable[[], None]) -> None:
        if self._closed:
            return

        def due() -> None:
            self._timers.discard(timer)
            callback()

        timer = asyncio.get_running_loop().call_later(seconds, due)
        self._timers.add(timer)

    def _mark(self, process_id: str) -> bytes:
        return f"{self._marker}/{process_id}".encode()
