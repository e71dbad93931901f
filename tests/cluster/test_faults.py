"""Faults of a cluster and their results, counted from outside of Deskhand.

One deployment serves all tests of this module; each leaves it as it was.
"""

import itertools
import os
import random
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.actions import ActionLog, counted_model
from tests.cluster.deployment import NODES, PLACES, Deployment, Node, deployment
from tests.cluster.hosts import network
from tests.postgres_server import PostgresServer
from tests.system.services import PATIENCE, until

Json = dict[str, Any]
STEPS = 4
SEED = int(os.environ.get("DESKHAND_TEST_SEED", "0")) or random.randrange(1 << 30)
LIMIT = 6 * PATIENCE
GOOD_NODES = "SELECT count(*) FROM nodes WHERE reason = ''"
KILLS = int(os.environ.get("DESKHAND_TEST_KILLS", "2"))
"""Random moments at which a control plane is killed; 20 in a long run."""

pytestmark = [pytest.mark.faults, pytest.mark.x11, pytest.mark.root]


@pytest.fixture(scope="module")
def log() -> Iterator[ActionLog]:
    with ActionLog("0.0.0.0") as made:
        yield made


@pytest.fixture(scope="module")
def running(
    postgresql: PostgresServer, log: ActionLog, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Deployment]:
    # Paths of Unix sockets below it must be short.
    folder = Path(tmp_path_factory.mktemp("c"))
    with network(NODES) as net:
        log.address = net.address
        with (
            counted_model(log, STEPS) as environment,
            deployment(postgresql, folder, environment, net=net) as made,
        ):
            until(lambda: made.rows(GOOD_NODES) == [[str(len(NODES))]], "all nodes", LIMIT)
            yield made


@pytest.fixture
def d(running: Deployment, log: ActionLog) -> Iterator[Deployment]:
    """The deployment, with an empty log of actions; its chats and desktops end afterwards."""
    log.clear()
    print("seed", SEED)
    yield running
    # For a test that has failed.
    print(running.rows("SELECT name, reason, seen_at FROM nodes"))
    print(running.rows("SELECT id, state, node, reason FROM desktops WHERE state <> 'ended'"))
    log.release()
    for chat in running.get("/api/v0/chats?limit=100")["chats"]:
        running.http.delete(f"/api/v0/chats/{chat['id']}", timeout=2 * PATIENCE)
    for desktop_id in running.desktops():
        running.http.delete(f"/api/v0/desktops/{desktop_id}", timeout=2 * PATIENCE)
    until(lambda: not running.desktops(), "the end of all desktops", LIMIT)


def chats(d: Deployment, number: int, at: Sequence[int] = (0, 1)) -> list[str]:
    """Start chats at these control planes in turn; return their ids."""
    with ExitStack() as stack:
        clients = [stack.enter_context(d.at(one)) for one in at]
        answers = [
            clients[index % len(at)].post("/api/v0/chats", json={"prompt": "work"})
            for index in range(number)
        ]
    return [str(one.json()["id"]) for one in answers]


def agent(d: Deployment, at: int) -> tuple[str, str]:
    """Let a chat at a control plane start an agent with a desktop; return the ids of both chats."""
    with d.at(at) as http:
        caller = http.post("/api/v0/chats", json={"title": "caller"}).json()["id"]
        path = "/api/v0/tools/spawn_computer_use_agent"
        headers = {"Deskhand-Chat-Id": caller}
        answer = http.post(path, json={"prompt": "work"}, headers=headers)
    assert answer.is_success, answer.text
    return str(caller), str(answer.json()["result"]["chat_id"])


def ended(d: Deployment, ids: list[str]) -> list[Json]:
    """Return the chats when all are at rest."""

    def at_rest() -> list[Json] | None:
        found = [d.get(f"/api/v0/chats/{one}") for one in ids]
        return found if all(one["state"] == "waiting" for one in found) else None

    found: list[Json] = until(at_rest, "chats at rest", LIMIT)
    return found


