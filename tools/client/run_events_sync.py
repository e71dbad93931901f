"""Events of runs, received while they happen.

For programs without an event loop. Written from ``deskhand.tools.client.run_events`` by
``scripts/make_sync_client.py``: change it there.
"""

import json
import time
from contextlib import ExitStack
from types import TracebackType
from typing import Self

from deskhand.desktop.client.blocking import BlockingLines

from .plane_transport_sync import PlaneTransport
from .values import RunEvent, run_event


class RunEvents:
    """The events of one run, or of all, received while its ``with`` block runs.

    The iteration ends with the control plane. With an event's ``id`` as ``since``, the stream
    begins with the event after that one.
    """

    def __init__(self, transport: PlaneTransport, run_id: str, since: str) -> None:
        self._transport = transport
        self._path = f"/api/v0/chats/{run_id}/events" if run_id else "/api/v0/events"
        self._since = since
        self._stack = ExitStack()
        self._lines: BlockingLines

    def __enter__(self) -> Self:
        headers = {"Last-Event-ID": self._since} if self._since else {}
        opening = self._transport.open_client().lines(self._path, headers)
        self._lines = self._stack.enter_context(opening)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> RunEvent:
        event = self.next()
        if event is None:
            raise StopIteration
        return event

    def next(self, timeout: float | None = None) -> RunEvent | None:
        """Return the next event, None at the end of the stream.

        Raises:
            TimeoutError: If none arrives in ``timeout`` seconds; the stream stays open.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            text = self._lines.next(left)
            if text is None:
                return None
            # Only data lines are read: the JSON repeats what the id and event lines contain.
            if text.startswith("data:"):
                return run_event(json.loads(text[5:]))
