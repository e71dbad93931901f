"""Stops the processes of the agent's user, and continues them.

States: *idle*; *held* by one or more holders, such as a person's private session and the typing of
a secret. The first `hold` stops the control group of the commands, where there is one, and what
else `selection` names, in passes until a pass finds no running process. A thread repeats the pass
while the freezer is held: it finds processes that started since, and those that the kernel
continued, for example by a timer with SIGCONT. It also checks the keyboard (`keyboard_guard`), and
`may_type` returns whether keys may be passed on. The last `release` continues what was stopped,
children before their parents.

Processes that were stopped before, as by job control of a shell, stay stopped. When this process
dies, the frozen processes are killed with their desktop: SIGKILL reaches a stopped process.
"""

import logging
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from .keyboard_guard import Grab, KeyboardGuard
from .report import StopReport
from .selection import Origins, ProcessFacts, is_browser, selection

logger = logging.getLogger(__name__)

INTERVAL = 0.1
"""Seconds between two passes while the freezer is held."""
MOST_PASSES = 20
"""Passes of one `hold`; a process that forks without end is stopped by the thread's passes."""

KEYBOARD_SECONDS = 1.0
"""Time that `hold` waits for the first check of the keyboard."""

SIGNALS = 2
"""Signals after which a process that still runs is reported as not stopped."""


class ProcessControl(Protocol):
    """Reads and signals the processes of one desktop."""

    def freeze(self) -> None:
        """Stop the control group of the commands, if they have one."""

    def thaw(self) -> None:
        """Let that group continue."""

    def table(self) -> Sequence[ProcessFacts]:
        """Return the processes that live, without zombies."""

    def stop(self, process: ProcessFacts) -> bool:
        """Stop a process; return False if it cannot be stopped."""

    def resume(self, process: ProcessFacts) -> None:
        """Continue a process; nothing happens if it has ended."""


