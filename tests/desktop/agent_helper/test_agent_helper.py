import asyncio
import os
import socket
import threading
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any

import pytest

from deskhand.desktop.agent_helper.agent_helper import MOST_UNSENT, AgentHelper
from deskhand.desktop.agent_helper.errors import (
    HelperEnded,
    HelperUnavailable,
    OperationFailed,
)
from deskhand.desktop.agent_helper.wire.frames import WireFrame, encoded
from deskhand.desktop.agent_helper.worker.server import CallContext, Operation, OperationResult
from tests.desktop.agent_helper.threaded import LIMIT, Threaded

Json = dict[str, Any]


class Gate:
    """Operations of which a test decides when they end."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.end = threading.Event()
        self.interrupted = threading.Event()
        self.closed = threading.Event()
        self.runs = 0
        self.pipe = 0
        """Inode of the pipe that the operation returns."""

    def wait(self, asked: Json, call: CallContext) -> OperationResult:
        self.runs += 1
        call.on_cancel(self._interrupt)
        self.begun.set()
        assert self.end.wait(LIMIT)
        reading, writing = os.pipe()
        os.close(writing)
        self.pipe = os.fstat(reading).st_ino
        return OperationResult({"done": True}, (reading,), self.Resource(self))

    def _interrupt(self) -> None:
        self.interrupted.set()
        self.end.set()

    class Resource(AbstractContextManager["Gate"]):
        def __init__(self, gate: "Gate") -> None:
            self._gate = gate

        def __exit__(self, *_: object) -> None:
            self._gate.closed.set()

    def operations(self) -> dict[str, Operation]:
        return {"wait": Operation(self.wait, "search"), "echo": Operation(echo)}


def echo(asked: Json, call: CallContext) -> OperationResult:
    return OperationResult(asked)


def is_open(pipe: int) -> bool:
    """Return whether this process has a descriptor of a pipe, by its inode."""
    links = []
    for descriptor in Path("/proc/self/fd").iterdir():
        # Others come and go with the threads of other tests.
        with suppress(FileNotFoundError):
            links.append(descriptor.readlink().name)
    return f"pipe:[{pipe}]" in links


async def closed(pipe: int) -> None:
    """Return when both ends of the connection have closed their descriptors of a pipe."""
    while is_open(pipe):  # noqa: ASYNC110 - the helper's thread reports no close of its copy
        await asyncio.sleep(0.001)


async def waited(event: threading.Event) -> None:
    assert await asyncio.to_thread(event.wait, LIMIT)


def play(scenario: Callable[[AgentHelper, Threaded, Gate], Awaitable[None]]) -> None:
    async def scene() -> None:
        gate = Gate()
        start = Threaded(more=gate.operations())
        async with asyncio.timeout(LIMIT), AgentHelper(start) as helper:
            try:
                await scenario(helper, start, gate)
            finally:
                gate.end.set()

    asyncio.run(scene())


def test_calls_of_other_lanes_pass_a_long_one() -> None:
    async def scenario(helper: AgentHelper, start: Threaded, gate: Gate) -> None:
        slow = asyncio.create_task(helper.call("wait"))
        await waited(gate.begun)
        for number in range(100):
            assert (await helper.call("echo", number=number)).value == {"number": number}
        gate.end.set()
        reply = await slow
        assert reply.value == {"done": True}
        os.close(reply.descriptor())

    play(scenario)


def test_a_long_argument_arrives_whole() -> None:
    async def scenario(helper: AgentHelper, start: Threaded, gate: Gate) -> None:
        text = "ä\udcff" * 1_000_000
        replies = await asyncio.gather(*(helper.call("echo", text=text) for _ in range(3)))
        assert all(reply.value == {"text": text} for reply in replies)

    play(scenario)


def test_a_cancelled_call_is_interrupted_and_its_result_discarded() -> None:
    async def scenario(helper: AgentHelper, start: Threaded, gate: Gate) -> None:
        slow = asyncio.create_task(helper.call("wait"))
        await waited(gate.begun)
        slow.cancel()
        with pytest.raises(asyncio.CancelledError):
            await slow
        await waited(gate.interrupted)
        await waited(gate.closed)
        await closed(gate.pipe)
        assert (await helper.call("echo", again=1)).value == {"again": 1}

    play(scenario)


def test_a_resource_is_closed_when_it_is_released() -> None:
    async def scenario(helper: AgentHelper, start: Threaded, gate: Gate) -> None:
        gate.end.set()
        reply = await helper.call("wait")
        os.close(reply.descriptor())
        assert reply.resource is not None
        assert not gate.closed.is_set()
        reply.resource.release()
        await waited(gate.closed)

    play(scenario)


def test_the_end_of_the_helper_fails_the_call_and_starts_another_helper() -> None:
    async def scenario(helper: AgentHelper, start: Threaded, gate: Gate) -> None:
        slow = asyncio.create_task(helper.call("wait"))
        await waited(gate.begun)
        start.started[0].die()
        with pytest.raises(HelperEnded, match="not known if the call took effect"):
            await slow
        gate.end.set()
        assert (await helper.call("echo", again=1)).value == {"again": 1}
        # The call is never sent a second time.
        assert (gate.runs, len(start.started)) == (1, 2)

    play(scenario)


def test_calls_wait_for_a_helper_that_starts_later() -> None:
    async def scene() -> None:
        ready = threading.Event()
        start = Threaded(more=Gate().operations())

        def later() -> Any:
            ready.wait(LIMIT)
            return start()

        async with asyncio.timeout(LIMIT), AgentHelper(later) as helper:
            calls = [asyncio.create_task(helper.call("echo")) for _ in range(3)]
            await asyncio.sleep(0)
            ready.set()
            await asyncio.gather(*calls)

    asyncio.run(scene())


def test_a_helper_that_cannot_be_started_is_tried_again() -> None:
    async def scene() -> None:
        start = Threaded(more=Gate().operations())
        failures = [OSError("no interpreter"), OSError("no interpreter")]

        def failing() -> Any:
            if failures:
                raise failures.pop()
            return start()

        async with asyncio.timeout(LIMIT), AgentHelper(failing) as helper:
            await helper.call("echo")

    asyncio.run(scene())


def test_an_operation_that_fails_is_an_error_of_its_call_only() -> None:
    async def scenario(helper: AgentHelper, start: Threaded, gate: Gate) -> None:
        with pytest.raises(OperationFailed, match="no operation 'absent'"):
            await helper.call("absent")
        with pytest.raises(OperationFailed, match="KeyError"):
            await helper.call("read")
        with pytest.raises(OperationFailed, match="no open resource 7"):
            await helper.call("commit", handle=7)
        assert len(start.started) == 1

    play(scenario)


def test_a_closed_helper_refuses_calls_and_closes_resources() -> None:
    async def scenario(helper: AgentHelper, start: Threaded, gate: Gate) -> None:
        gate.end.set()
        os.close((await helper.call("wait")).descriptor())
        await helper.close()
        assert gate.closed.is_set()
        with pytest.raises(HelperUnavailable, match="the service ends"):
            await helper.call("echo")

    play(scenario)


class HostileHelper:
    """A helper that an attacker controls: it sends ``data`` with descriptors."""

    def __init__(self, data: bytes, descriptors: int = 0) -> None:
        self.connection, self.its = socket.socketpair()
        self.connection.setblocking(False)
        reading, writing = os.pipe()
        self.pipe = os.fstat(reading).st_ino
        if data:
            socket.send_fds(self.its, [data], [reading] * descriptors)
        os.close(reading)
        os.close(writing)

    def end(self, grace: float) -> None:
        self.its.close()


@pytest.mark.parametrize(
    ("data", "descriptors"),
    [
        (b"\xff" * 64, 0),
        (encoded(WireFrame({"call": 1})), 0),
        (encoded(WireFrame({"call": 1, "result": {}}, 2)), 1),
        (encoded(WireFrame({"call": 1, "result": {}})), 3),
        (b"\0", 40),
        (encoded(WireFrame({"call": 99, "result": {}, "handle": 1}, 1)) + b"\xff" * 9, 1),
    ],
)
def test_a_hostile_helper_is_replaced_and_leaks_nothing(data: bytes, descriptors: int) -> None:
    async def scene() -> None:
        gate = Gate()
        start = Threaded(more=gate.operations())
        async with asyncio.timeout(LIMIT), AgentHelper(start, hostile) as helper:
            await asyncio.gather(helper.call("echo"), return_exceptions=True)
            hostile.its.close()
            # The end may be observed during this call, which fails then.
            await asyncio.gather(helper.call("echo"), return_exceptions=True)
            assert (await helper.call("echo", alive=1)).value == {"alive": 1}

    hostile = HostileHelper(data, descriptors)
    # Sent and not yet received, a descriptor is that of no process.
    assert not is_open(hostile.pipe)
    asyncio.run(scene())
    assert not is_open(hostile.pipe)


def test_a_helper_that_reads_nothing_does_not_fill_the_memory() -> None:
    async def scene() -> None:
        mute = HostileHelper(b"")
        text = "x" * (MOST_UNSENT // 3)
        async with asyncio.timeout(LIMIT), AgentHelper(Threaded(), mute) as helper:
            calls = [asyncio.create_task(helper.call("echo", text=text)) for _ in range(8)]
            done, waiting = await asyncio.wait(calls, return_when=asyncio.FIRST_EXCEPTION)
            refused = [task.exception() for task in done]
            assert all(isinstance(error, HelperUnavailable) for error in refused)
            for task in waiting:
                task.cancel()
            await asyncio.gather(*calls, return_exceptions=True)

    asyncio.run(scene())
