"""Events of runs, received while they happen.

For programs without an event loop. Written from ``deskhand.tools.client.run_events`` by
``scripts/make_sync_client.py``: change it there.
"""

import time

from deskhand.desktop.client.received_events_sync import ReceivedEvents

from .plane_transport_sync import PlaneTransport
from .values import RunEvent, run_event


class RunEvents(ReceivedEvents[RunEvent]):
    """The events of one run, or of all, received while its ``with`` block runs.

    The iteration ends with the control plane. With an event's ``id`` as ``since``, the stream
    begins with the event after that one.
    """

    def __init__(self, transport: PlaneTransport, run_id: str, since: str) -> None:
        path = f"/api/v0/chats/{run_id}/events" if run_id else "/api/v0/events"
        super().__init__(transport.open_client, lambda: path, since, run_event)

    def next(self, timeout: float | None = None) -> RunEvent | None:
        """Return the next event, None at the end of the stream.

        Raises:
            TimeoutError: If none arrives in ``timeout`` seconds; the stream stays open.
        """
        return self._next(None if timeout is None else time.monotonic() + timeout)