def check_whole(d: Deployment, log: ActionLog, ids: list[str], cut: bool = True) -> None:
    """Check that each chat has ended with every step, and nothing was done twice.

    ``cut``: what ran at the fault may be reported as interrupted, and is not repeated.
    """
    for chat in ended(d, ids):
        steps = [one for one in chat["steps"] if one["tool"] == "execute"]
        shown = [(one["tool_call_id"], one["status"], one["error"]) for one in steps]
        assert len(steps) == STEPS, shown
        states = {one["status"] for one in steps}
        assert states <= ({"done", "interrupted", "failed"} if cut else {"done"}), steps
        done = [one["status"] for one in steps].count("done")
        assert done >= STEPS - 1, steps
        # An agent works in the directory of its parent.
        named = chat["parent_id"] or chat["id"]
        seen = {line.split()[0] for line in log.lines if line.endswith(named)}
        assert len(seen) >= (STEPS - 1 if cut else STEPS), (named, log.lines)
    assert log.repeated() == []


def test_chats_run_on_two_nodes_by_two_control_planes(d: Deployment, log: ActionLog) -> None:
    ids = chats(d, 4)
    check_whole(d, log, ids, cut=False)
    nodes = {row[0] for row in d.rows("SELECT DISTINCT node FROM desktops WHERE state = 'ready'")}
    assert nodes == {"n1", "n2"}
    drivers = d.rows("SELECT count(*) FROM planes")
    assert drivers == [["2"]]


@pytest.mark.slow("more chats than places")
def test_desktops_of_chats_at_rest_make_room_for_others(d: Deployment, log: ActionLog) -> None:
    places = PLACES * len(NODES)
    check_whole(d, log, chats(d, places), cut=False)
    assert len(d.desktops()) == places
    check_whole(d, log, chats(d, 2), cut=False)
    # Each control plane may have ended one for each of the two.
    left = d.rows("SELECT count(*) FROM desktops WHERE state = 'ready'")
    assert int(left[0][0]) >= places - 2


@pytest.mark.slow("waits until a control plane is dead for the other one")
def test_chats_of_a_killed_control_plane_continue_on_the_other(
    d: Deployment, log: ActionLog
) -> None:
    chance = random.Random(SEED)
    for point in range(KILLS):
        log.clear()
        killed = point % 2
        _, recorded = agent(d, killed)
        ids = [recorded, *chats(d, 3, at=[killed])]
        log.reached(f"step-{chance.randint(1, STEPS)}", 1)
        time.sleep(chance.uniform(0.0, 0.5))
        d.planes[killed].kill()
        begun = time.monotonic()
        check_whole(d, log, ids)
        print("chats of a killed control plane ended after", round(time.monotonic() - begun, 1))
        check_recorded(d, recorded)
        d.planes[killed].start()
        d.use(0, 1)


@pytest.mark.slow("waits until a control plane is dead for the other one")
def test_a_control_plane_that_was_stopped_does_nothing_more(d: Deployment, log: ActionLog) -> None:
    log.hold("step-2")
    ids = chats(d, 2, at=[0])
    log.reached("step-2", 2)
    os.kill(d.planes[0].pid, signal.SIGSTOP)
    try:
        log.release()
        # Its connections stay open: only its heartbeat shows that it does not work.
        d.use(1)
        check_whole(d, log, ids)
    finally:
        os.kill(d.planes[0].pid, signal.SIGCONT)
    # What it has left to do is refused: nothing is done a second time.
    until(lambda: d.is_ready(0), "readiness", LIMIT)
    d.use(0, 1)
    time.sleep(2.0)
    check_whole(d, log, ids)


