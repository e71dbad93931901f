"""The program of a stdio server, which runs as the agent's user and in its own process group.

It is started as commands are: by the same port, with their limits and in their control group, so
that it is stopped with them while a person or a secret types. Its descendants carry a variable by
which they are found at its end, also those that have left the group. When the service ends for any
reason, the keeper or init kills it like a command.
"""

import asyncio
import os
import shlex
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Self
from uuid import uuid4

from deskhand.desktop.processes.errors import StartFailed
from deskhand.desktop.processes.spawn import ResourceLimits, Spawned, Spawner, SpawnRequest
from deskhand.desktop.programs.child_launcher import ChildLauncher
from deskhand.desktop.programs.launcher import ProgramLauncher
from deskhand.desktop.programs.process_tree import Family

from .errors import ServerFailed
from .server_entry import ServerEntry
from .variables import expanded

MARKER = "DESKHAND_MCP_SERVER"
LONGEST_LINE = 8 * 1024 * 1024
"""Bytes of one message of a server."""
LONGEST_ERRORS = 2_000
"""Bytes that are kept of what a server last wrote to its standard error."""


LAST_OUTPUT_SECONDS = 0.5
"""Time to read what is left of the output when the program has ended."""


@dataclass(frozen=True)
class EndGrace:
    """Seconds that a server has to end: after the end of its input, and then after SIGTERM."""

    input_seconds: float = 1.0
    signal_seconds: float = 1.0


