"""Calls of Ray that never hold up the placer."""

import asyncio
import threading
from collections.abc import Awaitable, Callable

import pytest

from deskhand.tools.cluster.placing.errors import NoReservation, RayRefused, RoomsUnavailable
from deskhand.tools.cluster.placing.room_calls import RoomCalls

SECONDS = 0.001
SILENCE = "Ray does not answer at h:1"


class ScriptedRooms:
    """Reservations that fail as a test wants."""

    def __init__(self) -> None:
        self.open_errors: list[Exception] = []
        self.error: Exception | None = None
        self.held: dict[str, str] = {}
        self.released = threading.Event()

    def open(self) -> None:
        if self.open_errors:
            raise self.open_errors.pop(0)

    def close(self) -> None: ...

    def nodes(self) -> dict[str, str]:
        self._check()
        return {"n7": "h:2"}

    def reservations(self) -> dict[str, str]:
        self._check()
        return self.held

    def reserve(self, desktop_id: str, node: str) -> None:
        self._check()
        self.held[desktop_id] = node

    def release(self, desktop_id: str) -> None:
        self._check()
        self.held.pop(desktop_id, None)

    def _check(self) -> None:
        if self.error is not None:
            raise self.error


def played(
    scenario: Callable[[ScriptedRooms, RoomCalls, "asyncio.Task[None]"], Awaitable[None]],
    *open_errors: Exception,
) -> None:
    async def main() -> None:
        rooms = ScriptedRooms()
        rooms.open_errors = list(open_errors)
        async with asyncio.timeout(60), RoomCalls(rooms, "h:1", lambda: None) as calls:
            task = asyncio.create_task(calls.run(SECONDS, 0.0))
            await scenario(rooms, calls, task)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    asyncio.run(main())


async def answering(calls: RoomCalls) -> None:
    while calls.problem:  # noqa: ASYNC110 - it has no event of the tests' own
        await asyncio.sleep(SECONDS)


def test_room_is_reserved_once_ray_answers() -> None:
    async def scenario(rooms: ScriptedRooms, calls: RoomCalls, _: object) -> None:
        assert calls.problem == SILENCE
        with pytest.raises(RoomsUnavailable, match=SILENCE):
            await calls.reserve("d", "n7")
        await answering(calls)
        assert calls.nodes == {"n7": "h:2"}
        await calls.reserve("d", "n7")
        assert await calls.reservations() == {"d": "n7"}
        await calls.release("d")
        assert rooms.held == {}

    played(scenario, RoomsUnavailable(SILENCE), RoomsUnavailable("no node on this host"))


def test_a_head_that_is_gone_is_given_up() -> None:
    async def scenario(rooms: ScriptedRooms, calls: RoomCalls, task: "asyncio.Task[None]") -> None:
        await answering(calls)
        rooms.error = RoomsUnavailable("gone")
        with pytest.raises(RoomsUnavailable, match="gone"):
            await task
        assert calls.problem == "gone"
        # Neither raises: it is done later.
        await calls.release("d")
        assert await calls.reservations() is None

    played(scenario)


def test_a_node_without_a_reservation_is_no_problem_of_ray() -> None:
    async def scenario(rooms: ScriptedRooms, calls: RoomCalls, _: object) -> None:
        await answering(calls)
        rooms.error = NoReservation("hung")
        with pytest.raises(NoReservation):
            await calls.reserve("d", "n7")

    played(scenario)


def test_a_refusal_ends_the_placer() -> None:
    async def scenario(_: object, calls: RoomCalls, task: "asyncio.Task[None]") -> None:
        with pytest.raises(RayRefused, match="wrong token"):
            await task

    played(scenario, RayRefused("wrong token"))
