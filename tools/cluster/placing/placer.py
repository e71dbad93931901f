"""The placer: works through the rows of desktops, while it leads.

Every control plane has one, and one of all leads: the one whose connection has the lock
(:data:`~deskhand.tools.store.backends.plane_lock.PLACE`). It reads the rows when it is notified of
one, and every second; it asks the nodes every two seconds, and Ray for its nodes as often. What it
does next is decided in `decisions`; `runner` does it.

A placer that has lost its lock without having noticed can do no harm: rows change only from the
state and generation that it knows, and a node ends what its row does not name.
"""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from deskhand.tools.store.backends.bus import Bus, Json
from deskhand.tools.store.backends.leadership import Leadership
from deskhand.tools.store.backends.notices import DESKTOPS, Notice
from deskhand.tools.store.database import Store
from deskhand.tools.store.errors import StoreError
from deskhand.tools.store.tables.desktops import NodeRow

from .actions import Action, ExplainWait
from .decisions import decide, is_cut_off
from .errors import CutOff, PlacingError
from .gates import GatesPort
from .memory import PlacerMemory
from .node_watch import ASK_SECONDS, NodeWatch, WatchedNode
from .records import Records, Rows
from .room_calls import RoomCalls, RoomsPort
from .runner import ActionRunner
from .situation import SILENT_SECONDS, PlacingSituation, RoomWait, SeenNode

log = logging.getLogger(__name__)

POLL_SECONDS = 1.0
ROUND_SECONDS = 0.05
"""Shortest time between two rounds."""
SEEN_SECONDS = 2.0
"""Between two writes of what the nodes have answered."""
RESERVATIONS_SECONDS = 10.0
"""Between two comparisons of the reservations with the rows."""
CLEAN_SECONDS = 300.0


@dataclass(frozen=True)
class NodeTimes:
    """When nodes are asked, and when they are down, in seconds."""

    ask: float = ASK_SECONDS
    down: float = SILENT_SECONDS
    """Without an answer. One failed request adds half of it at most."""


