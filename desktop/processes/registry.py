"""All processes of one machine: start, look up, signal, forget, and end them all at the close."""

import asyncio
import hashlib
import logging
import os
import shutil
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self, cast
from uuid import uuid4

from deskhand.desktop.tool_calls.caller import CallingChat, Touched
from deskhand.desktop.tool_calls.errors import ToolCallError
from deskhand.desktop.tool_calls.identity import Identity
from deskhand.desktop.tool_calls.journal import Answer
from deskhand.desktop.tool_calls.once import OncePerCall, Progress

from . import process_tree as groups
from .errors import NotRunning, StartFailed, UnknownProcess
from .fair_turns import FairScheduler
from .output_file import OutputFile
from .process import Process
from .record import Listing, Record
from .requests import OutputRequest, SignalRequest, StartRequest
from .spawn import ResourceLimits, Spawner, SpawnRequest

logger = logging.getLogger(__name__)

_SIGNALS = {
    "terminate": signal.SIGTERM,
    "kill": signal.SIGKILL,
    "interrupt": signal.SIGINT,
}


class CommandEnvironment(Protocol):
    """Where commands run, as the service has arranged it."""

    def environment(self) -> dict[str, str]:
        """The whole environment that a command starts from."""

    def workdir(self) -> Path | None:
        """The directory set for commands that name none; None or absent: the home directory."""


@dataclass(frozen=True)
class ProcessSettings:
    """How long what is kept."""

    keep_exited: int = 200
    keep_seconds: float = 3600.0
    longest_wait: float = 300.0
    """Seconds that one request waits for output or an exit at most."""
    close_grace: float = 2.0
    """Seconds between asking everything to end and killing it."""
    limits: ResourceLimits = field(default_factory=ResourceLimits)
    output_folder: Path | None = None
    """Where output is copied to, a folder for each process; None: only where a caller says."""
    journal: Path | None = None
    """File that remembers tool calls for the service after this one."""


