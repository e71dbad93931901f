"""Measure desktops on nodes beside those of one machine.

``python -m bench.cluster_nodes [--desktops 40]``, as root.

A whole deployment (`tests.cluster.deployment`): PostgreSQL, Ray, two control planes on this
machine, and two nodes in network namespaces of it. All share its cores, so that two nodes cannot be
quicker than one. As many desktops at once on one node, with the other one drained, take turns with
as many over both. The same desktops are then started by ``deskhand up`` on one machine. Memory is
that of all processes of a node, their share of what several use (PSS). Exits 1 when a goal is
missed while the machine is quiet.
"""

import argparse
import http.client
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import httpx2
import psutil

from deskhand.tools.cluster.placing.rooms import Rooms
from tests.cluster.deployment import Deployment, Node, deployment
from tests.postgres_server import postgres_server
from tests.system.services import service, until

from .calls import Plain
from .fleet import pss, spent
from .tables import LOAD_BEFORE, exit_status, in_turns, is_quiet, markdown_table, save

Json = dict[str, Any]
RESERVATIONS, REPEATS, CALLS = 40, 60, 1000
REST_SECONDS = 8.0
LIMIT = 300.0
SCREENSHOT, POINTER = "/api/v0/desktop/screenshot", "/api/v0/desktop/pointer"
GOALS = {
    "reserving room (ms)": 20.0,
    "two nodes, ratio to one": 1.1,
    "memory of a node without desktops (MiB)": 250.0,
    "memory added to a desktop (MiB)": 2.0,
    "screenshot, more than direct (ms)": 4.0,
    "processor time of a call in the plane (ms)": 1.0,
    "processor time of a call in the gate (ms)": 1.0,
}
"""At most; desktops over two nodes may be 10 % slower, as two runs on one differ by that."""


class Direct(Plain):
    """A connection to the socket of a desktop."""

    def __init__(self, path: Path, token: str) -> None:
        super().__init__("http://localhost", token)
        connected = socket.socket(socket.AF_UNIX)
        connected.connect(str(path))
        self._connection = http.client.HTTPConnection("localhost")
        self._connection.sock = connected


def memory(processes: Iterable[psutil.Process]) -> float:
    """Return the memory of processes in MiB, each once."""
    return sum(pss(one) for one in {one.pid: one for one in processes}.values())


def reserved(d: Deployment, token: Path) -> float:
    """Return the median milliseconds of a reservation, in a process of its own as the placer's.

    Ray reads its token's variables when it is loaded.
    """
    command = [sys.executable, "-m", "bench.cluster_nodes", "--reserve", d.head.address]
    variables = {**os.environ, "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(token)}
    ran = subprocess.run(command, env=variables, stdout=subprocess.PIPE, text=True, check=True)
    return float(ran.stdout.splitlines()[-1])


def reserving(address: str) -> float:
    """Return the median milliseconds of a reservation."""
    rooms = Rooms(address)
    rooms.open()
    taken = []
    try:
        for number in range(RESERVATIONS):
            begun = time.perf_counter()
            rooms.reserve(f"bench{number}", f"n{number % 2 + 1}")
            taken.append(1000 * (time.perf_counter() - begun))
            # As the placer does with a desktop that ends: it makes room for the next one.
            rooms.release(f"bench{number}")
    finally:
        rooms.close()
    return round(median(taken), 1)


def at_once(http: httpx2.Client, number: int) -> list[str]:
    """Start so many desktops at once; return their ids when all are ready."""

    def start(index: int) -> str:
        answer = http.post("/api/v0/desktops", json={"name": f"{index}"}, timeout=LIMIT)
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])

    with ThreadPoolExecutor(number) as pool:
        return list(pool.map(start, range(number)))


def end(http: httpx2.Client, ids: Iterable[str]) -> None:
    """End desktops at once."""
    with ThreadPoolExecutor(8) as pool:
        paths = [f"/api/v0/desktops/{one}" for one in ids]
        for answer in pool.map(lambda path: http.delete(path, timeout=LIMIT), paths):
            assert answer.status_code == 204, answer.text
    until(lambda: not http.get("/api/v0/desktops").json()["desktops"], "no desktops", LIMIT)


def drain(d: Deployment, name: str, draining: bool) -> None:
    d.rows(f"UPDATE nodes SET draining = {draining} WHERE name = '{name}'")
    # The placer that leads reads it within a second.
    time.sleep(2.0)


@contextmanager
def timed(taken: list[float]) -> Iterator[None]:
    begun = time.perf_counter()
    yield
    taken.append(time.perf_counter() - begun)


def of_starts(d: Deployment, number: int, rounds: int) -> Json:
    """Return the seconds until all are ready, on one node and over two, and their memory."""
    one: list[float] = []
    two: list[float] = []
    added = 0.0
    node = d.nodes["n1"]
    for index in range(2 * rounds):
        if index % 4 in (0, 3):
            drain(d, "n2", True)
            before = memory(node.processes())
            with timed(one):
                ids = at_once(d.http, number)
            time.sleep(REST_SECONDS)
            added = (memory(node.processes()) - before) / number
            drain(d, "n2", False)
        else:
            with timed(two):
                ids = at_once(d.http, number)
            placed = dict(d.rows("SELECT node, count(*) FROM desktops WHERE state = 'ready'"
                                 " GROUP BY node"))  # fmt: skip
            assert len(placed) == 2, placed
        end(d.http, ids)
    return {
        "desktops at once": number,
        "on one node (s)": round(min(one), 1),
        "over two nodes (s)": round(min(two), 1),
        "two nodes, ratio to one": round(min(two) / min(one), 2),
        "memory of a desktop on a node (MiB)": round(added, 1),
    }


