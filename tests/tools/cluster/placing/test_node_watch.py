"""All nodes are asked how they are, side by side."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from deskhand.tools.cluster.placing.errors import GateRefused, GateUnreachable, GateUntrusted
from deskhand.tools.cluster.placing.node_answer import NodeAnswer
from deskhand.tools.cluster.placing.node_watch import NodeWatch

SECONDS = 0.001


@dataclass
class AskedGates:
    """Answers of nodes; one that is not there does not answer, one that hangs never does."""

    answers: dict[str, NodeAnswer] = field(default_factory=dict)
    hanging: set[str] = field(default_factory=set)
    asked: list[str] = field(default_factory=list)
    defect: Exception | None = None

    async def node(self, name: str, address: str) -> NodeAnswer:
        self.asked.append(address)
        if self.defect is not None:
            raise self.defect
        if name in self.hanging:
            await asyncio.Event().wait()
        await asyncio.sleep(0)
        if name not in self.answers:
            raise GateUnreachable(f"{name} is gone")
        return self.answers[name]

    async def start(self, name: str, address: str, order: dict[str, Any]) -> dict[str, Any]:
        raise NotImplementedError

    async def end(self, name: str, address: str, desktop_id: str) -> None:
        raise NotImplementedError


def answer(name: str) -> NodeAnswer:
    return NodeAnswer(name, "1.0", 80)


async def eventually(check: Callable[[], bool]) -> None:
    while not check():  # noqa: ASYNC110 - of objects without an event
        await asyncio.sleep(SECONDS)


def test_a_node_that_hangs_does_not_hold_up_the_others() -> None:
    async def scenario() -> None:
        gates = AskedGates({"n1": answer("n1")}, {"n2"})
        changed = asyncio.Event()
        async with asyncio.timeout(60), NodeWatch(gates, changed.set, SECONDS) as watch:
            await watch.watch({"n1": "h:1", "n2": "h:2"})
            await changed.wait()
            assert watch.nodes["n1"].answer == answer("n1")
            assert watch.nodes["n1"].is_answering
            assert watch.nodes["n2"].answer is None
            await eventually(lambda: gates.asked.count("h:1") >= 3)
            assert gates.asked.count("h:2") == 1

    asyncio.run(scenario())


def test_silence_adds_up_until_an_answer_comes() -> None:
    async def scenario() -> None:
        gates = AskedGates({"n1": answer("n1")})
        changed = asyncio.Event()
        async with asyncio.timeout(60), NodeWatch(gates, changed.set, SECONDS) as watch:
            await watch.watch({"n1": "h:1"})
            await changed.wait()
            changed.clear()
            known = gates.answers.pop("n1")
            await changed.wait()
            node = watch.nodes["n1"]
            assert (node.is_answering, node.problem) == (False, "n1 is gone")
            assert node.answer == known
            before = node.silent_seconds
            await eventually(lambda: node.silent_seconds > before)
            gates.answers["n1"] = known
            await eventually(lambda: node.is_answering)
            assert node.silent_seconds == 0.0

    asyncio.run(scenario())


@pytest.mark.parametrize("error", [GateUntrusted("expired"), GateRefused(403, "", "no")])
def test_a_gate_that_refuses_is_not_silent(error: Exception) -> None:
    async def scenario() -> None:
        gates = AskedGates(defect=error)
        async with asyncio.timeout(60), NodeWatch(gates, lambda: None, SECONDS) as watch:
            await watch.watch({"n1": "h:1"})
            await eventually(lambda: len(gates.asked) > 3)
            node = watch.nodes["n1"]
            assert (node.is_answering, node.silent_seconds) == (False, 0.0)
            assert node.problem == str(error)

    asyncio.run(scenario())


def test_a_node_is_asked_at_its_new_address_and_no_more_when_it_is_gone() -> None:
    async def scenario() -> None:
        gates = AskedGates({"n1": answer("n1")})
        async with asyncio.timeout(60), NodeWatch(gates, lambda: None, SECONDS) as watch:
            await watch.watch({"n1": "h:1"})
            await watch.watch({"n1": "h:2"})
            await eventually(lambda: "h:2" in gates.asked)
            await watch.watch({})
            assert watch.nodes == {}

    asyncio.run(scenario())


def test_a_defect_does_not_look_like_a_silent_node() -> None:
    async def scenario() -> None:
        gates = AskedGates(defect=ZeroDivisionError())
        async with NodeWatch(gates, lambda: None, SECONDS) as watch:
            await watch.watch({"n1": "h:1"})
            await eventually(lambda: bool(gates.asked))
            await asyncio.sleep(0)
            with pytest.raises(ZeroDivisionError):
                await watch.watch({"n1": "h:1"})

    asyncio.run(scenario())
