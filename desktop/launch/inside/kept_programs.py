"""Programs of root that init starts again whenever they end.

The service asks for them before it fixes the users of programs: from then on it can neither add nor
change one.
"""

import os
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

from deskhand.desktop.launch.channel import Message
from deskhand.desktop.launch.namespaces import copy_mounts
from deskhand.desktop.programs.program import Program

from .execution import Execution
from .programs import fork, namespaces_of

ENDED = b"0"
"""Character that the notice of a program gets at each of its ends."""

FIRST_DELAY = 0.05
LONGEST_DELAY = 5.0
STABLE_SECONDS = 10.0
"""Running time after which the next end counts as the first one."""


def restart_delay(ends: int) -> float:
    """Return the seconds between the end of a program and its next start."""
    return min(FIRST_DELAY * 2.0 ** min(ends - 1, 32), LONGEST_DELAY)


def mounts_of_now() -> int:
    """Return a descriptor of a mount namespace that later mounts do not change.

    Raises:
        OSError: If the kernel refuses.
    """
    (ready, entered), (held, released) = (os.pipe2(os.O_CLOEXEC) for _ in range(2))

    def stay() -> None:
        os.close(released)
        copy_mounts()
        os.write(entered, b"1")
        os.read(held, 1)

    try:
        pid = fork(stay)
        os.close(entered)
        if not os.read(ready, 1):
            raise OSError("a mount namespace is refused")
        return os.open(f"/proc/{pid}/ns/mnt", os.O_RDONLY | os.O_CLOEXEC)
    finally:
        for descriptor in (ready, held, released):
            os.close(descriptor)


class _Kept(NamedTuple):
    program: Program
    notice: int
    descriptors: tuple[int, ...]
    namespaces: tuple[int, ...]
    started_at: float
    ends: int = 0
    """Ends without a stable time between them."""


class KeptPrograms:
    """The programs, by their pids while they run and by the time of their next start else."""

    def __init__(self) -> None:
        self._running: dict[int, _Kept] = {}
        self._due: list[tuple[float, _Kept]] = []

    def add(self, request: Message, descriptors: Sequence[int], service: int) -> Message:
        """Start a program. ``descriptors`` are the notice of its ends and those to pass on.

        With ``inside`` it starts in the namespaces that the service has entered; else with the
        mounts of now also when it starts again: the resolver of before, which slirp4netns asks.
        """
        notice, *passed = (os.dup(one) for one in descriptors)
        program = Program(
            tuple(request["argv"]),
            request["environment"],
            descriptors=tuple(request["numbers"]),
        )
        namespaces = namespaces_of(service) if request["inside"] else (mounts_of_now(),)
        self._start(_Kept(program, notice, tuple(passed), namespaces, 0.0))
        return {}

    def forget(self) -> Message:
        """Start none of them again."""
        for kept in (*self._running.values(), *(kept for _, kept in self._due)):
            for descriptor in (kept.notice, *kept.descriptors, *kept.namespaces):
                os.close(descriptor)
        self._running.clear()
        self._due.clear()
        return {}

    def ended(self, pid: int) -> None:
        """Plan the next start of a process that was reaped, if it is one of the programs."""
        kept = self._running.pop(pid, None)
        if kept is None:
            return
        now = time.monotonic()
        ends = 1 if now - kept.started_at >= STABLE_SECONDS else kept.ends + 1
        # A full or closed pipe: nothing reads the notice.
        with suppress(OSError):
            os.write(kept.notice, ENDED)
        self._due.append((now + restart_delay(ends), kept._replace(ends=ends)))

    def start_due(self) -> float | None:
        """Start what is due; return the seconds until the next start, None if there is none."""
        now = time.monotonic()
        due, self._due = self._due, [one for one in self._due if one[0] > now]
        for at, kept in due:
            if at <= now:
                self._start(kept)
        return min((at - now for at, _ in self._due), default=None)

    def _start(self, kept: _Kept) -> None:
        # Nothing reads the report of the start: a program that cannot start ends at once.
        report = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
        try:
            execution = Execution(
                kept.program, None, kept.descriptors, report, namespaces=kept.namespaces
            )
            self._running[fork(execution.run)] = kept._replace(started_at=time.monotonic())
        finally:
            os.close(report)