def of_calls(d: Deployment) -> Json:
    """Return the times of a desktop through plane and gate, and directly at its socket."""
    made = d.post("/api/v0/desktops", {"name": "calls"})
    (row,) = d.rows(f"SELECT node FROM desktops WHERE id = '{made['id']}'")
    node = d.nodes[row[0]]
    plane = d.planes[0]
    through = Plain(plane.ready["url"], plane.ready["token"])
    direct = Direct(*_place(node, made["id"]))
    prefix = f"/api/v0/desktops/{made['id']}"
    shots: dict[str, Callable[[], Any]] = {
        "direct": lambda: direct.request("GET", SCREENSHOT),
        "through plane and gate": lambda: through.request("GET", prefix + "/desktop/screenshot"),
    }
    for shot in shots.values():
        shot()
    times = in_turns(shots, REPEATS)
    cost = _cost(plane.pid, node.pid, lambda: through.request("GET", prefix + "/desktop/pointer"))
    end(d.http, [made["id"]])
    more = times["through plane and gate"] - times["direct"]
    return {
        **{f"screenshot, {name} (ms)": value for name, value in times.items()},
        "screenshot, more than direct (ms)": round(more, 2),
        "processor time of a call in the plane (ms)": cost[0],
        "processor time of a call in the gate (ms)": cost[1],
    }


def _place(node: Node, desktop_id: str) -> tuple[Path, str]:
    """Return the socket and the token of a desktop."""
    roots = node.data, Path(node.environment["DESKHAND_RUN_DIR"])
    found = {one.suffix: one for root in roots for one in root.rglob(f"{desktop_id}.*")}
    return found[".sock"], found[".token"].read_text().strip()


def _cost(plane: int, gate: int, call: Callable[[], Any]) -> tuple[float, float]:
    """Return the milliseconds of processor time of each hop, less those without calls."""
    processes = psutil.Process(plane), psutil.Process(gate)
    for _ in range(CALLS // 10):
        call()
    before, begun = list(map(spent, processes)), time.perf_counter()
    for _ in range(CALLS):
        call()
    after, lasted = list(map(spent, processes)), time.perf_counter() - begun
    time.sleep(lasted)
    idle = list(map(spent, processes))
    costs = [
        round(1000 * ((one - first) - (last - one)) / CALLS, 2)
        for first, one, last in zip(before, after, idle, strict=True)
    ]
    return costs[0], costs[1]


def of_one_machine(number: int) -> Json:
    """Return the same starts and memory with ``deskhand up`` and no cluster."""
    with tempfile.TemporaryDirectory(prefix="deskhand-", dir="/tmp") as name:
        folder = Path(name)
        folder.chmod(0o711)
        environment = {
            **{"DESKHAND_FORK_SERVER": "off", "DESKHAND_RUN_DIR": f"{name}/run"},
            **{"DESKHAND_EGRESS": "open", "DESKHAND_MOST_DESKTOPS": str(number)},
        }
        places = ("--data-dir", f"{name}/data", "--listen", "127.0.0.1:0")
        with service(folder / "log", "up", *places, environment=environment) as plane:
            top = psutil.Process(plane.process.pid)
            plane.http.timeout = LIMIT
            end(plane.http, at_once(plane.http, 1))
            before = memory([top, *top.children(recursive=True)])
            taken: list[float] = []
            with timed(taken):
                ids = at_once(plane.http, number)
            time.sleep(REST_SECONDS)
            added = (memory([top, *top.children(recursive=True)]) - before) / number
            end(plane.http, ids)
    return {
        "on one machine (s)": round(taken[0], 1),
        "memory of a desktop on one machine (MiB)": round(added, 1),
    }


def measured(number: int, rounds: int) -> Json:
    """Return all figures."""
    found: Json = {}
    with (
        postgres_server() as server,
        tempfile.TemporaryDirectory(prefix="dhc", dir="/tmp") as folder,
        deployment(server, Path(folder), {}, places=number) as d,
    ):
        until(lambda: len(d.rows("SELECT name FROM nodes")) == 2, "both nodes", LIMIT)
        # What is loaded at the first desktop is not that of each.
        end(d.http, at_once(d.http, 2))
        time.sleep(REST_SECONDS)
        alone = max(memory(node.processes()) for node in d.nodes.values())
        print("a node without desktops:", flush=True)
        for process in {one.pid: one for one in d.nodes["n1"].processes()}.values():
            print(f"  {pss(process):8.1f} MiB  {' '.join(process.cmdline())[:60]}", flush=True)
        found["memory of a node without desktops (MiB)"] = round(alone, 1)
        found["reserving room (ms)"] = reserved(d, Path(folder, "ray-token"))
        found |= of_calls(d)
        found |= of_starts(d, number, rounds)
        print(d.get("/api/v0/status")["nodes"], flush=True)
        text = d.http.get("/metrics").text
        print("\n".join(one for one in text.splitlines() if "node_" in one or "waiting" in one))
    found |= of_one_machine(number)
    added = "memory of a desktop on a node (MiB)", "memory of a desktop on one machine (MiB)"
    found["memory added to a desktop (MiB)"] = round(found[added[0]] - found[added[1]], 1)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--desktops", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--reserve", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.reserve:
        print(reserving(options.reserve))
        return 0
    found = measured(options.desktops, options.rounds)
    print(f"load before: {LOAD_BEFORE}")
    rows = [(name, value, GOALS.get(name, "")) for name, value in found.items()]
    print(markdown_table(("", "measured", "goal, at most"), rows))
    save("cluster_nodes", {"goals": GOALS, **found})
    missed = [f"{name}: {found[name]:g} of at most {most:g}" for name, most in GOALS.items()
              if found[name] > most]  # fmt: skip
    return exit_status(missed, quiet=is_quiet())


if __name__ == "__main__":
    raise SystemExit(main())
