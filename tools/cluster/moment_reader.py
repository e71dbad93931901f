"""Receives the events of the moment of all other control planes.

One task for each of them, which connects again for as long as the control plane lives. Which do is
asked again every two seconds.
"""

import asyncio
import logging
import ssl
from collections.abc import Awaitable, Callable, Collection

from .errors import BadMoment, PeerRefused
from .moment import LONGEST_LINE, MomentaryEvent, PeerAddress, read_moment
from .trust import ClusterTls

log = logging.getLogger(__name__)

PEERS_SECONDS = 2.0
"""Between two questions for the control planes; as often as they write their heartbeats."""
SILENCE_SECONDS = 15.0
"""Without a line from one that sends an empty one every five seconds."""
RETRY_SECONDS = 1.0


class MomentReader:
    """The connections to other control planes.

    ``peers`` returns the addresses of those that live, without this one; ``received`` gets their
    events.
    """

    def __init__(
        self,
        tls: ClusterTls,
        peers: Callable[[], Awaitable[Collection[PeerAddress]]],
        received: Callable[[MomentaryEvent], None],
    ) -> None:
        self._tls = tls
        self._peers = peers
        self._received = received

    async def run(
        self, seconds: float = PEERS_SECONDS, retry_seconds: float = RETRY_SECONDS
    ) -> None:
        """Receive events; never return."""
        reading: dict[PeerAddress, asyncio.Task[None]] = {}
        try:
            while True:
                living = set(await self._peers())
                for address in living - reading.keys():
                    follow = self._follow(address, retry_seconds)
                    reading[address] = asyncio.create_task(follow, name=f"events of {address}")
                await _cancelled([reading.pop(address) for address in reading.keys() - living])
                await asyncio.sleep(seconds)
        finally:
            await _cancelled(reading.values())

    async def _follow(self, address: PeerAddress, retry_seconds: float) -> None:
        while True:
            try:
                await self._read(address)
            except (OSError, PeerRefused, BadMoment, TimeoutError, ValueError) as error:
                # The row of a control plane that was killed stays for ten seconds.
                log.info("no events of the control plane %s: %s", address, error)
            await asyncio.sleep(retry_seconds)

    async def _read(self, address: PeerAddress) -> None:
        """Receive events until the connection ends."""
        async with asyncio.timeout(SILENCE_SECONDS):
            reader, writer = await asyncio.open_connection(
                *(address.host, address.port),
                ssl=self._tls.client_context,
                server_hostname=address.member.host,
                limit=LONGEST_LINE,
            )
        try:
            secure: ssl.SSLObject = writer.get_extra_info("ssl_object")
            certificate = secure.getpeercert(binary_form=True)
            self._tls.check(certificate, "plane", address.member.name)
            while True:
                async with asyncio.timeout(SILENCE_SECONDS):
                    line = await reader.readline()
                if not line.endswith(b"\n"):
                    return
                moment = read_moment(line)
                if moment is not None:
                    self._received(moment)
                else:
                    # As often as an empty line comes: the certificate may have been revoked.
                    self._tls.check(certificate, "plane", address.member.name)
        finally:
            writer.transport.abort()


async def _cancelled(tasks: Collection[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