@pytest.mark.slow("a rolling update")
def test_a_rolling_update_loses_no_step_and_repeats_none(d: Deployment, log: ActionLog) -> None:
    log.hold("step-2")
    planes = range(len(d.planes))
    agents = [agent(d, at) for at in planes]
    others = [chats(d, 2, at=[at]) for at in planes]
    ids = [*[one for _, one in agents], *itertools.chain(*others)]
    log.reached("step-2", len(ids))
    # An agent works in the directory of its caller.
    held = [[f"step-2 {name}" for name in (agents[at][0], *others[at])] for at in planes]
    log.hold(*itertools.chain(*held))
    log.release("step-2")
    for at, plane in enumerate(d.planes):
        # The commands that run are ended first, and turns are put back between two replies.
        os.kill(plane.pid, signal.SIGTERM)
        log.release(*held[at])
        begun = time.monotonic()
        plane.process.wait(LIMIT)
        print("ended after", round(time.monotonic() - begun, 1))
        plane.end()
        plane.start()
        d.use(*planes)
    check_whole(d, log, ids, cut=False)
    for _, chat_id in agents:
        assert check_recorded(d, chat_id) == 1


def check_recorded(d: Deployment, chat_id: str) -> int:
    """Check that all that an agent has done is recorded; return the number of recordings."""
    chat = d.get(f"/api/v0/chats/{chat_id}")
    recordings = [one["metadata"] for one in chat["files"] if one["kind"] == "recording"]
    recorded = {step["tool_call_id"] for one in recordings for step in one["steps"]}
    done = {step["tool_call_id"] for step in chat["steps"] if step["status"] == "done"}
    assert done <= recorded, recordings
    assert {one["complete"] for one in recordings} == {True}, recordings
    assert chat["recording_status"] == "stored", recordings
    return len(recordings)


@pytest.mark.slow("waits for the database")
def test_a_restart_of_the_database_costs_no_turn(d: Deployment, log: ActionLog) -> None:
    log.hold("step-2")
    ids = chats(d, 4)
    log.reached("step-2", len(ids))
    # In order: this server does not wait for the disk, and would lose commits otherwise.
    d.server.stop("fast")
    try:
        answer = d.http.get("/api/v0/chats")
        assert (answer.status_code, "retry-after" in answer.headers) == (503, True), answer.text
        # The commands end while nothing can be stored.
        log.release()
    finally:
        d.server.start()
    check_whole(d, log, ids, cut=False)


def screen(d: Deployment, desktop_id: str) -> bytes:
    answer = d.http.get(f"/api/v0/desktops/{desktop_id}/desktop/screenshot")
    assert answer.status_code == 200, answer.text
    return answer.content


@pytest.mark.slow("daemons that restart")
@pytest.mark.parametrize("killed", ["node", "placer", "raylet", "head"])
def test_a_desktop_outlives_each_daemon_and_starts_resume(d: Deployment, killed: str) -> None:
    made = d.post("/api/v0/desktops", {"name": "stays"})
    before = screen(d, made["id"])
    pid = d.desktops()[made["id"]]["pid"]
    (row,) = d.rows(f"SELECT node FROM desktops WHERE id = '{made['id']}'")
    node = d.nodes[row[0]]
    if killed == "node":
        node.kill()
        node.start()
    elif killed == "placer":
        for process in d.placers():
            process.kill()
    elif killed == "raylet":
        for process in node.named("raylet/raylet"):
            process.kill()
    else:
        d.head.kill()
        # Gone for a while.
        assert screen(d, made["id"])
        d.head.start()

    def same() -> bool:
        try:
            return screen(d, made["id"]) == before
        except AssertionError:
            return False

    until(same, "the screen as it was", LIMIT)
    assert d.desktops()[made["id"]]["pid"] == pid
    begun = time.monotonic()
    other = d.http.post("/api/v0/desktops", json={"name": "later"}, timeout=LIMIT)
    assert other.status_code == 201, other.text
    print(killed, "starts resume after", round(time.monotonic() - begun, 1))
    for one in (made["id"], other.json()["id"]):
        assert d.http.delete(f"/api/v0/desktops/{one}", timeout=LIMIT).status_code == 204


