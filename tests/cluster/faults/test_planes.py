"""Control planes and their database that are killed, stopped, replaced and restarted.

Commands and clicks are counted from outside of Deskhand.
"""

import itertools
import json
import os
import random
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import mode

import pytest

from tests.cluster.actions import ActionLog
from tests.cluster.click_page import CLICKED
from tests.cluster.deployment import Deployment
from tests.cluster.drops import dropped, ports_to, waits_to_be_sent
from tests.cluster.faults.work import (
    CHATS,
    CLICKS,
    COMMANDS,
    KILLS,
    LIMIT,
    PAUSE,
    PLANES,
    action,
    chats,
    check_recorded,
    check_whole,
    clicking,
    directory,
    driver,
    end_all,
)
from tests.system.services import until

pytestmark = [pytest.mark.faults, pytest.mark.x11, pytest.mark.root]

ACTIONS = sorted({*COMMANDS, *CLICKS.values()})
CLICK_2 = "reply-5"
"""It follows those that open the page, and ``step-1``, ``click-1`` and ``step-2``."""
LEFT = "the turn ends here"
"""In the log of a control plane that was replaced."""


@pytest.mark.slow("starts the cluster")
def test_chats_run_on_two_nodes_by_all_control_planes(d: Deployment, log: ActionLog) -> None:
    ids = chats(d, 4)
    check_whole(d, log, ids, cut=False)
    nodes = {row[0] for row in d.rows("SELECT DISTINCT node FROM desktops WHERE state = 'ready'")}
    assert nodes == {"n1", "n2"}
    drivers = d.rows("SELECT count(*) FROM planes")
    assert drivers == [[str(PLANES)]]


@pytest.mark.slow("more chats than places")
def test_desktops_of_chats_at_rest_make_room_for_others(d: Deployment, log: ActionLog) -> None:
    places = sum(node.places for node in d.nodes.values())
    check_whole(d, log, chats(d, places), cut=False)
    assert len(d.desktops()) == places
    check_whole(d, log, chats(d, 2), cut=False)
    # Each control plane may have ended one for each of the two.
    left = d.rows("SELECT count(*) FROM desktops WHERE state = 'ready'")
    assert int(left[0][0]) >= places - 2


