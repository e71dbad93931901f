"""Whatever happens to nodes and starts, no desktop is started twice and none is left alone."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from hypothesis import given, settings
from hypothesis import strategies as st

from deskhand.tools.cluster.placing.actions import (
    Action,
    EndDesktop,
    EndStray,
    FinishEnd,
    LoseDesktop,
    MarkNode,
    RefuseDesktop,
    RequeueDesktop,
    ResumeStart,
    StartDesktop,
)
from deskhand.tools.cluster.placing.decisions import MOST_STARTS, WAIT_SECONDS, decide
from deskhand.tools.cluster.placing.memory import PlacerMemory
from deskhand.tools.cluster.placing.node_answer import NodeAnswer
from deskhand.tools.cluster.placing.selection import refusal
from deskhand.tools.cluster.placing.situation import (
    ENDING,
    READY,
    STARTING,
    WANTED,
    PlacedDesktop,
    PlacingSituation,
    SeenNode,
)

VERSION = "1.0"
PLACES = 2
NODES = ("n1", "n2", "n3")


@dataclass
class Host:
    """A node with what really runs on it."""

    running: set[str] = field(default_factory=set)
    is_up: bool = True
    silent_seconds: float = 0.0
    draining: bool = False


@dataclass
class World:
    """Rows, nodes, and one placer after the other."""

    now: float = 1000.0
    rows: dict[str, PlacedDesktop] = field(default_factory=dict)
    over: dict[str, str] = field(default_factory=dict)
    hosts: dict[str, Host] = field(default_factory=lambda: {name: Host() for name in NODES})
    memory: PlacerMemory = field(default_factory=PlacerMemory)
    in_flight: dict[str, Action] = field(default_factory=dict)

    def situation(self) -> PlacingSituation:
        self.memory.read(self.now, self.rows.values(), {})
        return PlacingSituation(
            *(self.now, VERSION, tuple(self.rows.values()), dict(map(self._node, self.hosts))),
            history=dict(self.memory.history),
            busy=frozenset(self.in_flight),
        )

    def _node(self, name: str) -> tuple[str, SeenNode]:
        host = self.hosts[name]
        answer = NodeAnswer(name, VERSION, PLACES, desktops=frozenset(host.running))
        seen = SeenNode(
            *(name, f"{name}:1", answer, self.now),
            is_answering=host.is_up,
            silent_seconds=host.silent_seconds,
            in_ray=True,
            draining=host.draining,
            seen_at=self.now,
        )
        return name, seen

    def decide(self) -> list[Action]:
        found = self.situation()
        actions = decide(found)
        subjects = [one.subject for one in actions if not isinstance(one, MarkNode)]
        assert len(subjects) == len(set(subjects)), "two actions at once on one subject"
        for one in actions:
            assert one.subject not in self.in_flight
            if isinstance(one, StartDesktop):
                assert self.rows[one.desktop_id].state == WANTED
                node = found.nodes[one.node]
                there = one.desktop_id in self.hosts[one.node].running
                assert there or not refusal(node, self.now, VERSION)
        starts = [one for one in actions if isinstance(one, StartDesktop)]
        for name in NODES:
            taken = {one.id for one in self.rows.values() if one.node == name}
            new = {one.desktop_id for one in starts if one.node == name}
            if new:
                assert len(taken | new | self.hosts[name].running) <= max(
                    PLACES, len(taken | self.hosts[name].running)
                )
        return list(actions)

    def begin(self, action: Action) -> None:
        if isinstance(action, StartDesktop):
            before = self.rows[action.desktop_id]
            generation = before.generation + 1
            self.rows[before.id] = PlacedDesktop(
                *(before.id, STARTING, action.node, action.address, generation),
                changed_at=self.now,
            )
        self.in_flight[action.subject] = action

    def end(self, action: Action, works: bool, is_answered: bool) -> None:
        """Perform an action: `works` if the node does it, and `is_answered` if that is known."""
        del self.in_flight[action.subject]
        match action:
            case StartDesktop(desktop_id, node) | ResumeStart(desktop_id, node):
                self._end_start(desktop_id, node, works, is_answered)
            case EndDesktop(desktop_id, node):
                if self.hosts[node].is_up:
                    self.hosts[node].running.discard(desktop_id)
                    self._finish(desktop_id, ENDING, "ended")
            case EndStray(desktop_id, node):
                row = self.rows.get(desktop_id)
                assert row is None or row.node != node, "a desktop was ended in its place"
                if self.hosts[node].is_up:
                    self.hosts[node].running.discard(desktop_id)
            case FinishEnd(desktop_id):
                self._finish(desktop_id, ENDING, "ended")
            case LoseDesktop(desktop_id):
                self._finish(desktop_id, READY, "lost")
            case RefuseDesktop(desktop_id):
                self._finish(desktop_id, WANTED, "refused")
            case RequeueDesktop(desktop_id, generation):
                self._wanted(desktop_id, generation)

    def _end_start(self, desktop_id: str, node: str, works: bool, is_answered: bool) -> None:
        host = self.hosts[node]
        works = works and host.is_up
        if works:
            host.running.add(desktop_id)
        row = self.rows.get(desktop_id)
        if row is None or row.state != STARTING:
            return
        if works and is_answered:
            self.rows[desktop_id] = replace(row, state=READY, changed_at=self.now)
            self.memory.forget(desktop_id)
        else:
            self.memory.start_failed(desktop_id, node, "it has failed")
            self._wanted(desktop_id, row.generation)

    def _finish(self, desktop_id: str, before: str, state: str) -> None:
        row = self.rows.get(desktop_id)
        if row is not None and row.state == before:
            del self.rows[desktop_id]
            self.over[desktop_id] = state

    def _wanted(self, desktop_id: str, generation: int) -> None:
        row = self.rows.get(desktop_id)
        if row is not None and row.state == STARTING and row.generation == generation:
            again = replace(row, state=WANTED, node="", address="", changed_at=self.now)
            self.rows[desktop_id] = again

    def pass_time(self, seconds: float) -> None:
        self.now += seconds
        for host in self.hosts.values():
            host.silent_seconds = 0.0 if host.is_up else host.silent_seconds + seconds

    def round(self, outcomes: Iterable[tuple[bool, bool]] = ()) -> None:
        for action in self.decide():
            self.begin(action)
        answers = iter(outcomes)
        for action in list(self.in_flight.values()):
            self.end(action, *next(answers, (True, True)))


EVENTS = st.sampled_from(
    ["order", "end", "power", "drain", "crash", "replace", "time", "decide", "answer", "answer"]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(EVENTS, st.integers(0, 7), st.booleans(), st.booleans()), max_size=60))
def test_no_start_is_double_and_every_desktop_comes_to_something(
    events: list[tuple[str, int, bool, bool]],
) -> None:
    world = World()
    for number, (event, pick, works, is_answered) in enumerate(events):
        if event == "answer" and world.in_flight:
            chosen = sorted(world.in_flight)[pick % len(world.in_flight)]
            world.end(world.in_flight[chosen], works, is_answered)
        elif event in ("order", "end"):
            change_rows(world, event, f"d{number}", pick)
        else:
            change_world(world, event, pick)
    settle(world)


def change_rows(world: World, event: str, desktop_id: str, pick: int) -> None:
    living = sorted(world.rows)
    if event == "order":
        world.rows[desktop_id] = PlacedDesktop(desktop_id, WANTED, changed_at=world.now)
    elif living:
        row = world.rows[living[pick % len(living)]]
        world.rows[row.id] = replace(row, state=ENDING)


def change_world(world: World, event: str, pick: int) -> None:
    host = world.hosts[NODES[pick % 3]]
    match event:
        case "power":
            host.is_up = not host.is_up
        case "drain":
            host.draining = not host.draining
        case "crash" if host.running:
            host.running.discard(min(host.running))
        case "replace":
            # What the placer before has begun is in the rows alone.
            world.in_flight.clear()
            world.memory = PlacerMemory()
        case "time":
            world.pass_time(3.0 * pick)
        case "decide":
            for action in world.decide():
                world.begin(action)


def settle(world: World) -> None:
    """Let nodes answer: everything comes to an end, and nothing runs that should not."""
    for host in world.hosts.values():
        host.is_up, host.draining = True, False
    for _ in range(MOST_STARTS + 5):
        world.pass_time(5.0)
        world.round()
    waiting = [one for one in world.rows.values() if one.state == WANTED]
    ready = [one for one in world.rows.values() if one.state == READY]
    assert len(waiting) + len(ready) == len(world.rows)
    for one in ready:
        assert [name for name, host in world.hosts.items() if one.id in host.running] == [one.node]
    running = sum(len(host.running) for host in world.hosts.values())
    assert running == len(ready)
    assert not waiting or running >= PLACES * len(NODES)
    world.pass_time(WAIT_SECONDS)
    world.round()
    assert all(one.state == READY for one in world.rows.values())
