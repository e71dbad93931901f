"""The process that the keyboard belongs to, and whether it has work left to do."""

import time
from pathlib import Path
from typing import Any

import xcffib
import xcffib.res

from deskhand.desktop.x11.connection import has_extension

_POLL_SECONDS = 0.005
_STILL_IN_A_ROW = 3
_LONGEST_SECONDS = 4.0


class Listener:
    """Looks for the client with the focus through the X-Resource extension.

    The connection is the caller's, and so are its errors, but for those of windows that vanish.
    """

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._known = has_extension(connection, b"X-Resource")
        if self._known:
            self._resources = connection(xcffib.res.key)

    def rest(self) -> None:
        """Wait until its main thread sleeps, for some seconds at most.

        A busy program looks up a key long after it was pressed; when it sleeps, it has done so
        with all. Where nobody knows the process, this returns at once.
        """
        process = self._process()
        if process is None:
            return
        deadline = time.monotonic() + _LONGEST_SECONDS
        before, still = "", 0
        while still < _STILL_IN_A_ROW and time.monotonic() < deadline:
            # It may sleep only until the server answers it: then our answer comes after its own.
            self._connection.core.GetInputFocus().reply()
            state = _asleep(process)
            still = still + 1 if state and state == before else 0
            before = state
            time.sleep(_POLL_SECONDS)

    def _process(self) -> int | None:
        window = self._connection.core.GetInputFocus().reply().focus
        # 0 and 1 stand for nobody, and for whatever is under the pointer.
        if not self._known or window <= 1:
            return None
        wanted = xcffib.res.ClientIdMask.LocalClientPID
        made: Any = xcffib.res.ClientIdSpec
        spec = made.synthetic(window, wanted)
        try:
            found = self._resources.QueryClientIds(1, [spec]).reply()
        except xcffib.XcffibException:
            return None
        return next((value.value[0] for value in found.ids if len(value.value)), None)


def _asleep(process: int) -> str:
    """Tells one sleep from the next; empty while it runs, or could if there were a processor."""
    folder = Path(f"/proc/{process}")
    try:
        state = (folder / "stat").read_text().rpartition(")")[2].split()[0]
        return (folder / "schedstat").read_text() if state == "S" else ""
    except (OSError, IndexError):
        return "gone"
