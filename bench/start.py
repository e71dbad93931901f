"""Start and memory of desktops that a control plane forks, beside those that it executes.

    python -m bench.start [COMMAND]

Prints, for each way: the median of 20 starts one after the other, from ``POST desktops`` to its
answer and to the last byte of the first screenshot, while ten desktops run and with a fork server
that has just started; the tenth of ten at once; the memory of the twentieth desktop (PSS of all
its processes, and of the service's private pages) after its first screenshot and when it has been
idle for a minute, and the difference in MemAvailable of the machine for 20 idle desktops, divided
by 20; the memory of the fork server. COMMAND is the ``deskhand`` of another checkout, such as the
commit before, which is measured in the same run. Exits 1 when a goal is missed while the machine
is quiet.
"""

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import psutil

from bench.fleet import pss
from bench.tables import exit_status, is_quiet, save
from deskhand.desktop.capture.idle_memory import IDLE_SECONDS
from deskhand.desktop.fork_server.server import TITLE
from tests.system.services import DESKHAND, Service, service, service_pid

RUNNING, STARTS, AT_ONCE = 10, 20, 10
SETTLED_SECONDS = 2.0
WITHOUT_USE_SECONDS = 2 * IDLE_SECONDS + 5.0
GOALS = {
    **{"ready_ms": 250.0, "first_screenshot_ms": 300.0, "tenth_at_once_ms": 500.0},
    **{"pss_idle_mib": 75.0, "private_idle_mib": 30.0},
}
"""Of the way ``forked``; at most."""


@contextmanager
def plane(folder: Path, command: str, mode: str) -> Iterator[Service]:
    places = ("--data-dir", str(folder / "data"), "--listen", "127.0.0.1:0")
    environment = {"DESKHAND_FORK_SERVER": mode, "DESKHAND_RUN_DIR": str(folder / "desktops")}
    log = folder / "plane.log"
    with service(log, "up", *places, environment=environment, program=(command,)) as found:
        yield found


def started(plane: Service) -> dict[str, Any]:
    """Start a desktop; return its facts, with the milliseconds that it took."""
    begun = time.perf_counter()
    found = plane.post("/api/v0/desktops", {})
    ready = time.perf_counter()
    answer = plane.http.get(f"/api/v0/desktops/{found['id']}/desktop/screenshot")
    assert answer.status_code == 200, answer.text
    shown = time.perf_counter()
    return {**found, "ready_ms": 1000 * (ready - begun), "shown_ms": 1000 * (shown - begun)}


def ended(plane: Service, desktop: dict[str, Any]) -> None:
    assert plane.http.delete(f"/api/v0/desktops/{desktop['id']}").is_success


def private(pid: int) -> float:
    """Return the memory in MiB that a process shares with no other (proc_pid_smaps(5))."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    sizes = [int(one.split()[1]) for one in lines if one.startswith("Private_")]
    return sum(sizes) / 1024


def available() -> float:
    return float(psutil.virtual_memory().available) / 2**20


def fork_server(plane: Service) -> psutil.Process | None:
    below = psutil.Process(plane.process.pid).children(recursive=True)
    return next((one for one in below if one.cmdline()[:1] == TITLE), None)


def measured(plane: Service) -> dict[str, float]:
    before = available()
    # The first waits for the fork server, and is not measured.
    ended(plane, started(plane))
    running = [started(plane) for _ in range(RUNNING)]
    taken = []
    for _ in range(STARTS):
        taken.append(started(plane))
        ended(plane, taken[-1])
    with ThreadPoolExecutor(AT_ONCE) as pool:
        at_once = list(pool.map(lambda _: started(plane), range(AT_ONCE)))
        found = {
            "ready_ms": round(median(one["ready_ms"] for one in taken)),
            "first_screenshot_ms": round(median(one["shown_ms"] for one in taken)),
            "tenth_at_once_ms": round(max(one["ready_ms"] for one in at_once)),
        }
        keeper = psutil.Process(at_once[-1]["pid"])
        for state, seconds in (("used", SETTLED_SECONDS), ("idle", WITHOUT_USE_SECONDS)):
            time.sleep(seconds)
            family = (keeper, *keeper.children(recursive=True))
            found[f"pss_{state}_mib"] = round(sum(map(pss, family)), 1)
            found[f"private_{state}_mib"] = round(private(service_pid(keeper.pid)), 1)
        found["machine_mib"] = round((before - available()) / (RUNNING + AT_ONCE), 1)
        server = fork_server(plane)
        if server is not None:
            found["fork_server_mib"] = round(pss(server), 1)
            found["fork_server_rss_mib"] = round(server.memory_info().rss / 2**20, 1)
        list(pool.map(lambda one: ended(plane, one), [*running, *at_once]))
    return found


def main(*other: str) -> int:
    ways = {"forked": (DESKHAND, "wait"), "executed": (DESKHAND, "off")}
    if other:
        ways["before"] = (other[0], "off")
    found = {}
    for name, (command, mode) in ways.items():
        with tempfile.TemporaryDirectory(prefix="deskhand-", dir="/tmp") as folder:
            Path(folder).chmod(0o711)
            with plane(Path(folder), command, mode) as control_plane:
                found[name] = measured(control_plane)
        print(f"{name}:")
        for key, value in found[name].items():
            goal = f"  (goal: at most {GOALS[key]:g})" if key in GOALS and name == "forked" else ""
            print(f"  {key:24} {value:8}{goal}", flush=True)
    save("start", {"goals": GOALS, **found})
    missed = [key for key, most in GOALS.items() if found["forked"][key] > most]
    return exit_status(missed, quiet=is_quiet())


if __name__ == "__main__":
    os.environ.setdefault("DESKHAND_USERS", "20-99")
    sys.exit(main(*sys.argv[1:]))
