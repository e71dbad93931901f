"""A program that runs in a pseudo-terminal, and what a person types there."""

import os
import select
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from tests.system.services import PATIENCE


class Terminal:
    """The side of the person."""

    def __init__(self, screen: int, process: subprocess.Popen[bytes]) -> None:
        self._screen = screen
        self._unread = b""
        self.process = process
        self.shown = ""
        """Everything that was printed."""

    def until(self, text: str, seconds: float = 3 * PATIENCE) -> None:
        """Read until a text is printed that was not waited for before."""
        end = time.monotonic() + seconds
        while text.encode() not in self._unread:
            assert self._read(end), f"{text!r} was not printed:\n{self.shown}"
        self._unread = self._unread.partition(text.encode())[2]

    def type(self, line: str) -> None:
        """Type a line."""
        os.write(self._screen, line.encode() + b"\n")

    def ended(self, seconds: float = 3 * PATIENCE) -> int:
        """Return the exit status, when everything that was printed is read."""
        end = time.monotonic() + seconds
        while self._read(end):
            pass
        return self.process.wait(max(0.1, end - time.monotonic()))

    def _read(self, end: float) -> bool:
        ready, _, _ = select.select([self._screen], [], [], max(0.0, end - time.monotonic()))
        try:
            data = os.read(self._screen, 65_536) if ready else b""
        except OSError:
            # EIO: the program, which had the other side, has ended.
            data = b""
        self._unread += data
        self.shown += data.decode(errors="replace")
        return bool(data)


@contextmanager
def terminal(command: Sequence[str], environment: dict[str, str]) -> Iterator[Terminal]:
    """Run a program in a terminal of its own; it is killed if the block ends before it."""
    screen, inner = os.openpty()
    process = subprocess.Popen(
        command,
        stdin=inner,
        stdout=inner,
        stderr=inner,
        env=environment,
        start_new_session=True,
    )
    os.close(inner)
    try:
        yield Terminal(screen, process)
    finally:
        process.kill()
        process.wait()
        os.close(screen)
