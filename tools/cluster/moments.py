"""The events of the moment between this control plane and the others, on a port of its own."""

import asyncio
import logging
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager
from pathlib import Path

from .errors import BadAuthority
from .member import Member
from .moment import Json, MomentaryEvent, PeerAddress
from .moment_reader import MomentReader
from .moment_sender import MomentSender
from .trust import ClusterTls

log = logging.getLogger(__name__)

Peers = Callable[[], Awaitable[Collection[PeerAddress]]]
Receive = Callable[[str, str, Json], object]


class PlaneMoments:
    """Sends events to other control planes and receives theirs; `plane_moments` opens it."""

    def __init__(
        self, tls: ClusterTls, sender: MomentSender, address: PeerAddress, peers: Peers
    ) -> None:
        self._tls = tls
        self._sender = sender
        self._peers = peers
        self.address = address
        """Where the others connect to."""

    @property
    def connections(self) -> int:
        """Number of control planes that get our events."""
        return self._sender.connections

    def send(self, kind: str, chat_id: str, data: Json) -> None:
        """Send an event to all others."""
        self._sender.send(MomentaryEvent(kind, chat_id, data))

    async def run(self, receive: Receive) -> None:
        """Receive the events of the others, and read renewed certificates; never return."""

        def received(moment: MomentaryEvent) -> None:
            receive(moment.kind, moment.chat_id, moment.data)

        reader = MomentReader(self._tls, self._peers, received)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._tls.run(), name="read certificates again")
            tasks.create_task(self._sender.run(), name="keep control planes connected")
            tasks.create_task(reader.run(), name="events of other control planes")


@asynccontextmanager
async def plane_moments(
    certificates: Path, host: str, port: int, peers: Peers
) -> AsyncIterator[PlaneMoments]:
    """Listen for other control planes while the block runs; port 0 is any free one.

    ``certificates`` is the directory that ``deskhand ca plane`` has written; ``peers`` returns
    where the others are.

    Raises:
        BadAuthority: If the certificate cannot be used, or is not of a control plane.
        OSError: If the address cannot be listened at.
    """
    tls = ClusterTls(certificates)
    member = tls.own.member
    if member.role != "plane":
        raise BadAuthority(
            f"the certificate in {certificates} is of the {member.role} {member.name}; make one"
            " with deskhand ca plane"
        )
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.create_server((host, port), family=family)
    async with MomentSender(tls) as sender:
        await sender.listen(bound)
        name = Member("plane", member.name)
        address = PeerAddress(name, host, bound.getsockname()[1])
        yield PlaneMoments(tls, sender, address, peers)