class Freezer:
    """Stops processes while it is held. Any thread may call it; the calls block."""

    def __init__(
        self,
        processes: ProcessControl,
        origins: Callable[[], Origins],
        clock: Callable[[], float] = time.monotonic,
        keyboard: Callable[[bool], Grab] = lambda _: "none",
    ) -> None:
        self.keyboard = keyboard
        """Returns whether a client of the X server has grabbed the keyboard; set with a display.

        The argument is True for a check that may take the focus away for a moment.
        """
        self._processes = processes
        self._origins = origins
        self._clock = clock
        self._lock = threading.RLock()
        self._released = threading.Event()
        self._checked = threading.Event()
        self._keys_pass = threading.Event()
        self._keys_pass.set()
        self._thread: threading.Thread | None = None
        self._holders = 0
        self._guarding = 0
        """Holders that guard the keyboard."""
        self._guard: KeyboardGuard | None = None
        self._since = 0.0
        self._stopped: dict[tuple[int, int], ProcessFacts] = {}
        """By pid and start time, in the order in which they were stopped."""
        self._attempts: dict[tuple[int, int], int] = {}
        self._frozen: set[tuple[int, int]] = set()
        """Processes that are stopped with their control group."""
        self._running: tuple[str, ...] = ()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold while the body runs."""
        self.hold()
        try:
            yield
        finally:
            self.release()

    def hold(self, *, guards_keyboard: bool = True) -> None:
        """Stop the processes; when this returns, each of them has got its signal.

        With ``guards_keyboard``, which is for what a person or the service types, keys are refused
        while the keyboard may be grabbed (`may_type`).
        """
        with self._lock:
            self._holders += 1
            checks = guards_keyboard and not self._guarding
            self._guarding += guards_keyboard
            if self._holders == 1:
                self._begin()
            if checks:
                self._guard, self._checked = KeyboardGuard(), threading.Event()
                self._keys_pass.clear()
            if self._thread is None:
                self._thread = threading.Thread(target=self._watch, name="freeze", daemon=True)
                self._thread.start()
            checked = self._checked
        # In the thread, because an X server that hangs does not answer.
        if checks:
            checked.wait(KEYBOARD_SECONDS)

    def _begin(self) -> None:
        self._since = self._clock()
        self._stopped, self._attempts, self._frozen = {}, {}, set()
        self._processes.freeze()
        for _ in range(MOST_PASSES):
            if not self._pass():
                break
        self._released.clear()

    def release(self, *, guards_keyboard: bool = True) -> StopReport:
        """End one hold; with the last one, continue the processes. Return what was stopped."""
        with self._lock:
            report = self.report()
            self._holders = max(0, self._holders - 1)
            self._guarding = max(0, self._guarding - guards_keyboard)
            if not self._guarding:
                self._guard = None
                if self._holders:
                    self._keys_pass.set()
            if self._holders or self._thread is None:
                return report
            self._released.set()
            thread, self._thread = self._thread, None
        thread.join()
        with self._lock:
            self._keys_pass.set()
            self._processes.thaw()
            # A shell with job control must find its children running when it continues.
            for process in reversed(self._stopped.values()):
                self._processes.resume(process)
            self._stopped, self._frozen = {}, set()
        return report

    def report(self) -> StopReport:
        """Return what is stopped now."""
        with self._lock:
            if not self._holders:
                return StopReport()
            number = len(self._stopped) + len(self._frozen)
            return StopReport(number, self._running, self._clock() - self._since)

    def may_type(self, wait: float = 0.0) -> bool:
        """Return whether no stopped process can get keys, after up to ``wait`` seconds."""
        return self._keys_pass.wait(wait)

    def is_browser(self, pid: int) -> bool:
        """Return whether a process is a browser that the service launched."""
        with self._lock:
            return is_browser(pid, self._processes.table(), self._origins())

    def close(self) -> None:
        """Continue everything, even while it is held; closing again does nothing."""
        with self._lock:
            self._holders = min(self._holders, 1)
            self._guarding = min(self._guarding, 1)
        if self._holders:
            self.release()

    def _watch(self) -> None:
        while True:
            with self._lock:
                guard, checked = self._guard, self._checked
            if guard is not None:
                guard.checked(self.keyboard(not guard.settled))
                with self._lock:
                    if guard is self._guard and guard.open:
                        self._keys_pass.set()
                    elif guard is self._guard:
                        self._keys_pass.clear()
                checked.set()
            if self._released.wait(INTERVAL):
                return
            with self._lock:
                new = not self._released.is_set() and self._pass()
                if new and self._guard is not None:
                    self._guard.stopped_more()

    def _pass(self) -> bool:
        """Stop what runs; return True if a process got a signal for the first time."""
        chosen = selection(self._processes.table(), self._origins())
        running = {process.name for process in chosen.foreign if not process.frozen}
        new = False
        for process in chosen.stop:
            if process.stopped:
                continue
            key = _identity(process)
            if process.frozen:
                self._frozen.add(key)
                continue
            self._attempts[key] = self._attempts.get(key, 0) + 1
            if not self._processes.stop(process):
                running.add(process.name)
                continue
            new = new or key not in self._stopped
            self._stopped[key] = process
            # A shell sleeps in vfork(2) until its child, which is stopped, continues. It executes
            # nothing before its own signal takes effect.
            if self._attempts[key] > SIGNALS and not process.asleep:
                running.add(process.name)
        self._resume_others({_identity(process) for process in chosen.stop})
        self._running = tuple(sorted(running))
        return new

    def _resume_others(self, chosen: Collection[tuple[int, int]]) -> None:
        # A child of the service may have been stopped before the service knew its pid.
        for key in [key for key in self._stopped if key not in chosen]:
            self._processes.resume(self._stopped.pop(key))


def _identity(process: ProcessFacts) -> tuple[int, int]:
    return process.pid, process.started


class NoFreezer:
    """Stops nothing, where the agent's processes have no user of their own."""

    def hold(self, *, guards_keyboard: bool = True) -> None:
        """Do nothing."""

    def release(self, *, guards_keyboard: bool = True) -> StopReport:
        """Return an empty report."""
        return StopReport()

    def report(self) -> StopReport:
        """Return an empty report."""
        return StopReport()

    def may_type(self, wait: float = 0.0) -> bool:
        """Return True: nothing is stopped that could get keys later."""
        return True
