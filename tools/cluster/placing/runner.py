"""Performs what was decided: one task for each action, one action for each subject.

Each step can be repeated: a reservation has the desktop's id as its name, a node starts a desktop
once however often it is asked, and a row changes only from the state and the generation that the
action is about. So a placer that dies between two steps leaves nothing that the next one could not
continue.
"""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from deskhand.tools.store.errors import StoreError

from .actions import (
    Action,
    EndDesktop,
    EndStray,
    FinishEnd,
    ForgetNode,
    LoseDesktop,
    MarkNode,
    ReaddressDesktop,
    RefuseDesktop,
    ReleaseRoom,
    RequeueDesktop,
    ReserveRoom,
    ResumeStart,
    StartDesktop,
)
from .errors import GateUnreachable, NoReservation, PlacingError, RoomsUnavailable
from .failures import NO_ROOM_SECONDS, QUARANTINE_SECONDS, StartFault, fault_of
from .failures import one_more as one_more_failure
from .gates import GatesPort
from .memory import PlacerMemory
from .records import Records
from .room_calls import RoomCalls
from .situation import ENDING, READY, STARTING, WANTED

log = logging.getLogger(__name__)
Json = dict[str, Any]

STARTS_AT_ONCE = 8
"""On one node; further ones wait for them."""
ENDED, LOST, REFUSED = "ended", "lost", "refused"


@dataclass(frozen=True)
class StartAttempt:
    """One attempt to start a desktop on a node."""

    desktop_id: str
    node: str
    address: str
    generation: int