class ServerProgram:
    """A running server. Belongs to one event loop."""

    def __init__(
        self, spawned: Spawned, errors: int, launcher: ProgramLauncher, family: Family
    ) -> None:
        self._spawned = spawned
        self._launcher = launcher
        self._family = family
        self._loop = asyncio.get_running_loop()
        self._errors = errors
        self._last_errors = b""
        self._exited = asyncio.Event()
        self._code: int | None = None
        self._lines = asyncio.StreamReader(LONGEST_LINE)
        self._output: asyncio.ReadTransport | None = None
        self._input: asyncio.StreamWriter | None = None
        self._closing: asyncio.Task[None] | None = None
        self._loop.add_reader(errors, self._on_errors)
        self._loop.add_reader(spawned.program.fileno(), self._on_exit)

    @property
    def ending(self) -> str:
        """Return how the program ended, with the end of its standard error; empty while it runs."""
        if self._code is None:
            closed = self._lines.at_eof() and self._closing is None
            return f"the server has closed its output{self._quoted()}" if closed else ""
        how = f"exit code {self._code}" if self._code >= 0 else f"signal {-self._code}"
        return f"the server has ended with {how}{self._quoted()}"

    async def open(self) -> None:
        """Connect the pipes with the event loop."""
        self._output, _ = await self._loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(self._lines),
            os.fdopen(self._spawned.output, "rb", buffering=0),
        )
        assert self._spawned.input is not None  # noqa: S101 - servers are started with input
        transport, protocol = await self._loop.connect_write_pipe(
            asyncio.streams.FlowControlMixin,
            os.fdopen(self._spawned.input, "wb", buffering=0),
        )
        self._input = asyncio.StreamWriter(transport, protocol, None, self._loop)

    async def line(self) -> bytes:
        """Return the next line of the output; empty at its end.

        Raises:
            ServerFailed: If a line is longer than `LONGEST_LINE`.
        """
        try:
            return await self._lines.readline()
        except ValueError as error:
            raise ServerFailed(f"a message is longer than {LONGEST_LINE} bytes") from error

    async def write(self, data: bytes) -> None:
        """Write to the standard input.

        Raises:
            OSError: If the program does not read any more.
        """
        assert self._input is not None  # noqa: S101 - `open` precedes
        self._input.write(data)
        await self._input.drain()

    async def wait_exit(self, seconds: float) -> bool:
        """Wait for the exit of the program; return False if it still runs."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._exited.wait()
        return self._exited.is_set()

    async def close(self, grace: EndGrace) -> None:
        """End the program and all its descendants; twice is fine."""
        if self._closing is None:
            self._closing = asyncio.create_task(self._close(grace))
        await asyncio.shield(self._closing)

    async def _close(self, grace: EndGrace) -> None:
        if self._input is None:
            os.close(self._spawned.output)
            if self._spawned.input is not None:
                os.close(self._spawned.input)
        else:
            self._input.close()
            await self.wait_exit(grace.input_seconds)
        # After the exit, the number of the group may belong to other processes.
        groups = frozenset[int]() if self._exited.is_set() else self._family.groups
        family = self._family._replace(groups=groups)
        await asyncio.to_thread(self._launcher.end, family, grace.signal_seconds)
        if self._spawned.cgroup is not None:
            # Reaches processes that hide from the scan, such as one with a changed environment.
            self._spawned.cgroup.kill()
        await self.wait_exit(5.0)
        self._loop.remove_reader(self._spawned.program.fileno())
        self._spawned.program.close()
        if self._output is not None:
            self._output.close()
        self._close_errors()
        if self._spawned.cgroup is not None:
            self._spawned.cgroup.remove()

    def _on_exit(self) -> None:
        code = self._spawned.program.poll()
        if code is not None:
            self._loop.remove_reader(self._spawned.program.fileno())
            self._code = code
            self._exited.set()
            if self._output is not None:
                # A descendant may hold the pipe open for ever.
                self._loop.call_later(LAST_OUTPUT_SECONDS, self._output.close)

    def _on_errors(self) -> None:
        with suppress(BlockingIOError):
            data = os.read(self._errors, 65_536)
            self._last_errors = (self._last_errors + data)[-LONGEST_ERRORS:]
            if not data:
                self._close_errors()

    def _close_errors(self) -> None:
        if self._errors >= 0:
            self._loop.remove_reader(self._errors)
            os.close(self._errors)
            self._errors = -1

    def _quoted(self) -> str:
        text = self._last_errors.decode("utf-8", "replace").strip()
        return f": {text}" if text else ""


@dataclass
class ServerPrograms:
    """Starts servers of one desktop; use as ``async with``.

    ``environment`` returns the variables that commands start with.
    """

    environment: Callable[[], dict[str, str]]
    workdirs: Callable[[], Sequence[Path]]
    launcher: ProgramLauncher = field(default_factory=ChildLauncher)
    limits: ResourceLimits = field(default_factory=ResourceLimits)

    def __post_init__(self) -> None:
        self._spawner = Spawner(self.launcher)
        self._marker = f"{MARKER}={uuid4()}"
        self._numbers = count(1)

    async def __aenter__(self) -> Self:
        self._spawner.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.to_thread(self.launcher.end, Family(markers=(self._marker.encode(),)), 0.0)
        await asyncio.to_thread(self._spawner.close)

    async def start(self, entry: ServerEntry) -> ServerProgram:
        """Start the program of a server.

        Raises:
            ServerFailed: If it cannot be started.
        """
        environment = self.environment()
        environment |= expanded(entry.env, environment)
        marker = f"{self._marker}/{next(self._numbers)}/"
        # Set last, so that an entry cannot override it.
        environment[MARKER] = marker.partition("=")[2]
        errors, written = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            os.set_blocking(written, True)
            request = SpawnRequest(
                # The spawner joins output and errors; messages must not be mixed with errors.
                command=f"exec {shlex.join((entry.command, *entry.args))} 2>&3 3>&-",
                workdirs=self.workdirs(),
                environment=environment,
                limits=self.limits,
                stdin=True,
                passed=(written,),
            )
            spawned = await self._spawner.spawn(request)
        except StartFailed as error:
            os.close(errors)
            raise ServerFailed(f"it cannot be started: {error}") from error
        finally:
            os.close(written)
        group = frozenset({spawned.program.pid})
        program = ServerProgram(
            spawned, errors, self.launcher, Family(group, markers=(marker.encode(),))
        )
        await program.open()
        return program
