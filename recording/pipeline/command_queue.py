"""What one thread is asked to do by others."""

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
    """Some work, and who waits for it."""

    work: Callable[[], None]
    result: "Future[None] | None" = None
    """None when nobody waits."""

    def run(self, afterwards: Callable[[], None]) -> None:
        """Do the work and what must follow it before the caller may go on."""
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
            self.cancel()

    def cancel(self) -> None:
        """Let the caller go on without an answer; nothing if there was one."""
        if self.result is not None:
            self.result.cancel()


END = Command(lambda: None)
"""The last request there is."""


class CommandQueue:
    """Takes requests from any thread until it is shut, and hands them to one in their order."""

    def __init__(self) -> None:
        self._commands: queue.SimpleQueue[Command] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._closed = False

    def call(self, work: Callable[[], None]) -> None:
        """Have something done and wait for it; what it raises is raised here.

        Raises:
            RecorderClosed: If nobody does it any more.
        """
        result: Future[None] = Future()
        self._put(Command(work, result))
        try:
            result.result()
        except CancelledError as error:
            raise RecorderClosed from error

    def submit(self, work: Callable[[], None]) -> None:
        """Have something done without waiting for it.

        Raises:
            RecorderClosed: If nobody takes it any more.
        """
        self._put(Command(work))

    def submit_if_open(self, work: Callable[[], None]) -> None:
        """Do so; what comes too late is nobody's."""
        with suppress(RecorderClosed):
            self.submit(work)

    def end(self) -> None:
        """Make ``END`` the next request after those that are there; twice is fine."""
        with suppress(RecorderClosed):
            self._put(END)

    def next(self, timeout: float | None) -> Command | None:
        """Wait for the next request; None when there is none in so many seconds."""
        try:
            return self._commands.get(timeout=timeout)
        except queue.Empty:
            return None

    def close(self) -> None:
        """Take no more, and let go all who still wait for an answer."""
        with self._lock:
            self._closed = True
        while not self._commands.empty():
            self._commands.get().cancel()

    def _put(self, command: Command) -> None:
        with self._lock:
            if self._closed:
                raise RecorderClosed
            self._commands.put(command)
