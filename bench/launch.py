"""Measure what namespaces cost at the start of a desktop, beside desktops without them.

Usage: python -m bench.launch [RUNS [COMMAND]]. COMMAND is the ``deskhand`` of another checkout,
such as the commit before, which is measured in the same run.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

import httpx2
import psutil

from bench.fleet import pss
from bench.tables import save

RUNS = 9


def started(command: str, namespaces: str) -> tuple[float, float, float]:
    """Start a desktop; return seconds to ready, to the first screenshot, and its memory in MiB."""
    environment = {**os.environ, "DESKHAND_NAMESPACES": namespaces}
    begun = time.perf_counter()
    with subprocess.Popen(
        [command, "desktop", "--json"], env=environment, stdout=subprocess.PIPE
    ) as process:
        try:
            assert process.stdout is not None
            found = json.loads(process.stdout.readline())
            ready = time.perf_counter() - begun
            headers = {"Authorization": f"Bearer {found['token']}"}
            answer = httpx2.get(f"{found['url']}/api/v0/desktop/screenshot", headers=headers)
            answer.raise_for_status()
            shown = time.perf_counter() - begun
            keeper = psutil.Process(process.pid)
            memory = sum(map(pss, (keeper, *keeper.children(recursive=True))))
        finally:
            process.terminate()
    return ready, shown, memory


def main(runs: int = RUNS, other: str = "") -> None:
    """Measure each way in turns, so that a busy machine slows all of them."""
    own = str(Path(sys.executable).with_name("deskhand"))
    ways = {"namespaces": (own, "on"), "without namespaces": (own, "off")}
    if other:
        ways["another checkout"] = (other, "on")
    found: dict[str, list[tuple[float, float, float]]] = {name: [] for name in ways}
    for _ in range(runs):
        for name, way in ways.items():
            found[name].append(started(*way))
    rows = {
        name: {
            "runs": runs,
            "ready_ms": round(median(one[0] for one in all_) * 1000),
            "first_screenshot_ms": round(median(one[1] for one in all_) * 1000),
            "fastest_ms": round(min(one[1] for one in all_) * 1000),
            "pss_mib": round(median(one[2] for one in all_), 1),
        }
        for name, all_ in found.items()
    }
    save("launch", rows)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else RUNS, *sys.argv[2:3])
