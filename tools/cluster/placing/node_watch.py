"""Asks all nodes how they are, side by side, while this placer leads."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Self

from .errors import GateRefused, GateUntrusted, PlacingError
from .gates import GatesPort
from .node_answer import NodeAnswer

log = logging.getLogger(__name__)

ASK_SECONDS = 2.0
"""Between two questions to a node."""
MOST_SILENCE = 5.0
"""Seconds by which one failed request adds to a node's silence: a question and its time-out. What
is more was a stop of this process, and no silence of the node. Two of them may make it down."""


@dataclass
class WatchedNode:
    """A node and its answers."""

    address: str
    answer: NodeAnswer | None = None
    asked_at: float = 0.0
    """Time of the loop before the last request that was answered."""
    is_answering: bool = False
    silent_seconds: float = 0.0
    problem: str = ""

    def failed(self, reason: str) -> None:
        """Record that a request to it has not come through."""
        self.is_answering, self.problem = False, reason


class NodeWatch:
    """The nodes as they have answered last. Use it as a context manager."""

    def __init__(
        self,
        gates: GatesPort,
        changed: Callable[[], None],
        seconds: float = ASK_SECONDS,
        most_silence: float = MOST_SILENCE,
    ) -> None:
        """``changed`` is called when a node answers something new, or answers no more."""
        self._gates = gates
        self._changed = changed
        self._seconds = seconds
        self._most_silence = most_silence
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self.nodes: dict[str, WatchedNode] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.watch({})

    async def watch(self, addresses: Mapping[str, str]) -> None:
        """Ask these nodes from now on, each at its address."""
        gone = [self._tasks.pop(name) for name in self._tasks.keys() - addresses.keys()]
        for task in gone:
            task.cancel()
        await asyncio.gather(*gone, return_exceptions=True)
        for name in self.nodes.keys() - addresses.keys():
            del self.nodes[name]
        for name, address in addresses.items():
            node = self.nodes.setdefault(name, WatchedNode(address))
            node.address = address
            if name in self._tasks and self._tasks[name].done():
                # A defect; it must not look like a node that is silent.
                self._tasks[name].result()
            if name not in self._tasks:
                asking = self._ask_again(name, node)
                self._tasks[name] = asyncio.create_task(asking, name=f"ask node {name}")

    async def _ask_again(self, name: str, node: WatchedNode) -> None:
        loop = asyncio.get_running_loop()
        counted_at = loop.time()
        while True:
            began = loop.time()
            try:
                answer = await self._gates.node(name, node.address)
            except PlacingError as error:
                # A gate that refuses is there, and so are the desktops: an operator renews the
                # certificates, or repairs it.
                if not isinstance(error, GateUntrusted | GateRefused):
                    node.silent_seconds += min(loop.time() - counted_at, self._most_silence)
                if node.is_answering or not node.problem:
                    log.warning("node %s does not answer: %s", name, error)
                    self._changed()
                node.failed(str(error))
            else:
                if answer != node.answer or not node.is_answering:
                    self._changed()
                node.answer, node.asked_at, node.is_answering = answer, began, True
                node.silent_seconds, node.problem = 0.0, ""
            counted_at = loop.time()
            await asyncio.sleep(max(0.0, began + self._seconds - loop.time()))
