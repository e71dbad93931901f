"""Reports to nodes that credentials have ended, so that the live views opened with them end.

Each name is sent to all nodes with viewers at once, and again each second to those that do not
answer, for as long as a ticket of the credential may be valid there.
"""

import asyncio
import logging
import time
from collections.abc import Callable

from deskhand.desktop.errors import DesktopRefused, DesktopUnavailable
from deskhand.tools.cluster.tickets import LIFETIME_SECONDS

from .gates import GateAddress, GateClients
from .placed import Placed

log = logging.getLogger(__name__)
ANSWER_SECONDS = 1.0
"""Longest wait for the answer of a node."""
AGAIN_SECONDS = 1.0


class NodeRevocations:
    """The reports; ``leads`` returns whether this control plane leads. ``now`` is monotonic."""

    def __init__(
        self,
        clients: GateClients,
        placed: Callable[[], Placed],
        leads: Callable[[], bool],
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._clients = clients
        self._placed = placed
        self._leads = leads
        self._now = now
        self._tasks: set[asyncio.Task[None]] = set()

    def ended(self, name: str) -> None:
        """Report a credential that has ended, or has other rights, at this control plane."""
        task = asyncio.create_task(self._report(name), name="report a revocation to nodes")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def announced(self, name: str) -> None:
        """Report one that a control plane has announced, which may have been killed since."""
        # Without a key it is a list that has grown, as ``tokens:``.
        if not name.endswith(":") and self._leads():
            self.ended(name)

    async def close(self) -> None:
        """Give up what is still to be reported."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _report(self, name: str) -> None:
        deadline = self._now() + LIFETIME_SECONDS
        reached: set[GateAddress] = set()
        while True:
            nodes = [one for one in self._placed().nodes.values() if one.public_url]
            wanted = [one.gate for one in nodes if one.is_up and one.gate not in reached]
            answers = await asyncio.gather(*(self._sent(gate, name) for gate in wanted))
            reached |= {gate for gate, sent in zip(wanted, answers, strict=True) if sent}
            left = [one.gate.node for one in nodes if one.gate not in reached]
            if not left:
                return
            if self._now() >= deadline:
                log.warning("no report of a revocation has reached %s", ", ".join(left))
                return
            await asyncio.sleep(AGAIN_SECONDS)

    async def _sent(self, gate: GateAddress, name: str) -> bool:
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                body = {"credentials": [name]}
                await self._clients.gate(gate).request("POST", "/revocations", json=body)
        except (DesktopRefused, DesktopUnavailable, TimeoutError) as error:
            log.info("node %s has not taken a revocation: %r", gate.node, error)
            return False
        return True
