"""Threads of the helper, by kind of work, so that long searches do not delay reads."""

import threading
from collections.abc import Callable
from queue import SimpleQueue

from deskhand.desktop.agent_helper.errors import HelperUnavailable

MOST_WAITING = 512
"""Calls of one lane that wait for a thread."""


class ThreadLane:
    """Runs functions in at most ``most`` threads, which are started when they are needed.

    The threads are daemons: the end of the process does not wait for a blocked one.
    """

    def __init__(self, name: str, most: int) -> None:
        self._name = name
        self._most = most
        self._queue: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._lock = threading.Lock()
        self._threads = 0
        self._idle = 0
        self._waiting = 0

    def submit(self, work: Callable[[], None]) -> None:
        """Run a function soon; it must not raise.

        Raises:
            HelperUnavailable: If too many functions wait already.
        """
        with self._lock:
            if self._waiting >= MOST_WAITING:
                raise HelperUnavailable(f"{self._waiting} calls wait already")
            self._waiting += 1
            if self._waiting > self._idle and self._threads < self._most:
                self._start()
        self._queue.put(work)

    def _start(self) -> None:
        try:
            threading.Thread(target=self._run, name=self._name, daemon=True).start()
        except RuntimeError as error:
            # The agent may have used up all threads of its user; another one may do the work.
            if not self._threads:
                self._waiting -= 1
                raise HelperUnavailable(str(error)) from error
        else:
            self._threads += 1

    def _run(self) -> None:
        while True:
            with self._lock:
                self._idle += 1
            work = self._queue.get()
            with self._lock:
                self._idle -= 1
                self._waiting -= 1
            work()
