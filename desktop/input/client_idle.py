"""Waits until the process with the keyboard focus is idle.

A key event carries a keycode, which the client translates with the keyboard map that it has when
it processes the event. Before the map changes, the client must therefore have processed all key
events sent so far. X11 has no acknowledgement for that; the state of the client's main thread
(proc(5), stat and schedstat) is the best evidence.
"""

import time
from pathlib import Path
from typing import Any

import xcffib
import xcffib.res

from deskhand.desktop.x11.client_processes import ClientProcesses
from deskhand.desktop.x11.connection import has_extension

_POLL_SECONDS = 0.005
_SAME_IN_A_ROW = 3
_LONGEST_SECONDS = 4.0


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
        window = self._connection.core.GetInputFocus().reply().focus
        known = self._known_process(window)
        if known is None:
            return
        behind = self._processes.find(window, self._mask) if self._processes else 0
        process, relay = (behind, known) if behind else (known, None)
        deadline = time.monotonic() + _LONGEST_SECONDS
        previous, same = "", 0
        while same < _SAME_IN_A_ROW and time.monotonic() < deadline:
            # The client may sleep only until its own request is answered. The server answers this
            # round trip after that one.
            self._connection.core.GetInputFocus().reply()
            state = _sleep_signature(process)
            if relay is not None and not _sleep_signature(relay):
                state = ""
            same = same + 1 if state and state == previous else 0
            previous = state
            time.sleep(_POLL_SECONDS)

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
