"""Does each tool call once, however often its request arrives."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .action_journal import KEPT_COUNT, Answer, JournaledCall, restored
from .errors import CallRefused

# The file is written anew when it holds so many lines; what is known takes two a call at most.
_LONGEST_FILE = 8 * KEPT_COUNT


class Progress:
    """How far one request has come, written down as it goes."""

    def began(self) -> None:
        """Whatever happens from now on, the call may have been done."""

    def ended(self, answer: Answer) -> None:
        """The call has been done, and that is its answer; may be said again with more in it."""


Act = Callable[[Progress], Coroutine[Any, Any, Answer]]


@dataclass
class _Running:
    digest: str
    task: asyncio.Task[Answer]
    waiting: int = 0


class OncePerCall:
    """The calls of one desktop, remembered in a file that outlives the process.

    What is not on disk yet when the machine itself fails is lost, and so is the desktop then.
    """

    def __init__(self, file: Path | None = None, clock: Callable[[], float] = time.time) -> None:
        """Read the file if there is one; without one, calls are forgotten with the process."""
        self._file = file
        self._clock = clock
        self._running: dict[tuple[str, str], _Running] = {}
        self._lines = 0
        lines = file.read_text().splitlines() if file is not None and file.exists() else ()
        self._journal = restored(lines, clock())
        self._rewrite()

    async def run(self, call: JournaledCall | None, act: Act) -> tuple[Answer, bool]:
        """Return the answer of ``act``, and whether it was this request that did it.

        An act is cancelled when everybody who waits for it has gone; none is begun twice.

        Raises:
            CallRefused: If the id was used for another input, or nobody knows how it went.
        """
        if call is None:
            return await act(Progress()), True
        running = self._running.get(call.key)
        fresh = running is None
        if running is None:
            earlier = self._journal.earlier(call, self._clock())
            if earlier is not None:
                return earlier, False
            running = self._start(call, act)
        elif running.digest != call.digest:
            raise CallRefused.mismatch()
        return await self._waited(call, running), fresh

    def knows(self, call: JournaledCall | None) -> bool:
        """Whether the call runs here, or was answered here before."""
        if call is None:
            return False
        return call.key in self._running or self._journal.answered(call.key)

    def _start(self, call: JournaledCall, act: Act) -> _Running:
        task = asyncio.create_task(act(_Noted(self, call)), name=f"call {call.key[1]}")
        running = self._running[call.key] = _Running(call.digest, task)
        task.add_done_callback(lambda _: self._forget(call, running))
        return running

    async def _waited(self, call: JournaledCall, running: _Running) -> Answer:
        running.waiting += 1
        try:
            return await asyncio.shield(running.task)
        finally:
            running.waiting -= 1
            if not running.waiting and not running.task.done():
                self._forget(call, running)
                running.task.cancel()
                await asyncio.gather(running.task, return_exceptions=True)

    def _forget(self, call: JournaledCall, running: _Running) -> None:
        if self._running.get(call.key) is running:
            del self._running[call.key]

    def began(self, call: JournaledCall) -> None:
        """Write down that a call is about to be done."""
        self._write(self._journal.began(call, self._clock()))

    def ended(self, call: JournaledCall, answer: Answer) -> None:
        """Write down what a call was answered."""
        self._write(self._journal.ended(call, answer, self._clock()))

    def _write(self, line: str) -> None:
        if self._file is None:
            return
        if self._lines >= _LONGEST_FILE:
            self._rewrite()
            return
        self._lines += 1
        # A full disk must not keep anybody from acting: the memory knows the call all the same.
        with suppress(OSError), self._file.open("a") as file:
            file.write(line + "\n")

    def _rewrite(self) -> None:
        if self._file is None:
            return
        lines = list(self._journal.lines())
        self._lines = len(lines)
        partial = self._file.with_name(self._file.name + ".part")
        with suppress(OSError):
            partial.write_text("".join(f"{line}\n" for line in lines))
            partial.replace(self._file)


class _Noted(Progress):
    def __init__(self, once: OncePerCall, call: JournaledCall) -> None:
        self._once = once
        self._call = call

    def began(self) -> None:
        self._once.began(self._call)

    def ended(self, answer: Answer) -> None:
        self._once.ended(self._call, answer)
