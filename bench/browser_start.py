"""Measure the start of a desktop's browser, beside another checkout in the same run.

Usage: python -m bench.browser_start [RUNS [COMMAND]]. COMMAND is the ``deskhand`` of another
checkout, such as the commit before. Each run has a desktop of its own, whose first browser opens a
page. The page counts as open when it has asked for its script; the processes are read when the
browser has used less than 10 ms of CPU in half a second.
"""

import json
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

import httpx2
import psutil

from bench.fleet import pss
from bench.tables import save
from tests.live_trees import commands_below
from tests.system.reporting_page import reporting_page

RUNS = 5
PAGE = b"<!doctype html><title>open</title><script>fetch('/open', {method: 'POST'})</script>"
REST_SECONDS, REST_CPU = 0.5, 0.01


def started(command: str) -> tuple[float, float, float]:
    """Start a desktop and its browser; return seconds to the page, CPU seconds, and MiB."""
    with (
        reporting_page(PAGE) as (url, reports),
        subprocess.Popen([command, "desktop", "--json"], stdout=subprocess.PIPE) as process,
    ):
        try:
            assert process.stdout is not None
            found = json.loads(process.stdout.readline())
            headers = {"Authorization": f"Bearer {found['token']}"}
            begun = time.perf_counter()
            httpx2.post(
                f"{found['url']}/api/v0/processes/start",
                headers=headers,
                json={"command": f"exec browser {url}"},
            ).raise_for_status()
            reports.get(timeout=60)
            opened = time.perf_counter() - begun
            used = -1.0
            while (now := _cpu(process.pid)) - used > REST_CPU:
                used = now
                time.sleep(REST_SECONDS)
            memory = sum(map(pss, _browser(process.pid)))
        finally:
            process.terminate()
    return opened, now, memory


def _browser(desktop: int) -> list[psutil.Process]:
    commands = commands_below(desktop)
    return [one for one, line in commands.items() if any("chrom" in part for part in line[:1])]


def _cpu(desktop: int) -> float:
    times = (one.cpu_times() for one in _browser(desktop))
    return sum(one.user + one.system for one in times)


def main(runs: int = RUNS, other: str = "") -> None:
    """Measure each checkout in turns, so that a busy machine slows both of them."""
    ways = {"this checkout": str(Path(sys.executable).with_name("deskhand"))}
    if other:
        ways["another checkout"] = other
    found: dict[str, list[tuple[float, float, float]]] = {name: [] for name in ways}
    for _ in range(runs):
        for name, way in ways.items():
            found[name].append(started(way))
    rows = {
        name: {
            "runs": runs,
            "page_open_ms": round(median(one[0] for one in all_) * 1000),
            "cpu_s": round(median(one[1] for one in all_), 2),
            "pss_mib": round(median(one[2] for one in all_), 1),
        }
        for name, all_ in found.items()
    }
    save("browser_start", rows)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else RUNS, *sys.argv[2:3])
