"""Signals as bytes of a pipe, so that one poll(2) waits for them and for messages."""

import os
import signal
from collections.abc import Iterable

ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class SignalPipe:
    """Catches signals for the whole process; a reader takes their numbers."""

    def __init__(self, caught: Iterable[signal.Signals] = (*ENDING, signal.SIGCHLD)) -> None:
        self._reading, writing = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
        for number in caught:
            # A handler has to exist for the number to be written; execve(2) resets it for children.
            signal.signal(number, _ignored)

    def fileno(self) -> int:
        """Return the descriptor, for poll(2)."""
        return self._reading

    def take(self) -> set[int]:
        """Return the signals that came since the last call, without waiting."""
        try:
            return set(os.read(self._reading, 4096))
        except BlockingIOError:
            return set()


def _ignored(_number: int, _frame: object) -> None:
    pass
