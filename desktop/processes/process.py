"""One running command: its output, its exit, its input and signals to it."""

import asyncio
import os
import signal
import termios
from collections.abc import Callable
from dataclasses import dataclass

from deskhand.desktop.programs.process_tree import start_ticks

from .errors import NotRunning
from .fair_turns import FairScheduler
from .head_tail import HeadTailBuffer
from .requests import Terminal
from .spawn import Spawned

READ_SIZE = 65_536
END_OF_TRANSMISSION = b"\x04"
LAST_READS = 16
"""Reads after the exit of the shell at most: a descendant may fill the pipe without end."""


@dataclass(frozen=True)
class Exit:
    """Exit status of the shell."""

    code: int
    """The shell's own code, or 128 + n after signal n."""
    signal: str | None
    """Name of the signal that ended the shell, such as ``SIGKILL``."""


def exit_of(returncode: int) -> Exit:
    """Return the exit for the code of a `RunningProgram`."""
    if returncode >= 0:
        return Exit(returncode, None)
    number = -returncode
    try:
        name = signal.Signals(number).name
    except ValueError:
        name = f"SIG{number}"
    return Exit(128 + number, name)


class Process:
    """A shell in a session of its own, read by the event loop.

    The process counts as exited when the shell has, even if a descendant still holds the output
    open; later output is collected all the same. Belongs to the loop that made it.
    """

    def __init__(
        self, spawned: Spawned, on_exit: Callable[[], None], scheduler: FairScheduler | None = None
    ) -> None:
        self._scheduler = scheduler or FairScheduler()
        self._program = spawned.program
        self.start_ticks = start_ticks(spawned.program.pid)
        """Start time of the shell in clock ticks since boot; None if it is unknown."""
        self._output: int | None = spawned.output
        self._input = spawned.input
        self._terminal = spawned.terminal
        self._cgroup = spawned.cgroup
        self.copy = spawned.copy
        self._on_exit = on_exit
        # One event serves for all changes, because each waiter checks its own condition in a loop.
        self._changed = asyncio.Event()
        self._writing = asyncio.Lock()
        self._loop = asyncio.get_running_loop()
        self.buffer = HeadTailBuffer()
        self.exit: Exit | None = None
        self._loop.add_reader(spawned.output, self._on_readable)
        self._loop.add_reader(spawned.program.fileno(), self._on_exit_ready)

    @property
    def group(self) -> int:
        """Process group id, which equals the shell's pid."""
        return self._program.pid

    @property
    def open(self) -> bool:
        """True while output can still arrive."""
        return self._output is not None

    async def wait_exit(self) -> None:
        """Wait until the shell has exited. Cancelling is harmless."""
        while self.exit is None:
            await self._changed.wait()

    async def wait_output(self, cursor: int) -> None:
        """Wait until there is output from ``cursor`` on, or the shell has exited."""
        while self.exit is None and self.buffer.total <= cursor:
            await self._changed.wait()

    async def wait_drained(self) -> None:
        """Wait until every writer has closed the output, possibly long after the exit."""
        while self._output is not None:
            await self._changed.wait()

    def signal(self, number: signal.Signals) -> None:
        """Signal the whole group.

        Raises:
            NotRunning: If the shell has exited: the kernel may have reused its pid.
        """
        if self.exit is not None:
            raise NotRunning(str(self._program.pid))
        self._program.signal(number)
        # A group can be killed as a whole but takes no other signal (cgroup.kill in cgroup-v2.rst).
        # The kill reaches members that hide from the scan of /proc, such as one with a changed
        # environment.
        if self._cgroup is not None and number == signal.SIGKILL:
            self._cgroup.kill()

    async def write(self, data: bytes) -> bool:
        """Write to the shell's stdin; return False if stdin is closed."""
        view = memoryview(data)
        # Concurrent writers would interleave, and add_writer takes one callback per descriptor.
        async with self._writing:
            if self._input is None:
                return False
            while view and self._input is not None:
                try:
                    view = view[os.write(self._input, view) :]
                except BlockingIOError:
                    await self._writable(self._input)
                except OSError:  # EPIPE, or EIO of a terminal: no reader is left
                    self.close_input()
        return not view

    async def end_input(self) -> None:
        """End the input: a terminal gets EOT (Ctrl+D), a pipe is closed."""
        if self._terminal:
            await self.write(END_OF_TRANSMISSION)
        else:
            self.close_input()

    def resize(self, size: Terminal) -> bool:
        """Resize the terminal; return False if the process has none or has exited."""
        if not self._terminal or self._input is None:
            return False
        termios.tcsetwinsize(self._input, (size.rows, size.columns))
        return True

    def close_input(self) -> None:
        """Close the write end of stdin; the reader gets end-of-file."""
        if self._input is not None:
            self._loop.remove_writer(self._input)
            os.close(self._input)
            self._input = None
            self._notify()

    def close(self) -> None:
        """Close all descriptors. The child is not signalled."""
        self.close_input()
        self._close_output()
        if self.exit is None:
            self._loop.remove_reader(self._program.fileno())
            # Blocked readers wake with an exit, so that no call waits on a closed process.
            self._end(self._program.poll())
            self._program.close()
        self._leave_group()

    def _leave_group(self) -> None:
        # The kernel keeps a group that a background descendant still lives in, so `close` tries
        # again.
        if self._cgroup is not None and self._cgroup.remove():
            self._cgroup = None

    def _on_readable(self) -> None:
        if not self._scheduler.used_up():
            self._read()

    def _read(self) -> bool:
        assert self._output is not None  # noqa: S101 -- the reader goes with the descriptor
        try:
            data = os.read(self._output, READ_SIZE)
        except BlockingIOError:
            return False
        except OSError:  # EIO: the last process has closed the terminal
            data = b""
        if not data:
            self._close_output()
            return False
        self.buffer.write(data)
        if self.copy is not None:
            self.copy.write(data)
        self._notify()
        return True

    def _on_exit_ready(self) -> None:
        if self._scheduler.used_up():
            return
        returncode = self._program.poll()
        if returncode is None:
            return
        self._loop.remove_reader(self._program.fileno())
        self._program.close()
        # The pipe is read before `exit` is set: a reader that sees the exit relies on all output of
        # the shell being in the buffer.
        for _ in range(LAST_READS):
            if self._output is None or not self._read():
                break
        self.close_input()
        self._end(returncode)
        self._leave_group()
        self._on_exit()

    def _end(self, returncode: int | None) -> None:
        # No return code: `close` was called before the program ended. SIGKILL ends it with the
        # spawn thread (spawn.py), or with the service.
        self.exit = exit_of(-signal.SIGKILL if returncode is None else returncode)
        self._notify()

    def _close_output(self) -> None:
        if self._output is not None:
            self._loop.remove_reader(self._output)
            os.close(self._output)
            self._output = None
            if self.copy is not None:
                self.copy.close()
            self._notify()

    def _notify(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    async def _writable(self, descriptor: int) -> None:
        ready = asyncio.Event()
        self._loop.add_writer(descriptor, ready.set)
        try:
            # `close_input` removes the writer, so `ready` may never be set: either ends the wait.
            changed = asyncio.ensure_future(self._changed.wait())
            waiting = asyncio.ensure_future(ready.wait())
            await asyncio.wait({changed, waiting}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            changed.cancel()
            waiting.cancel()
            # A closed descriptor's number may belong to another file by now.
            if self._input == descriptor:
                self._loop.remove_writer(descriptor)