@pytest.mark.slow("waits until a control plane is dead for the other one")
@pytest.mark.parametrize("kills", [1, pytest.param(KILLS, marks=pytest.mark.full)])
def test_chats_of_a_killed_control_plane_continue_on_another(
    d: Deployment, log: ActionLog, seed: int, kills: int
) -> None:
    chance = random.Random(seed)
    for moment in range(kills):
        log.clear()
        ids = clicking(d, log, CHATS // 2, moment % PLANES)
        drivers = [driver(d, one) for one in ids]
        killed = mode(drivers)
        cut = drivers.count(killed)
        chosen = chance.choice(ACTIONS)
        log.release()
        log.reached(chosen, 1)
        time.sleep(chance.uniform(0.0, 0.5))
        d.planes[killed].kill()
        begun = time.monotonic()
        unknown = check_whole(d, log, ids)
        lasted = round(time.monotonic() - begun, 1)
        print(f"kill {moment} at {chosen}: {cut} chats ended after {lasted} s; {unknown=}")
        check_recorded(d, ids[0])
        d.planes[killed].start()
        d.use(*range(PLANES))
        end_all(d)


@pytest.mark.slow("waits until a control plane is dead for the other one")
def test_a_control_plane_that_was_stopped_does_nothing_more(d: Deployment, log: ActionLog) -> None:
    ids = clicking(d, log, 1, 0)
    log.hold("step-2")
    log.release("step-1")
    log.reached("step-2", len(ids))
    stopped = driver(d, ids[0])
    cut = [one for one in ids if driver(d, one) == stopped]
    with replaced(d, stopped, len(cut)):
        log.release()
        assert check_whole(d, log, ids) == ["step-2"] * len(cut)
    # What it has left to do is refused: nothing is done a second time.
    check_whole(d, log, ids)


@contextmanager
def replaced(d: Deployment, stopped: int, chats_left: int) -> Iterator[None]:
    """Stop a control plane while the block runs, then wait until it has left so many chats."""
    plane, left = d.planes[stopped], ends(d, stopped) + chats_left
    os.kill(plane.pid, signal.SIGSTOP)
    try:
        # Its connections stay open: only its heartbeat shows that it does not work.
        d.use(*(number for number in range(PLANES) if number != stopped))
        yield
    finally:
        os.kill(plane.pid, signal.SIGCONT)
    until(lambda: d.is_ready(stopped), "readiness", LIMIT, PAUSE)
    until(lambda: ends(d, stopped) >= left, "the end of its turns", LIMIT, PAUSE)
    d.use(*range(PLANES))


def ends(d: Deployment, number: int) -> int:
    """Return how often a control plane has left a chat because it was replaced."""
    # Written at the first entry.
    found = (d.folder / f"data-p{number + 1}" / "logs").glob("service.jsonl")
    return sum(path.read_text().count(LEFT) for path in found)


@pytest.mark.slow("waits until a control plane is dead for the other one")
def test_the_click_of_a_control_plane_that_was_replaced_is_refused(
    d: Deployment, log: ActionLog
) -> None:
    log.hold(CLICK_2)
    (chat,) = chats(d, 1, [0], CLICKED)
    until(lambda: CLICK_2 in log.asked, "the request for the click", LIMIT)
    (row,) = d.rows(f"SELECT node FROM desktops WHERE chat_id = '{chat}'")
    gate, stopped = d.nodes[row[0]].gate, driver(d, chat)
    pid, before = d.planes[stopped].pid, refused_actions(d)
    with dropped(gate) as drop:
        # The click is sent and does not arrive.
        log.release()
        until(lambda: running_action(d, chat) == "click-2", "the click", LIMIT)
        until(lambda: waits_to_be_sent(pid, gate), "its request", LIMIT)
        with replaced(d, stopped, 1):
            drop.only_from(ports_to(pid, gate))
            assert check_whole(d, log, [chat]) == ["click-2"]
            drop.nothing()
            # The system repeats what was not acknowledged.
            until(lambda: not waits_to_be_sent(pid, gate), "its arrival", LIMIT)
    check_whole(d, log, [chat])
    assert log.of_chat(chat)["click-2"] == 0
    # Its arrival is acknowledged before it is answered and logged.
    until(lambda: refused_actions(d) == before + 1, "the refusal", LIMIT)


def refused_actions(d: Deployment) -> int:
    """Return how often desktops have answered 409 to an action."""
    files = d.folder.glob("run-n*/*/logs/access.jsonl")
    lines = [json.loads(line) for path in files for line in path.read_text().splitlines()]
    return sum(one["status"] == 409 and one["path"].endswith("/action") for one in lines)


def running_action(d: Deployment, chat: str) -> str | None:
    steps = d.get(f"/api/v0/chats/{chat}")["steps"]
    return action(steps[-1]) if steps and steps[-1]["status"] == "running" else None


@pytest.mark.slow("a rolling update")
def test_a_rolling_update_loses_no_step_and_repeats_none(d: Deployment, log: ActionLog) -> None:
    log.hold("step-2")
    planes = range(PLANES)
    others = [CHATS // PLANES + (at < CHATS % PLANES) - 1 for at in planes]
    ids = [clicking(d, log, number, at) for at, number in enumerate(others)]
    log.release("step-1")
    log.reached("step-2", CHATS)
    held = [[f"step-2 {directory(d.get(f'/api/v0/chats/{one}'))}" for one in each] for each in ids]
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
    check_whole(d, log, list(itertools.chain(*ids)), cut=False)
    for each in ids:
        assert check_recorded(d, each[0]) == 1


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
