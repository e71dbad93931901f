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
    answer: "Future[None] | None" = None
    """None when nobody waits."""

    def answer_with(self, afterwards: Callable[[], None]) -> None:
        """Do the work and what must follow it before the caller may go on."""
        try:
            self.work()
            afterwards()
            if self.answer is not None:
                self.answer.set_result(None)
        except (RecordingError, OSError) as error:
            if self.answer is None:
                logger.error("recording is disturbed: %s", error)
            else:
                self.answer.set_exception(error)
        finally:
            self.refuse()

    def refuse(self) -> None:
        """Let the caller go on without an answer; nothing if there was one."""
        if self.answer is not None:
            self.answer.cancel()


END = Command(lambda: None)
"""The last request there is."""


class CommandQueue:
    """Takes requests from any thread until it is shut, and hands them to one in their order."""

    def __init__(self) -> None:
        self._requests: queue.SimpleQueue[Command] = queue.SimpleQueue()
        self._door = threading.Lock()
        self._shut = False

    def ask(self, work: Callable[[], None]) -> None:
        """Have something done and wait for it; what it raises is raised here.

        Raises:
            RecorderClosed: If nobody does it any more.
        """
        answer: Future[None] = Future()
        self._put(Command(work, answer))
        try:
            answer.result()
        except CancelledError as error:
            raise RecorderClosed from error

    def tell(self, work: Callable[[], None]) -> None:
        """Have something done without waiting for it.

        Raises:
            RecorderClosed: If nobody takes it any more.
        """
        self._put(Command(work))

    def post(self, work: Callable[[], None]) -> None:
        """Do so; what comes too late is nobody's."""
        with suppress(RecorderClosed):
            self.tell(work)

    def end(self) -> None:
        """Make ``END`` the next request after those that are there; twice is fine."""
        with suppress(RecorderClosed):
            self._put(END)

    def next(self, timeout: float | None) -> Command | None:
        """Wait for the next request; None when there is none in so many seconds."""
        try:
            return self._requests.get(timeout=timeout)
        except queue.Empty:
            return None

    def shut(self) -> None:
        """Take no more, and let go all who still wait for an answer."""
        with self._door:
            self._shut = True
        while not self._requests.empty():
            self._requests.get().refuse()

    def _put(self, request: Command) -> None:
        with self._door:
            if self._shut:
                raise RecorderClosed
            self._requests.put(request)
