"""Waits until the process with the keyboard focus is idle, or all processes of its application.

A key event carries a keycode, which the client translates with the keyboard map that it has when
it processes the event. Before the map changes, the client must therefore have processed all key
events sent so far. A browser sends a key to the process of the page or frame that has the focus in
its view, and learns from that process when a click has moved it, or that a shortcut is its own.

X11 has no acknowledgement for either; the states of the main threads (proc(5), stat and schedstat)
are the best evidence.
"""

import os
import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import xcffib
import xcffib.res

from deskhand.desktop.x11.client_processes import ClientProcesses
from deskhand.desktop.x11.connection import has_extension

PROC = Path("/proc")
_POLL_SECONDS = 0.005
_FOCUS_POLL_SECONDS = 0.002
_SAME_IN_A_ROW = 3
_LONGEST_SECONDS = 4.0
_LONGEST_FOCUS_SECONDS = 0.25
"""A page that is busy for longer shows a film or an animation, and is never idle."""


class _Focused(NamedTuple):
    """The process that has the keyboard focus."""

    process: int
    relay: int | None
    """Process of the filter through which it reaches the X server."""


class FocusedClient:
    """Process of the focused client, found through the X-Resource extension.

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

    def wait_idle(self) -> None:
        """Wait until the main thread of the process sleeps, for `_LONGEST_SECONDS` at most.

        The filter in front of it must have passed everything on, but may serve others. Returns at
        once if the process is unknown.
        """
        if focused := self._focused():
            self._wait([focused.process], focused.relay, _LONGEST_SECONDS, _POLL_SECONDS)

    def wait_focus(self) -> None:
        """Wait until an application of several processes has moved the focus as its input asks.

        At most `_LONGEST_FOCUS_SECONDS`; not at all for one of a single process, which handles
        events in their order.
        """
        focused = self._focused()
        if focused and len(processes := with_helpers(focused.process)) > 1:
            self._wait(processes, focused.relay, _LONGEST_FOCUS_SECONDS, _FOCUS_POLL_SECONDS)

    def _wait(
        self, processes: Sequence[int], relay: int | None, longest: float, poll: float
    ) -> None:
        deadline = time.monotonic() + longest
        previous, same = "", 0
        while same < _SAME_IN_A_ROW and time.monotonic() < deadline:
            # The client may sleep only until its own request is answered. The server answers this
            # round trip after that one.
            self._connection.core.GetInputFocus().reply()
            states = [_sleep_signature(process) for process in processes]
            state = " ".join(states) if all(states) else ""
            if relay is not None and not _sleep_signature(relay):
                state = ""
            same = same + 1 if state and state == previous else 0
            previous = state
            time.sleep(poll)

    def _focused(self) -> _Focused | None:
        window = self._connection.core.GetInputFocus().reply().focus
        known = self._known_process(window)
        if known is None:
            return None
        behind = self._processes.find(window, self._mask) if self._processes else 0
        return _Focused(behind, known) if behind else _Focused(known, None)

    def _known_process(self, window: int) -> int | None:
        """Return the process that the server knows for the client of a window."""
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
        return next((value.value[0] for value in found.ids if len(value.value)), None)


def _sleep_signature(process: int) -> str:
    """Return a value that differs from one sleep to the next; empty for a runnable process."""
    folder = Path(f"/proc/{process}")
    try:
        # The process name before the state may contain blanks and parentheses (proc(5)).
        state = (folder / "stat").read_text().rpartition(")")[2].split()[0]
        return (folder / "schedstat").read_text() if state == "S" else ""
    except (OSError, IndexError):
        # Constant, so that the wait for a process that has ended or cannot be read is soon over.
        return "gone"


def with_helpers(process: int, proc: Path = PROC) -> Sequence[int]:
    """Return a process and those descendants that run the same program, as renderers do."""
    parents = dict[int, list[int]]()
    for name in os.listdir(proc):  # noqa: PTH208 -- Path objects would cost more than the reading
        if name.isdigit() and (parent := _parent(proc / name)):
            parents.setdefault(parent, []).append(int(name))
    program = _program(proc / str(process))
    found = [process]
    # The list grows while it is walked.
    for one in found:
        found += (child for child in parents.get(one, []) if _program(proc / str(child)) == program)
    return found


def _parent(folder: Path) -> int:
    try:
        return int((folder / "stat").read_text().rpartition(")")[2].split()[1])
    except (OSError, IndexError, ValueError):
        return 0


def _program(folder: Path) -> str:
    """Return the first argument of a process."""
    try:
        # Chromium joins the arguments of a forked renderer with blanks.
        return re.split("[ \0]", (folder / "cmdline").read_text(errors="replace"), maxsplit=1)[0]
    except OSError:
        return ""
