"""Events of runs, received while they happen."""

import time

from deskhand.desktop.client.received_events import ReceivedEvents

from .plane_transport import PlaneTransport
from .values import RunEvent, run_event


class RunEvents(ReceivedEvents[RunEvent]):
    """The events of one run, or of all, received while its ``async with`` block runs.

    The iteration ends with the control plane. With an event's ``id`` as ``since``, the stream
    begins with the event after that one.
    """

    def __init__(self, transport: PlaneTransport, run_id: str, since: str) -> None:
        path = f"/api/v0/chats/{run_id}/events" if run_id else "/api/v0/events"
        super().__init__(transport.open_client, lambda: path, since, run_event)

    async def next(self, timeout: float | None = None) -> RunEvent | None:
        """Return the next event, None at the end of the stream.

        Raises:
            TimeoutError: If none arrives in ``timeout`` seconds; the stream stays open.
        """
        return await self._next(None if timeout is None else time.monotonic() + timeout)
