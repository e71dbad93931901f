"""Measure one, five, twenty and forty desktops at once: start, memory, idle CPU, screenshots."""

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Any

import httpx2
import psutil

from bench.tables import save
from deskhand.desktop.client.command import service_command
from deskhand.desktop.client.local_service import LocalService

COUNTS = (1, 5, 20, 40)
REST_SECONDS = 10.0


def processes(instances: set[str]) -> list[psutil.Process]:
    """Return all processes of some desktops, their keepers included.

    A process belongs to a desktop whose instance id is in its environment; the keepers, which have
    none, are the parents.
    """
    marks = {f"DESKHAND_INSTANCE={instance}".encode() for instance in instances}
    found = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            if marks & set((entry / "environ").read_bytes().split(b"\0")):
                process = psutil.Process(int(entry.name))
                for one in (process, *process.parents()):
                    if "desktop" in " ".join(one.cmdline()) or one is process:
                        found[one.pid] = one
        except (OSError, psutil.Error):
            continue
    return list(found.values())


def pss(process: psutil.Process) -> float:
    """Return the proportional set size of a process in MiB (proc_pid_smaps(5))."""
    try:
        return float(process.memory_full_info().pss) / 2**20
    except psutil.Error:
        return 0.0


def spent(process: psutil.Process) -> float:
    """Return the seconds of CPU used so far.

    ``schedstat`` counts nanoseconds; the ticks of ``stat``, 10 ms each, are too coarse here.
    """
    total = 0
    try:
        for task in Path(f"/proc/{process.pid}/task").iterdir():
            total += int((task / "schedstat").read_text().split()[0])
    except (OSError, psutil.Error):
        return 0.0
    return total / 1e9


def measure(count: int) -> dict[str, Any]:
    """Start so many desktops at once, take screenshots of each, and end them."""
    with ExitStack() as stack, ThreadPoolExecutor(count) as pool:
        children = [LocalService(service_command("--json")) for _ in range(count)]
        for child in children:
            stack.callback(child.close)
        began = time.perf_counter()
        addresses = list(pool.map(lambda child: child.open(), children))
        ready = time.perf_counter() - began
        clients = [
            stack.enter_context(
                httpx2.Client(
                    base_url=url, headers={"Authorization": f"Bearer {token}"}, timeout=60
                )
            )
            for url, token in addresses
        ]

        def shot(client: httpx2.Client) -> float:
            at = time.perf_counter()
            assert client.get("/api/v0/desktop/screenshot").status_code == 200
            return (time.perf_counter() - at) * 1000

        first = list(pool.map(shot, clients))
        seen = time.perf_counter() - began
        again = list(pool.map(shot, clients))
        instances = {client.get("/api/v0/desktop").json()["instance_id"] for client in clients}
        time.sleep(1.0)
        members = processes(instances)
        before = sum(map(spent, members))
        time.sleep(REST_SECONDS)
        cpu = sum(map(spent, members)) - before
        memory = sum(map(pss, members))
        ending = time.perf_counter()
        list(pool.map(lambda child: child.close(), children))
        ended = time.perf_counter() - ending
    return {
        "all_ready_s": round(ready, 2),
        "all_seen_s": round(seen, 2),
        "first_screenshot_ms": round(median(first), 1),
        "next_screenshot_ms": round(median(again), 1),
        "pss_mb_each": round(memory / count, 1),
        "idle_cpu_percent_of_a_core_each": round(100 * cpu / REST_SECONDS / count, 2),
        "all_ended_s": round(ended, 2),
    }


def main() -> None:
    results = {}
    for count in COUNTS:
        results[str(count)] = measure(count)
        print(f"{count} desktops at once:")
        for name, value in results[str(count)].items():
            print(f"  {name:34} {value:10.2f}")
    save("fleet", {"desktops": results})


if __name__ == "__main__":
    main()
