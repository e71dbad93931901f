"""Searches a tree with ripgrep where it is installed, else in a forked child. Blocking."""

import json
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import IO, Any, Protocol

from .errors import FileError
from .requests import BadFileRequest
from .search_fallback import scan
from .search_query import Match, SearchRequest, ripgrep_arguments, ripgrep_match

SECONDS = 10.0
"""Timeout of a search, which then returns the matches found so far."""

Json = dict[str, Any]


class Engine(Protocol):
    """A search that runs in a process of its own."""

    name: str

    def matches(self) -> Iterator[Match]:
        """Yield matches in order of the paths."""

    def kill(self) -> None:
        """Kill the process."""

    def close(self) -> str:
        """Wait for the process to exit and return its error message, if any."""


class Ripgrep:
    """Runs ``rg``."""

    name = "ripgrep"

    def __init__(self, program: str, request: SearchRequest, base: str) -> None:
        self._files = not request.pattern
        self._child = subprocess.Popen(
            [program, *ripgrep_arguments(request, base)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def matches(self) -> Iterator[Match]:
        """Yield matches in order of the paths."""
        assert self._child.stdout is not None  # noqa: S101 -- asked for above
        if self._files:
            for path in _parts(self._child.stdout):
                yield Match(path.decode("utf-8", "replace"))
            return
        for line in self._child.stdout:
            found = ripgrep_match(line)
            if found is not None:
                yield found

    def kill(self) -> None:
        """Kill the process."""
        self._child.kill()

    def close(self) -> str:
        """Wait for the process to exit and return its error message, if any."""
        with self._child as child:
            assert child.stdout is not None  # noqa: S101 -- asked for above
            child.stdout.close()
            assert child.stderr is not None  # noqa: S101 -- asked for above
            message = child.stderr.read().decode("utf-8", "replace").strip()
        return message if child.returncode == FAILED else ""


FAILED = 2
"""Exit status of ripgrep for an error; 1 means no match."""


class Scan:
    """Searches in a fork: the desktop's user may have no permission to execute the interpreter."""

    name = "scan"

    def __init__(self, request: SearchRequest, base: str, seconds: float) -> None:
        # O_CLOEXEC: a program started meanwhile would otherwise hold the pipe, whose end of file
        # marks the end of the search.
        reading, writing = os.pipe2(os.O_CLOEXEC)
        self._pid = os.fork()
        if self._pid == 0:
            _scan_alone(request, base, writing, seconds)
        os.close(writing)
        self._output = os.fdopen(reading, "rb")

    def matches(self) -> Iterator[Match]:
        """Yield matches in order of the paths."""
        for line in self._output:
            if line.endswith(b"\n"):
                yield Match(*json.loads(line))

    def kill(self) -> None:
        """Kill the process."""
        with suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)

    def close(self) -> str:
        """Wait for the process to exit and return its error message, if any."""
        self._output.close()
        _, status = os.waitpid(self._pid, 0)
        # Negative is the number of a signal (`os.waitstatus_to_exitcode`): `kill` or the child's
        # own alarm, neither of which is an error.
        return "the search broke off" if os.waitstatus_to_exitcode(status) > 0 else ""


def search(
    request: SearchRequest,
    base: str,
    seconds: float = SECONDS,
    *,
    program: str | None = None,
    started: Callable[[Callable[[], None]], None] = lambda interrupt: None,
) -> Json:
    """Return a page of matches below ``base``, a real path.

    ``program`` is the path of ripgrep; None selects the fallback. ``started`` receives a function
    that ends the search early, from any thread.

    Raises:
        BadFileRequest: If ripgrep cannot read the pattern.
    """
    engine = _engine(request, base, seconds, program)
    expired: list[bool] = []

    def expire() -> None:
        expired.append(True)
        engine.kill()

    ended = threading.Lock()

    def interrupt() -> None:
        # After close() has reaped the child, its pid may be reused.
        with ended:
            if not closed:
                engine.kill()

    timer = threading.Timer(seconds, expire)
    timer.start()
    found: list[Match] = []
    closed: list[bool] = []
    count = 0
    try:
        started(interrupt)
        for count, match in enumerate(engine.matches(), 1):
            # Matches of earlier pages are only counted, so that memory is bounded by one page.
            if count > request.offset:
                found.append(match)
            if count >= request.needed:
                break
    finally:
        timer.cancel()
        # The timer must not kill after close() has reaped the child, when its pid may be reused.
        timer.join()
        engine.kill()
        with ended:
            closed.append(True)
        complaint = engine.close()
    # Status 2 may also mean that some files were unreadable; matches outweigh that.
    if complaint and not count and not expired:
        raise BadFileRequest("The search is invalid.", complaint, {"pattern": complaint})
    return _page(request, base, found, engine.name, timed_out=bool(expired))


def _engine(request: SearchRequest, base: str, seconds: float, program: str | None) -> Engine:
    try:
        if program is not None:
            return Ripgrep(program, request, base)
        request.expression()
        return Scan(request, base, seconds)
    except OSError as error:
        raise FileError(f"the search could not be started: {error}") from error


def _page(
    request: SearchRequest, base: str, found: list[Match], engine: str, *, timed_out: bool
) -> Json:
    # Matches are reported below the path of the request, even if it contains links.
    named = request.path.rstrip("/")
    page = [replace(m, path=named + m.path[len(base) :]) for m in found[: request.limit]]
    answer: Json = {
        "matches": [match.to_json() for match in page],
        "count": len(page),
        "offset": request.offset,
        "has_more": len(found) > request.limit,
        "timed_out": timed_out,
        "engine": engine,
    }
    if answer["has_more"]:
        answer["next_offset"] = request.offset + len(page)
    return answer


def _scan_alone(request: SearchRequest, base: str, out: int, seconds: float) -> None:
    """Search in the forked child and exit it, without running any cleanup of the service."""
    try:
        # The wake-up descriptor of asyncio is inherited: a signal in the child would otherwise be
        # reported to the event loop of the service.
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGALRM):
            signal.signal(number, signal.SIG_DFL)
        # Inherited descriptors would keep connections open that the service closes.
        os.dup2(out, 3)
        os.closerange(4, os.sysconf("SC_OPEN_MAX"))
        # SIGALRM ends the child even if the service has died.
        signal.setitimer(signal.ITIMER_REAL, seconds + 1)
        scan(request, base, 3)
        os._exit(0)
    finally:
        os._exit(1)


def _parts(stream: IO[bytes]) -> Iterator[bytes]:
    rest = b""
    while data := os.read(stream.fileno(), 65_536):
        *whole, rest = (rest + data).split(b"\0")
        yield from whole
