"""Queue of commands from any thread to the recorder's thread."""

import logging
import queue
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from dataclasses import dataclass

from deskhand.recording.errors import RecorderClosed, RecordingError

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Command:
    """Work for the recorder's thread and the future of the caller."""

    work: Callable[[], None]
    result: "Future[None] | None" = None
    """None if no caller waits."""

    def run(self, afterwards: Callable[[], None]) -> None:
        """Do the work and then ``afterwards``; only then does the caller receive the result."""
        try:
            self.work()
            afterwards()
            if self.result is not None:
                self.result.set_result(None)
        except (RecordingError, OSError) as error:
            if self.result is None:
                logger.error("recording is disturbed: %s", error)
            else:
                self.result.set_exception(error)
        finally:
            # After `set_result` this has no effect; after an unexpected error it releases the
            # caller.
            self.cancel()

    def cancel(self) -> None:
        """Cancel the caller's future; without effect if it has a result."""
        if self.result is not None:
            self.result.cancel()


END = Command(lambda: None)
"""Last command: the consumer leaves its loop."""


class CommandQueue:
    """First-in, first-out queue that accepts commands until it is closed.

    The consumer handles ``RecordingError`` and ``OSError``: they become the result of the caller
    who waits, or a log entry. Any other exception ends the consumer's thread; ``close`` then
    cancels the futures of all callers, so that no caller waits for ever.
    """

    def __init__(self) -> None:
        self._commands: queue.SimpleQueue[Command] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._closed = False

    def call(self, work: Callable[[], None]) -> None:
        """Have ``work`` done and wait for it; re-raise its error.

        Raises:
            RecorderClosed: If the queue is closed before the work is done.
        """
        result: Future[None] = Future()
        self._put(Command(work, result))
        try:
            result.result()
        except CancelledError as error:
            raise RecorderClosed from error

    def submit(self, work: Callable[[], None]) -> None:
        """Queue ``work`` without waiting for it.

        Raises:
            RecorderClosed: If the queue is closed.
        """
        self._put(Command(work))

    def submit_if_open(self, work: Callable[[], None]) -> None:
        """Queue ``work``; after ``close`` this is a no-op."""
        with suppress(RecorderClosed):
            self.submit(work)

    def end(self) -> None:
        """Queue ``END`` after all commands so far; idempotent."""
        with suppress(RecorderClosed):
            self._put(END)

    def next(self, timeout: float | None) -> Command | None:
        """Wait for the next command; return None after ``timeout`` seconds."""
        try:
            return self._commands.get(timeout=timeout)
        except queue.Empty:
            return None

    def close(self) -> None:
        """Accept no more commands and cancel those that wait in the queue."""
        with self._lock:
            # Under the lock: `_put` adds a command before this point or raises.
            self._closed = True
        while not self._commands.empty():
            self._commands.get().cancel()

    def _put(self, command: Command) -> None:
        with self._lock:
            if self._closed:
                raise RecorderClosed
            self._commands.put(command)
