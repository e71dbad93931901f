"""Nodes and their daemons that are killed, hang, are full, are cut off and come back."""

import json
import os
import re
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from tests.cluster.actions import ActionLog
from tests.cluster.deployment import Deployment, Node
from tests.cluster.faults.work import DISK_MIB, LIMIT, PAUSE, Json, chats, check_whole
from tests.system.services import DESKHAND, PATIENCE, until

pytestmark = [pytest.mark.faults, pytest.mark.x11, pytest.mark.root]


def rested(d: Deployment, desktop_id: str) -> bytes:
    """Return the screen of a new desktop when nothing paints any more."""
    rest = {"quiet_ms": 1000, "timeout_seconds": PATIENCE, "screenshot": False}
    found = d.post(f"/api/v0/desktops/{desktop_id}/desktop/wait-for", rest)
    assert found["unmet"] == [], found
    return screen(d, desktop_id)


def screen(d: Deployment, desktop_id: str) -> bytes:
    answer = d.http.get(f"/api/v0/desktops/{desktop_id}/desktop/screenshot")
    assert answer.status_code == 200, answer.text
    return answer.content


@pytest.mark.slow("daemons that restart")
@pytest.mark.parametrize(
    "killed", ["node", "placer", "raylet", pytest.param("head", marks=pytest.mark.full)]
)
def test_a_desktop_outlives_each_daemon_and_starts_resume(d: Deployment, killed: str) -> None:
    made = d.post("/api/v0/desktops", {"name": "stays"})
    before = rested(d, made["id"])
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

    until(same, "the screen as it was", LIMIT, PAUSE)
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
        before = rested(d, first)
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
    wait_until_back(d, hung)


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
    until(lambda: desktop_ids <= {row[0] for row in d.rows(query)}, "lost desktops", LIMIT, PAUSE)
    print("lost after", round(time.monotonic() - begun, 1))


def wait_until_back(d: Deployment, node: Node) -> None:
    begun = time.monotonic()
    query = f"SELECT reason FROM nodes WHERE name = '{node.host.name}'"
    until(lambda: d.rows(query) == [[""]], "the node", LIMIT, PAUSE)
    print("back after", round(time.monotonic() - begun, 1))


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
    until(lambda: not any(cut_off.named(one) for one in replaced), "their end", LIMIT, PAUSE)
    check_whole(d, log, ids)


@pytest.mark.full
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


@contextmanager
def full_disk(node: Node) -> Iterator[None]:
    """Leave less than a node needs on the disk of its data."""

    def resize(mebibytes: int) -> None:
        size = f"remount,size={mebibytes}m"
        subprocess.run(["mount", "-o", size, str(node.data)], check=True)

    resize(512)
    try:
        yield
    finally:
        resize(DISK_MIB)


@contextmanager
def full_memory(node: Node) -> Iterator[None]:
    """Let a node alone read that hardly any memory of the machine is available."""
    inside = ["nsenter", f"--target={node.pid}", "--mount"]
    lines = Path("/proc/meminfo").read_text().splitlines(keepends=True)
    full = node.data / "meminfo"
    full.write_text(
        "".join(
            "MemAvailable: 131072 kB\n" if one.startswith("MemAvailable:") else one for one in lines
        )
    )
    subprocess.run([*inside, "mount", "--bind", str(full), "/proc/meminfo"], check=True)
    try:
        yield
    finally:
        subprocess.run([*inside, "umount", "/proc/meminfo"], check=True)
        full.unlink()


def marks(d: Deployment) -> dict[str, Json]:
    """Return the nodes as ``deskhand nodes`` lists them."""
    environment = {**os.environ, "DESKHAND_DATABASE": d.database}
    command = [DESKHAND, "nodes", "--json"]
    found = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return {one["name"]: one for one in json.loads(found.stdout)["nodes"]}


def refused(d: Deployment, node: Node) -> str:
    """Return why a node itself refuses a start."""
    answer = d.ask_gate(node, "POST", "/desktops", {"id": "aaaaaaa1"})
    assert answer.status_code == 409, (answer.status_code, answer.text)
    return str(answer.json()["message"])


@pytest.mark.slow("commands and starts of desktops")
@pytest.mark.parametrize(
    ("fill", "reason"),
    [(full_disk, r"disk full: \d+ MiB are free in .*"), (full_memory, r"no memory: 128 MiB .*")],
    ids=["disk", "memory"],
)
def test_a_node_that_is_full_is_marked_and_refuses_while_another_starts_desktops(
    d: Deployment, fill: Callable[[Node], AbstractContextManager[None]], reason: str
) -> None:
    first = d.post("/api/v0/desktops", {"name": "makes the other node the first choice"})["id"]
    (row,) = d.rows(f"SELECT node FROM desktops WHERE id = '{first}'")
    (full,) = (node for name, node in d.nodes.items() if name != row[0])
    with fill(full):
        # At once: placers have not read yet that it is full.
        made = [d.post("/api/v0/desktops", {"name": str(number)})["id"] for number in range(3)]
        named = ", ".join(f"'{one}'" for one in made)
        assert d.rows(f"SELECT DISTINCT node FROM desktops WHERE id IN ({named})") == [row]
        assert re.fullmatch(reason, refused(d, full))
        query = f"SELECT reason FROM nodes WHERE name = '{full.host.name}'"
        # On a busy machine the node may have another mark for a moment.
        until(lambda: re.fullmatch(reason, d.rows(query)[0][0]), "the mark", LIMIT, PAUSE)
        marked = marks(d)
        print(marked)
        assert re.fullmatch(reason, marked[full.host.name]["reason"])
        assert marked[row[0]]["reason"] == ""
    wait_until_back(d, full)
    later = [d.post("/api/v0/desktops", {"name": f"later {n}"})["id"] for n in range(2)]
    named = ", ".join(f"'{one}'" for one in later)
    assert [full.host.name] in d.rows(f"SELECT node FROM desktops WHERE id IN ({named})")
