"""Measure how long chats rest at faults of a cluster, as root: ``python -m bench.cluster_faults``.

A whole deployment (`tests.cluster.deployment`) with two control planes and two nodes. Chats wait in
a command at the fault; a time is that until the next command of the last chat begins, as a server
outside of Deskhand sees it. Faults take turns: a control plane that is killed, one that is stopped,
and a node that is cut off, also until its desktops are lost. Exits 1 when a goal is missed while
the machine is quiet.
"""

import argparse
import os
import signal
import tempfile
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median

from tests.cluster.actions import ActionLog, script_of_steps, served_model
from tests.cluster.deployment import NODES, Deployment, deployment
from tests.cluster.faults.work import STEPS, chats, driver, end_all, ended
from tests.cluster.hosts import network
from tests.postgres_server import postgres_server
from tests.system.services import until

from .tables import LOAD_BEFORE, exit_status, is_quiet, markdown_table, save

CHATS = 4
LIMIT = 120.0
KILLED, STOPPED = "control plane killed", "control plane stopped"
LOST, REPLACED = "node cut off, its desktops lost", "node cut off, chats on new desktops"
GOALS = {KILLED: 12.0, STOPPED: 12.0, LOST: 15.0, REPLACED: 25.0}
"""Seconds, at most."""
Times = dict[str, list[float]]


def held(d: Deployment, log: ActionLog) -> list[str]:
    """Let chats wait in their second command; return their ids."""
    log.clear()
    log.hold("step-2")
    ids = chats(d, CHATS)
    log.reached("step-2", CHATS)
    return ids


def continued(log: ActionLog, ids: Collection[str]) -> Callable[[], bool]:
    """Return whether the next command of all chats has begun."""
    return lambda: set(ids) <= set(log.of_step("step-3"))


def of_plane(d: Deployment, log: ActionLog, times: Times, number: signal.Signals) -> None:
    """Send a signal to a control plane and note when its chats continue on the other."""
    ids = held(d, log)
    at = driver(d, ids[0])
    cut = [one for one in ids if driver(d, one) == at]
    plane = d.planes[at]
    os.kill(plane.pid, number)
    begun = time.monotonic()
    d.use(1 - at)
    log.release()
    until(continued(log, cut), "the next command", LIMIT)
    times[KILLED if number is signal.SIGKILL else STOPPED].append(time.monotonic() - begun)
    ended(d, ids)
    if number is signal.SIGKILL:
        plane.kill()
        plane.start()
    else:
        os.kill(plane.pid, signal.SIGCONT)
        until(lambda: d.is_ready(at), "readiness", LIMIT)
    d.use(0, 1)


def of_node(d: Deployment, log: ActionLog, times: Times) -> None:
    """Cut a node off and note when its chats continue on the other."""
    ids = held(d, log)
    placed = d.rows("SELECT chat_id, node, id FROM desktops WHERE state = 'ready'")
    node = d.nodes[next(name for chat, name, _ in placed if chat == ids[0])]
    cut = {chat: desktop for chat, name, desktop in placed if name == node.host.name}
    named = ", ".join(f"'{one}'" for one in cut.values())
    query = f"SELECT id FROM desktops WHERE state = 'lost' AND id IN ({named})"
    node.host.set_link("down")
    begun = time.monotonic()
    log.release()
    until(lambda: len(d.rows(query)) == len(cut), "lost desktops", LIMIT)
    times[LOST].append(time.monotonic() - begun)
    until(continued(log, cut), "the next command", LIMIT)
    times[REPLACED].append(time.monotonic() - begun)
    ended(d, ids)
    node.host.set_link("up")
    reason = f"SELECT reason FROM nodes WHERE name = '{node.host.name}'"
    until(lambda: d.rows(reason) == [[""]], "the node", LIMIT)


@contextmanager
def running() -> Iterator[tuple[Deployment, ActionLog]]:
    """Run a deployment whose agents run commands."""
    with ExitStack() as stack:
        server = stack.enter_context(postgres_server())
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="dhc", dir="/tmp"))
        net = stack.enter_context(network(NODES))
        log = stack.enter_context(ActionLog("0.0.0.0"))
        log.address = net.address
        environment = stack.enter_context(served_model(script_of_steps(log, STEPS)))
        d = stack.enter_context(deployment(server, Path(folder), environment, net=net))
        until(lambda: len(d.rows("SELECT name FROM nodes")) == len(NODES), "both nodes", LIMIT)
        yield d, log


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    times: Times = {name: [] for name in GOALS}
    with running() as (d, log):
        for _ in range(options.rounds):
            for fault in (signal.SIGKILL, signal.SIGSTOP):
                of_plane(d, log, times, fault)
                end_all(d)
            of_node(d, log, times)
            end_all(d)
    print(f"load before: {LOAD_BEFORE}")
    found = {
        name: {"median (s)": round(median(taken), 1), "longest (s)": round(max(taken), 1)}
        for name, taken in times.items()
    }
    rows = [(name, *found[name].values(), goal) for name, goal in GOALS.items()]
    print(markdown_table(("", "median (s)", "longest (s)", "goal, at most"), rows))
    save("cluster_faults", {"goals": GOALS, **found})
    missed = [
        f"{name}: {found[name]['longest (s)']:g} s of at most {most:g}"
        for name, most in GOALS.items()
        if found[name]["longest (s)"] > most
    ]
    return exit_status(missed, quiet=is_quiet())


if __name__ == "__main__":
    raise SystemExit(main())
