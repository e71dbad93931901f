"""Waits until the processes of X clients are idle.

X11 has no acknowledgement of an event: the states of a client's threads (proc(5), stat and
schedstat) are the best evidence that it has processed what it was sent.

A key event carries a keycode, which the client translates with the keyboard map that it has when
it processes the event. Before the map changes, the client must therefore have processed all key
events sent so far; its main thread does that. A browser passes events of the pointer on to
processes of its own, which are its descendants. It sends a key to the process of the page or frame
that has the focus in its view, and learns from that process that a click has moved the focus, or
that a shortcut is its own.
"""

import os
import re
import time
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import xcffib
import xcffib.res

from deskhand.desktop.x11.client_processes import ClientProcesses
from deskhand.desktop.x11.connection import has_extension

_POLL_SECONDS = 0.005
_SAME_IN_A_ROW = 3
# Browsers pass a motion, and the click behind it, on with the next frame, and sleep until then:
# samples of several frames. In a few of them, timers and animations may run.
_SAMPLES, _MOST_RUNNING = 13, 2
_LONGEST_SECONDS = 4.0
_LONGEST_FOCUS_SECONDS = 1.0
"""A page that is busy for longer shows a film or an animation, and is never idle."""
_PROC = Path("/proc")


class ClientProcess(NamedTuple):
    """The process of an X client, and the filter in front of it."""

    process: int
    relay: int | None


class ClientIdle:
    """Waits for processes of clients, found through the X-Resource extension.

    Of a client behind a filter the extension has the process of the filter, and ``processes`` has
    the client's own. The caller owns the connection and handles its errors, except those of
    windows that vanish.
    """

    def __init__(self, connection: Any, processes: ClientProcesses | None = None) -> None:
        self._connection = connection
        self._processes = processes
        self._mask: int = connection.get_setup().resource_id_mask
        self._supported = has_extension(connection, b"X-Resource")
        if self._supported:
            self._resources = connection(xcffib.res.key)

    def wait_for_keys(self) -> None:
        """Wait until the client with the keyboard focus has handled its keys, and sleeps.

        The filter in front of it must have passed everything on, but may serve others. Waits for
        `_LONGEST_SECONDS` at most, and for no time if the process is unknown.
        """
        client = self._focused()
        if client is None:
            return
        deadline = time.monotonic() + _LONGEST_SECONDS
        previous, same = "", 0
        while same < _SAME_IN_A_ROW and time.monotonic() < deadline:
            # The client may sleep only until its own request is answered. The server answers this
            # round trip after that one.
            self._connection.core.GetInputFocus().reply()
            state = _sleep_signature(client.process)
            if client.relay is not None and not _sleep_signature(client.relay):
                state = ""
            same = same + 1 if state and state == previous else 0
            previous = state
            time.sleep(_POLL_SECONDS)

    def wait_for_focus_moves(self) -> None:
        """Wait until the client with the keyboard focus has moved it among its processes.

        It waits for `_LONGEST_FOCUS_SECONDS` at most, and for no time if the client is a single
        process, which handles events in their order.
        """
        client = self._focused()
        if client and len(with_helpers(client.process)) > 1:
            deadline = time.monotonic() + _LONGEST_FOCUS_SECONDS
            self.wait_for_families([client], deadline, lambda: False)

    def _focused(self) -> ClientProcess | None:
        return self.client(self._connection.core.GetInputFocus().reply().focus)

    def wait_for_families(
        self, clients: Iterable[ClientProcess], deadline: float, over: Callable[[], bool]
    ) -> None:
        """Wait until clients and their descendants run seldom, and have handled what they got.

        It ends at ``deadline`` on the monotonic clock, or as soon as ``over`` returns True.
        """
        known = set(clients)
        processes = _families({client.process for client in known})
        processes += [client.relay for client in known if client.relay is not None]
        samples = deque([True] * _SAMPLES, maxlen=_SAMPLES)
        while sum(samples) > _MOST_RUNNING and time.monotonic() < deadline and not over():
            self._connection.core.GetInputFocus().reply()
            samples.append(any(map(_runs, processes)))
            time.sleep(_POLL_SECONDS)

    def client(self, window: int) -> ClientProcess | None:
        """Return the process of the client of a window."""
        # Focus 0 is None, 1 is PointerRoot (SetInputFocus).
        if not self._supported or window <= 1:
            return None
        wanted = xcffib.res.ClientIdMask.LocalClientPID
        spec_type: Any = xcffib.res.ClientIdSpec
        spec = spec_type.synthetic(window, wanted)
        try:
            found = self._resources.QueryClientIds(1, [spec]).reply()
        except xcffib.XcffibException:
            return None
        known = next((value.value[0] for value in found.ids if len(value.value)), None)
        if known is None:
            return None
        behind = self._processes.find(window, self._mask) if self._processes else 0
        return ClientProcess(behind, known) if behind else ClientProcess(known, None)


def _sleep_signature(process: int) -> str:
    """Return a value that differs from one sleep to the next; empty for a runnable process."""
    folder = _PROC / str(process)
    try:
        state = _stat(folder / "stat")[0]
        return (folder / "schedstat").read_text() if state == "S" else ""
    except (OSError, IndexError):
        # Constant, so that the wait for a process that has ended or cannot be read is soon over.
        return "gone"


def _runs(process: int) -> bool:
    """Return True if a thread of the process is running, or waits for a processor."""
    try:
        threads = (_PROC / str(process) / "task").iterdir()
        return any(_stat(thread / "stat")[0] == "R" for thread in threads)
    except (OSError, IndexError):
        return False  # It, or one of its threads, has just ended.


def with_helpers(process: int, proc: Path = _PROC) -> list[int]:
    """Return a process and its descendants that run the same program, as renderers do."""
    program = _program(proc / str(process))
    return [one for one in _families({process}, proc) if _program(proc / str(one)) == program]


def _families(processes: set[int], proc: Path = _PROC) -> list[int]:
    """Return processes and all their descendants."""
    children: dict[int, list[int]] = {}
    for name in os.listdir(proc):  # noqa: PTH208 -- saves a Path object for each process
        if name.isdigit():
            try:
                parent = int(_stat(proc / name / "stat")[1])
            except (OSError, IndexError):
                continue
            children.setdefault(parent, []).append(int(name))
    found = list(processes)
    for process in found:
        found += [child for child in children.get(process, ()) if child not in processes]
    return found


def _program(folder: Path) -> str:
    """Return the first argument of a process."""
    try:
        # Chromium joins the arguments of a forked renderer with blanks.
        return re.split("[ \0]", (folder / "cmdline").read_text(errors="replace"), maxsplit=1)[0]
    except OSError:
        return ""


def _stat(path: Path) -> list[str]:
    # The process name before the state may contain blanks and parentheses (proc(5)).
    return path.read_text().rpartition(")")[2].split()