class Registry:
    """Owns every process it started. Lives in one event loop; use as ``async with``."""

    def __init__(
        self,
        surroundings: CommandEnvironment,
        settings: ProcessSettings | None = None,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
        touched: Touched = lambda chat, paths: None,
    ) -> None:
        self._surroundings = surroundings
        self._touched = touched
        self._settings = settings or ProcessSettings()
        self._clock = clock
        self.once = OncePerCall(self._settings.journal, clock, detached=True)
        """What tool calls did here, processes or not."""
        self._wall = wall
        self._spawner = Spawner()
        self._turn = FairScheduler()
        self._marker = f"DESKHAND_PROCESS={uuid4()}"
        self._records: dict[str, Record] = {}
        self._timers: set[asyncio.TimerHandle] = set()
        self._sweeps: set[asyncio.Task[object]] = set()
        self._exits: dict[str, None] = {}
        """Ids of exited ones, the first to exit in front."""
        self._unseen: list[Process] = []
        self._starts = 0
        self._closed = False
        self._closing: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        """Start the thread that forks."""
        self._spawner.open()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End everything."""
        await self.close()

    def now(self) -> float:
        """Seconds on the registry's clock."""
        return self._clock()

    async def start(
        self, request: StartRequest, chat: CallingChat | None, call: Identity | None = None
    ) -> tuple[str, bool]:
        """Start a command, or find the one that the same tool call started before.

        Once asked for, it is started even if the caller is cancelled meanwhile.

        Returns:
            The process's id, and whether it was started by this call.

        Raises:
            StartFailed: If it cannot be started.
            CallRefused: If the tool call was canceled, or was made before with other input.
        """
        await self._turn.free()
        if self._closed:
            raise StartFailed("the process manager is closed")
        process_id = str(uuid4()) if call is None else call.process_id

        async def starting(progress: Progress) -> str:
            progress.began()
            return await self._started(process_id, request, chat)

        return await self.once.run(call, _digest(request), starting)

    def find(self, process_id: str, chat: CallingChat | None) -> Record:
        """Return a process that the caller may see.

        Raises:
            UnknownProcess: Also if it is another chat's: that one exists is nobody's business.
        """
        self.check(process_id, chat)
        if process_id not in self._records:
            raise UnknownProcess(process_id)
        return self._records[process_id]

    def check(self, process_id: str, chat: CallingChat | None) -> None:
        """Raise UnknownProcess if it is another chat's."""
        record = self._records.get(process_id)
        if record and chat and record.chat and record.chat.id != chat.id:
            raise UnknownProcess(process_id)

    def listing(self, chat: CallingChat | None, offset: int = 0, limit: int = 10) -> Listing:
        """Return running ones first, then the newest; with a chat, only that chat's own."""
        visible = [
            r for r in self._records.values() if not chat or (r.chat and r.chat.id == chat.id)
        ]
        visible.sort(key=lambda r: (not r.running, -r.number))
        return Listing(tuple(visible[offset : offset + limit]), len(visible))

    async def wait(self, record: Record, request: OutputRequest) -> None:
        """Wait as the request says, not longer than it says. Cancelling is harmless."""
        patience = min(request.wait_ms / 1000, self._settings.longest_wait)
        if request.from_execute and record.request.timeout_ms:
            deadline = record.started + record.request.timeout_ms / 1000
            patience = min(patience, max(deadline - self._clock(), 0.0))
        with suppress(TimeoutError):
            async with asyncio.timeout(patience):
                if request.wait_for == "exit":
                    await record.process.wait_exit()
                elif request.wait_for == "output":
                    seen = record.process.buffer.total
                    await record.process.wait_output(
                        seen if request.cursor is None else request.cursor
                    )

    async def signal(self, record: Record, request: SignalRequest) -> None:
        """Signal a process and everything that it started, its group or not.

        Raises:
            NotRunning: If it has exited.
        """
        number = _SIGNALS[request.signal]
        if not record.running:
            raise NotRunning(record.id)
        record.process.signal(number)
        outsiders = groups.Family(
            markers=(self._mark(record.id),), spared=frozenset({record.process.group})
        )
        if request.escalate_after_ms and request.signal != "kill":
            self._later(request.escalate_after_ms / 1000, lambda: self._kill(record))
        await asyncio.to_thread(groups.send, outsiders, number)

    async def cancel(self, call: Identity) -> Record | Answer | ToolCallError | None:
        """Keep a tool call from beginning; wait for one that has, kill what it started.

        Returns the process that it started, else its answer, why it was refused, or None if it
        never began.

        Raises:
            CallRefused: If an earlier service may have run it.
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
        """End every process and all of their children. What they said can still be read.

        No orphan is left: first all are asked, after a grace they are killed.
        """
        if self._closing is None:
            self._closed = True
            self._closing = asyncio.create_task(self._close())
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        await self.once.settle()
        running = [r for r in self._records.values() if r.running]
        family = groups.Family(
            groups=frozenset(r.process.group for r in running),
            markers=(self._marker.encode(),),
        )
        await asyncio.to_thread(groups.end, family, self._settings.close_grace, self._clock)
        with suppress(TimeoutError):
            async with asyncio.timeout(5.0):
                await asyncio.gather(*(r.process.wait_exit() for r in running))
        await asyncio.gather(*self._sweeps, return_exceptions=True)
        for timer in self._timers:
            timer.cancel()
        for process in [*self._unseen, *(r.process for r in self._records.values())]:
            process.close()
            if self._turn.over():
                await asyncio.sleep(0)
        await asyncio.to_thread(self._spawner.close)

    async def _started(
        self, process_id: str, request: StartRequest, chat: CallingChat | None
    ) -> str:
        if process_id in self._records:
            raise StartFailed("there is a process of this id already")
        environment = self._surroundings.environment() | dict(request.env)
        if chat:
            environment |= {"DESKHAND_CHAT_ID": chat.id, "CODER_CHAT_ID": chat.id}
        # Last: by this a child is found that has left the group.
        name, _, value = self._mark(process_id).decode().partition("=")
        environment[name] = value
        self._starts += 1
        number = self._starts
        order = SpawnRequest(
            command=request.command,
            place=lambda: self._place(request.workdir, environment),
            environment=environment,
            limits=self._settings.limits,
            stdin=request.stdin,
            terminal=request.pty,
            copy=lambda: self._copy(process_id, request.output_path),
        )
        spawned = await self._spawner.spawn(order)
        record = Record(
            id=process_id,
            request=request,
            name=self._unique(request.name),
            workdir=spawned.workdir,
            chat=chat,
            process=Process(spawned, lambda: self._exited(record), self._turn),
            started_at=self._wall(),
            started=self._clock(),
            number=number,
        )
        self._records[process_id] = record
        # Never the command: it may hold a secret.
        logger.info("process %s started, pid %d", process_id, record.process.group)
        return process_id

    def _place(self, asked: str, environment: dict[str, str]) -> Path:
        if asked:
            return Path(asked)
        configured = self._surroundings.workdir()
        if configured is not None and configured.is_dir():
            return configured
        return Path(environment.get("HOME", os.sep))

    def _copy(self, process_id: str, asked: str) -> OutputFile | None:
        if asked:
            return OutputFile(Path(asked), Path(f"{asked}.exit.json"))
        if self._settings.output_folder is None:
            return None
        folder = self._settings.output_folder / process_id
        # A disk that is full, or that nobody may write to, keeps no command from running.
        with suppress(OSError):
            return OutputFile(folder / "output.log", folder / "exit.json")
        return None

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
            record.process.copy.tell_exit(facts)
        if record.chat is not None:
            asked = [str(record.workdir)] if record.request.workdir else []
            self._touched(record.chat, asked)
        process_id = record.id
        # By the id: a timer that held the record would keep what was crowded out of the list.
        self._later(self._settings.keep_seconds, lambda: self._forget(process_id))
        self._exits[process_id] = None
        while len(self._exits) > self._settings.keep_exited:
            self._forget(next(iter(self._exits)))

    def _forget(self, process_id: str) -> None:
        self._exits.pop(process_id, None)
        record = self._records.pop(process_id, None)
        if self._settings.output_folder is not None and record is not None:
            folder = self._settings.output_folder / process_id
            self._sweep(lambda: shutil.rmtree(folder, ignore_errors=True))
        if record is not None and record.process.open:
            # Read on, unseen: a server that it left behind must not hit a closed pipe.
            self._unseen = [*(p for p in self._unseen if p.open), record.process]

    def _kill(self, record: Record) -> None:
        with suppress(ToolCallError):
            record.process.signal(signal.SIGKILL)
        family = groups.Family(markers=(self._mark(record.id),))
        self._sweep(lambda: groups.send(family, signal.SIGKILL))

    def _sweep(self, work: Callable[[], object]) -> None:
        """Do something in a thread that the close waits for."""
        sweep = asyncio.create_task(asyncio.to_thread(work))
        self._sweeps.add(sweep)
        sweep.add_done_callback(self._sweeps.discard)

    def _later(self, seconds: float, act: Callable[[], None]) -> None:
        if self._closed:
            return

        def due() -> None:
            self._timers.discard(timer)
            act()

        timer = asyncio.get_running_loop().call_later(seconds, due)
        self._timers.add(timer)

    def _mark(self, process_id: str) -> bytes:
        return f"{self._marker}/{process_id}".encode()


def _digest(request: StartRequest) -> str:
    """Return what tells one input from another, however often and by whichever name it is sent."""
    same = asdict(replace(request, call_age_ms=0, tool_call_id=""))
    return hashlib.sha256(repr(sorted(same.items())).encode()).hexdigest()