class ActionRunner:
    """The actions of one placer; ``done`` is called after each, ``now`` is of the database.

    ``unreachable`` is called with a node whose gate has not answered a start, and the reason.
    """

    def __init__(
        self,
        records: Records,
        gates: GatesPort,
        rooms: RoomCalls,
        memory: PlacerMemory,
        unreachable: Callable[[str, str], None],
        done: Callable[[], None],
        now: Callable[[], float],
    ) -> None:
        self._records = records
        self._gates = gates
        self._rooms = rooms
        self._memory = memory
        self._unreachable = unreachable
        self._done = done
        self._now = now
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._starts: defaultdict[str, asyncio.Semaphore] = defaultdict(
            lambda: asyncio.Semaphore(STARTS_AT_ONCE)
        )

    @property
    def busy(self) -> frozenset[str]:
        """The subjects of the actions that have not ended."""
        return frozenset(self._tasks)

    def begin(self, action: Action, orders: Mapping[str, Json]) -> None:
        """Perform an action beside the others."""
        self.run(action.subject, lambda: self._perform(action, orders))

    def run(self, subject: str, work: Callable[[], Awaitable[None]]) -> None:
        """Do some work beside the actions; one of the same subject must have ended."""
        assert subject not in self._tasks  # noqa: S101 - decisions leave these out
        self._tasks[subject] = asyncio.create_task(self._guarded(subject, work), name=subject)

    async def close(self) -> None:
        """End all actions where they are."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def check(self) -> None:
        """Raise the error of an action that has failed unexpectedly."""
        for task in self._tasks.values():
            if task.done():
                task.result()

    async def _guarded(self, subject: str, work: Callable[[], Awaitable[None]]) -> None:
        try:
            # Not before: a task that is cancelled before it begins would never await it.
            await work()
        except (PlacingError, StoreError) as error:
            # The rows are as they were: it is decided again.
            log.warning("%s: %s", subject, error)
        # A defect stays in the table, and `check` raises it.
        del self._tasks[subject]
        self._done()

    async def _perform(self, action: Action, orders: Mapping[str, Json]) -> None:
        match action:
            case StartDesktop():
                await self._start(action, orders[action.desktop_id])
            case ResumeStart(desktop_id, node, address, generation):
                log.info("the start of desktop %s on node %s is continued", desktop_id, node)
                attempt = StartAttempt(desktop_id, node, address, generation)
                await self._attempt(attempt, orders[desktop_id], resumed=True)
            case EndDesktop() | EndStray() | FinishEnd() | LoseDesktop() | RefuseDesktop():
                await self._end(action)
            case RequeueDesktop(desktop_id, generation, reason):
                await self._wanted_again(desktop_id, generation, reason)
            case ReserveRoom(desktop_id, node):
                await self._reserve_again(desktop_id, node)
            case ReleaseRoom(desktop_id):
                await self._rooms.release(desktop_id)
            case _:
                await self._record(action)

    async def _end(
        self, action: EndDesktop | EndStray | FinishEnd | LoseDesktop | RefuseDesktop
    ) -> None:
        desktop_id = action.desktop_id
        match action:
            case EndDesktop(_, node, address):
                await self._end_on(node, address, desktop_id)
                await self._over(desktop_id, (ENDING,), ENDED)
            case EndStray(_, node, address):
                if self._memory.is_new_stray(desktop_id, node):
                    log.warning("node %s ends desktop %s, which is not its own", node, desktop_id)
                await self._end_on(node, address, desktop_id)
            case FinishEnd():
                await self._over(desktop_id, (ENDING,), ENDED)
            case LoseDesktop(_, generation, reason):
                log.warning("desktop %s is lost: %s", desktop_id, reason)
                await self._over(desktop_id, (READY,), LOST, generation, reason=reason)
            case RefuseDesktop(_, reason):
                await self._over(desktop_id, (WANTED,), REFUSED, reason=reason)

    async def _end_on(self, node: str, address: str, desktop_id: str) -> None:
        await self._gates.end(node, address, desktop_id)
        self._memory.desktop_ended(desktop_id, node, self._now())

    async def _record(self, action: Action) -> None:
        match action:
            case ReaddressDesktop(desktop_id, node, address):
                await self._records.readdress(desktop_id, node, address)
            case MarkNode(node, reason):
                await self._records.mark(node, reason)
            case ForgetNode(node):
                await self._records.clean([node])

    async def _start(self, action: StartDesktop, order: Json) -> None:
        desktop_id, node, address = action.desktop_id, action.node, action.address
        generation = await self._records.begin_start(desktop_id, node, address)
        if generation:
            attempt = StartAttempt(desktop_id, node, address, generation)
            await self._attempt(attempt, order, resumed=action.is_running)

    async def _attempt(self, attempt: StartAttempt, order: Json, *, resumed: bool = False) -> None:
        desktop_id, node = attempt.desktop_id, attempt.node
        try:
            await self._rooms.reserve(desktop_id, node)
            self._memory.ray_reserved(node)
        except RoomsUnavailable as error:
            if isinstance(error, NoReservation):
                log.warning("node %s is left out for a while: %s", node, error)
                self._memory.ray_hung(node, str(error))
            # What was begun before may run, so it is continued, on the room that it had.
            if not resumed:
                await self._wanted_again(desktop_id, attempt.generation, str(error))
                return
        try:
            async with self._starts[node]:
                facts = await self._gates.start(node, attempt.address, order)
        except PlacingError as error:
            await self._start_failed(attempt, error)
            return
        columns = {"facts": facts, "address": attempt.address, "reason": ""}
        await self._records.move(desktop_id, (STARTING,), READY, attempt.generation, columns)
        self._memory.forget(desktop_id)
        if self._memory.node_succeeded(node):
            await self._records.fail_node(node, 0, "", 0.0)

    async def _start_failed(self, attempt: StartAttempt, error: PlacingError) -> None:
        desktop_id, node, reason = attempt.desktop_id, attempt.node, str(error)
        log.warning("desktop %s has not started on node %s: %s", desktop_id, node, reason)
        fault = fault_of(error)
        if fault is StartFault.ORDER:
            generation = attempt.generation
            await self._over(desktop_id, (STARTING,), REFUSED, generation, reason=reason)
            return
        if fault is StartFault.ROOM:
            self._memory.leave_out(node, reason, NO_ROOM_SECONDS)
        else:
            self._memory.start_failed(desktop_id, node, reason)
            failures = one_more_failure(self._memory.failures(node), error)
            self._memory.node_failed(node, failures.count)
            seconds = QUARANTINE_SECONDS if failures.is_refused else 0.0
            await self._records.fail_node(node, failures.count, failures.reason, seconds)
        if isinstance(error, GateUnreachable):
            self._unreachable(node, reason)
        await self._wanted_again(desktop_id, attempt.generation, reason)

    async def _wanted_again(self, desktop_id: str, generation: int, reason: str) -> None:
        await self._rooms.release(desktop_id)
        columns = {"node": "", "address": "", "reason": reason}
        await self._records.move(desktop_id, (STARTING,), WANTED, generation, columns)

    async def _over(
        self,
        desktop_id: str,
        before: tuple[str, ...],
        state: str,
        generation: int | None = None,
        reason: str = "",
    ) -> None:
        columns = {"reason": reason}
        moved = await self._records.move(desktop_id, before, state, generation, columns)
        self._memory.forget(desktop_id)
        if moved:
            await self._rooms.release(desktop_id)

    async def _reserve_again(self, desktop_id: str, node: str) -> None:
        try:
            await self._rooms.reserve(desktop_id, node)
            self._memory.ray_reserved(node)
        except NoReservation as error:
            self._memory.ray_hung(node, str(error))
            raise