@pytest.mark.slow("a reservation that does not come")
def test_a_node_whose_ray_hangs_keeps_its_desktops_and_gets_no_new_ones(d: Deployment) -> None:
    first = d.post("/api/v0/desktops", {"name": "stays"})["id"]
    (row,) = d.rows(f"SELECT node FROM desktops WHERE id = '{first}'")
    hung = d.nodes[row[0]]
    stopped = hung.named("raylet/raylet")
    assert stopped
    for process in stopped:
        process.suspend()
    try:
        before = screen(d, first)
        made = [d.post("/api/v0/desktops", {"name": str(number)})["id"] for number in range(3)]
        named = ", ".join(f"'{one}'" for one in made)
        assert d.rows(f"SELECT DISTINCT node FROM desktops WHERE id IN ({named})") == [
            [name] for name in d.nodes if name != hung.host.name
        ]
        assert screen(d, first) == before
    finally:
        for process in stopped:
            process.resume()
    for one in (first, *made):
        assert d.http.delete(f"/api/v0/desktops/{one}", timeout=LIMIT).status_code == 204


def begun_on_a_node(d: Deployment, log: ActionLog) -> tuple[list[str], Node, set[str]]:
    """Let chats begin a command; return them, the node of the first one, and its desktops."""
    log.hold("step-2")
    ids = chats(d, 3)
    log.reached("step-2", len(ids))
    placed = dict(d.rows("SELECT chat_id, node FROM desktops WHERE state = 'ready'"))
    found = d.rows(f"SELECT id FROM desktops WHERE state = 'ready' AND node = '{placed[ids[0]]}'")
    return ids, d.nodes[placed[ids[0]]], {row[0] for row in found}


def wait_until_lost(d: Deployment, desktop_ids: set[str]) -> None:
    begun = time.monotonic()
    query = "SELECT id FROM desktops WHERE state = 'lost'"
    until(lambda: desktop_ids <= {row[0] for row in d.rows(query)}, "lost desktops", LIMIT)
    print("lost after", round(time.monotonic() - begun, 1))


def wait_until_back(d: Deployment, node: Node) -> None:
    query = f"SELECT reason FROM nodes WHERE name = '{node.host.name}'"
    until(lambda: d.rows(query) == [[""]], "the node", LIMIT)


@pytest.mark.slow("a node that is cut off")
def test_a_node_that_was_cut_off_ends_the_desktops_that_were_replaced(
    d: Deployment, log: ActionLog
) -> None:
    ids, cut_off, replaced = begun_on_a_node(d, log)
    assert all(cut_off.named(one) for one in replaced)
    cut_off.host.set_link("down")
    try:
        wait_until_lost(d, replaced)
        log.release()
        check_whole(d, log, ids)
        # It cannot know yet that others have its chats.
        assert all(cut_off.named(one) for one in replaced)
    finally:
        cut_off.host.set_link("up")
    wait_until_back(d, cut_off)
    until(lambda: not any(cut_off.named(one) for one in replaced), "their end", LIMIT)
    check_whole(d, log, ids)


@pytest.mark.slow("a node that is powered off")
def test_the_desktops_of_a_node_that_is_gone_are_replaced(d: Deployment, log: ActionLog) -> None:
    ids, gone, lost = begun_on_a_node(d, log)
    gone.power_off()
    log.release()
    wait_until_lost(d, lost)
    check_whole(d, log, ids)
    alive = {row[0] for row in d.rows("SELECT DISTINCT node FROM desktops WHERE state = 'ready'")}
    assert gone.host.name not in alive
    gone.host.set_link("up")
    gone.start()
    wait_until_back(d, gone)
    made = [d.post("/api/v0/desktops", {"name": f"again {n}"})["id"] for n in range(4)]
    used = {row[0] for row in d.rows("SELECT DISTINCT node FROM desktops WHERE state = 'ready'")}
    assert gone.host.name in used
    for one in made:
        d.http.delete(f"/api/v0/desktops/{one}", timeout=LIMIT)
