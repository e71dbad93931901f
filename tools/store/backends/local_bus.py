"""The bus within one process: that of a control plane on SQLite, which is the only one."""

import asyncio

from .bus import BusListener, Json
from .notices import Notice


class LocalBus:
    """One end; the first end of a bus has nobody to talk to."""

    def __init__(self, beside: "LocalBus | None" = None) -> None:
        """``beside`` is any other end of the same bus."""
        self._ends: list[LocalBus] = [] if beside is None else beside._ends
        self._ends.append(self)
        self._listener: BusListener | None = None
        self._missed = False
        """Whether others have published while nothing listened here."""

    def publish(self, notice: Notice) -> None:
        """Report a change to the other ends at once."""
        for end in self._ends:
            if end is self:
                continue
            if end._listener is None:
                end._missed = True
            else:
                end._listener.heard((notice,))

    def send(self, kind: str, chat_id: str, data: Json) -> None:
        """Send an event of the moment to the other ends that listen."""
        for end in self._ends:
            if end is not self and end._listener is not None:
                end._listener.relay(kind, chat_id, data)

    async def run(self, listener: BusListener) -> None:
        """Give what the other ends publish to ``listener``; never return."""
        self._listener = listener
        try:
            if self._missed:
                self._missed = False
                await listener.missed()
            await asyncio.Event().wait()
        finally:
            self._listener = None
