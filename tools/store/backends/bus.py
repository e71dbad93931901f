"""Port to the other control planes of a database: reports of changes, and events of the moment.

A control plane commits rows and publishes a notice: the ids of what has changed. The others read
the rows, which have the versions, and show the same event. An event of the moment, such as the text
that a model is writing, has no row and is sent whole.

- Each notice is heard by each of the others at least once, in its order, or they have *missed* it
  and read everything again. Nothing that an end has published comes back to it.
- An end that is not connected awaits `missed` again and again until it is, and once more then. What
  was published there meanwhile is sent as soon as it is connected.
- What changed several times before it was sent may be heard once.
- An event of the moment gets to those that are connected, or is lost.

Implementations are `LocalBus`, of one process, and `PostgresBus`. Callers know neither; the
programs choose one where they are composed. Who leads is another port (:mod:`.leadership`).

The port is beside `Notice` and not in ``tools/agents/driving``: events of chats, placers and the
composition of control planes use it, and only this folder is below all of them.
"""

from collections.abc import Sequence
from typing import Any, Protocol

from .notices import Notice

Json = dict[str, Any]


class BusListener(Protocol):
    """Takes what the others have published."""

    def heard(self, notices: Sequence[Notice]) -> None:
        """Take notices of another one; none if all were of a version that is not known here."""

    async def missed(self) -> None:
        """Read everything again: notices may have been missed."""

    def relay(self, kind: str, chat_id: str, data: Json) -> None:
        """Take an event of the moment of another one."""


class Bus(Protocol):
    """One end of the bus between the control planes of a database."""

    def publish(self, notice: Notice) -> None:
        """Report a change to the others soon; its rows are committed."""

    def send(self, kind: str, chat_id: str, data: Json) -> None:
        """Send an event of the moment to the others."""

    async def run(self, listener: BusListener) -> None:
        """Send, and give what arrives to ``listener``; never return."""