class Placer:
    """Places desktops on nodes; listens to a bus for changes of their rows."""

    def __init__(
        self,
        bus: Bus,
        leadership: Leadership,
        store: Store,
        gates: GatesPort,
        rooms: RoomsPort,
        ray_address: str,
        version: str,
        times: NodeTimes = NodeTimes(),
    ) -> None:
        self._bus = bus
        self._times = times
        self._leadership = leadership
        self._version = version
        self._gates = gates
        self._wake = asyncio.Event()
        self._records = Records(store, lambda one: bus.publish(Notice(DESKTOPS, one)))
        self._rooms = RoomCalls(rooms, ray_address, self._wake.set)
        self._memory = PlacerMemory()
        self._watch: NodeWatch | None = None
        self._runner = ActionRunner(
            *(self._records, gates, self._rooms, self._memory),
            unreachable=self._unreachable,
            done=self._wake.set,
            now=lambda: asyncio.get_running_loop().time() + self._offset,
        )
        self._offset = 0.0
        """Of the time of the database from that of the loop."""
        self._due: dict[str, float] = {}
        self._reservations: dict[str, str] | None = None

    def leads(self) -> bool:
        """Return whether this placer leads."""
        return self._leadership.leads()

    def heard(self, notices: Sequence[Notice]) -> None:
        """Read the rows of desktops soon, if one has changed; see `BusListener`."""
        # Those of a later version, which are left out, may be about desktops.
        if not notices or any(notice.kind == DESKTOPS for notice in notices):
            self._wake.set()

    async def missed(self) -> None:
        """Read the rows of desktops soon."""
        self._wake.set()

    def relay(self, kind: str, chat_id: str, data: Json) -> None:
        """Ignore an event of a chat."""

    async def run(self) -> None:
        """Place desktops; never return.

        Raises:
            RayRefused: If Ray accepts us only after a change of the settings.
            RoomsUnavailable: If Ray was there and is gone: another process has to connect.
            CutOff: If no node is reached any more: another placer has to look.
        """
        try:
            async with self._rooms, asyncio.TaskGroup() as tasks:
                tasks.create_task(self._bus.run(self), name="lead, and exchange notices")
                tasks.create_task(self._rooms.run(), name="ask Ray")
                tasks.create_task(self._work(), name="place desktops")
        except* PlacingError as errors:
            error = errors.exceptions[0]
        else:
            return
        raise error

    async def _work(self) -> None:
        try:
            while True:
                if self.leads():
                    log.info("this placer leads")
                    async with self._node_watch() as self._watch:
                        self._begin()
                        while self.leads():
                            await self._round(self._watch)
                            await self._pause()
                    log.warning("this placer leads no more")
                await self._pause()
        finally:
            await self._runner.close()

    def _node_watch(self) -> NodeWatch:
        times = self._times
        return NodeWatch(self._gates, self._wake.set, times.ask, times.down / 2)

    def _begin(self) -> None:
        self._memory.clear()
        self._due.clear()
        self._reservations = None

    async def _pause(self) -> None:
        await asyncio.sleep(ROUND_SECONDS)
        try:
            async with asyncio.timeout(POLL_SECONDS):
                await self._wake.wait()
        except TimeoutError:
            return
        self._wake.clear()

    async def _round(self, watch: NodeWatch) -> None:
        """Read everything, and begin what is to be done."""
        self._runner.check()
        # The rows may not show yet what ends while they are read, so it is left alone. The answers
        # of nodes are older than the rows: a desktop that one of them has is in the rows.
        busy = self._runner.busy
        answers = {name: self._seen(name, node) for name, node in watch.nodes.items()}
        try:
            rows = await self._records.read()
        except StoreError as error:
            log.warning("the desktops are placed later: %s", error)
            return
        self._offset = rows.now - asyncio.get_running_loop().time()
        addresses = {row.name: row.address for row in rows.nodes.values()} | self._rooms.nodes
        await watch.watch(addresses)
        failures = {row.name: row.failures for row in rows.nodes.values()}
        self._memory.read(rows.now, rows.desktops, failures)
        nodes = {
            name: self._with_row(
                answers.get(name) or self._new(name, address), rows.nodes.get(name)
            )
            for name, address in sorted(addresses.items())
        }
        situation = PlacingSituation(
            *(rows.now, self._version, rows.desktops, nodes, dict(self._memory.history)),
            reservations=self._reservations,
            ended=dict(self._memory.ended),
            rooms_problem=self._rooms.problem,
            busy=busy | self._runner.busy,
        )
        if is_cut_off(situation):
            raise CutOff
        self._reservations = None
        self._begin_all(decide(situation), rows)
        self._begin_periodic(nodes, rows)

    def _begin_all(self, actions: tuple[Action, ...], rows: Rows) -> None:
        waits: dict[str, RoomWait] = {}
        for action in actions:
            if isinstance(action, ExplainWait):
                waits[action.desktop_id] = action.wait
            else:
                self._runner.begin(action, rows.orders)
        if waits and self._is_due("waits", POLL_SECONDS):
            self._runner.run("waits", lambda: self._records.explain(waits))

    def _begin_periodic(self, nodes: Mapping[str, SeenNode], rows: Rows) -> None:
        answered = {node.name: _columns(node) for node in nodes.values() if node.up is not None}
        new = answered.keys() - rows.nodes.keys()
        if new:
            self._due.pop("seen", None)
        if answered and self._is_due("seen", SEEN_SECONDS):
            self._runner.run("seen", lambda: self._records.seen(answered))
        if not self._rooms.problem and self._is_due("reservations", RESERVATIONS_SECONDS):
            self._runner.run("reservations", self._read_reservations)
        if self._is_due("clean", CLEAN_SECONDS):
            self._runner.run("clean", self._records.clean)

    async def _read_reservations(self) -> None:
        self._reservations = await self._rooms.reservations()

    def _is_due(self, what: str, seconds: float) -> bool:
        """Return whether it is time for work that is done again and again."""
        now = asyncio.get_running_loop().time()
        if what in self._runner.busy or now < self._due.get(what, now):
            return False
        self._due[what] = now + seconds
        return True

    def _seen(self, name: str, node: WatchedNode) -> SeenNode:
        return SeenNode(
            *(name, node.address, node.answer, node.asked_at),
            is_answering=node.is_answering,
            silent_seconds=node.silent_seconds,
            down_seconds=self._times.down,
        )

    def _new(self, name: str, address: str) -> SeenNode:
        return SeenNode(name, address, down_seconds=self._times.down)

    def _with_row(self, node: SeenNode, row: NodeRow | None) -> SeenNode:
        left_out_until, left_out_reason = self._memory.left_out.get(node.name, (0.0, ""))
        found: dict[str, Any] = {
            "asked_at": node.asked_at + self._offset,
            "in_ray": node.name in self._rooms.nodes,
            "left_out_until": left_out_until,
            "left_out_reason": left_out_reason,
        }
        if row is not None:
            found |= {
                "draining": row.draining,
                "refused_until": row.refused_until,
                "reason": row.reason,
                "seen_at": row.seen_at,
            }
        return replace(node, **found)

    def _unreachable(self, node: str, reason: str) -> None:
        if self._watch is not None and node in self._watch.nodes:
            self._watch.nodes[node].failed(reason)


def _columns(node: SeenNode) -> dict[str, Any]:
    answer = node.answer
    assert answer is not None  # noqa: S101 - of nodes that answer
    return {
        "address": node.address,
        "public_url": answer.public_url,
        "version": answer.version,
        "places": answer.places,
    }
