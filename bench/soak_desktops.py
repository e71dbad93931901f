"""Open and close a desktop a thousand times, and run twenty at once; nothing may be left behind.

    python -m bench.soak_desktops [--cycles 1000] [--forked 1000] [--together 20]

The first are opened in this process, the second by a control plane that forks them.

Prints the counts on the way, and exits with status 1 when one has grown. Memory may grow by a few
frames: glibc keeps the top of a heap after blocks of that size were freed (M_TRIM_THRESHOLD,
mallopt(3)).
"""

import argparse
import gc
import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any

import psutil

from bench.start import ended, plane, started
from bench.tables import save
from bench.traces import PlaneTraces, Traces, plane_memory, plane_traces, traces
from deskhand.desktop.browser.launch import prepare
from deskhand.desktop.display.child_processes import ChildProcessSpawner
from deskhand.desktop.display.instance import DisplayInstance, InstanceOptions
from deskhand.desktop.display.session_files import SessionFiles
from deskhand.desktop.geometry import Size
from deskhand.desktop.isolation.environment import built

DESKHAND = str(Path(sys.executable).with_name("deskhand"))
REPORT_EVERY = 100
LARGEST_GROWTH = 3 * 4 * 1920 * 1080

Facts = dict[str, Any]


def cycles(count: int) -> Facts:
    """Open and close desktops one after the other in this process; return the results."""
    first: Traces | None = None
    memory: list[int] = []
    process = psutil.Process()
    grew = False
    with tempfile.TemporaryDirectory(prefix="soak-") as place, ChildProcessSpawner() as spawner:
        folder = Path(place)
        environment = built(folder, "soak", "soak", inherited=os.environ)
        for name in ("home", "tmp", "run", "logs"):
            (folder / name).mkdir()
        options = InstanceOptions(
            *(folder, Size(1920, 1080), environment, spawner, SessionFiles.read()),
            browser=prepare("", "auto", environment),
            acted=lambda: None,
            publish=lambda kind, data: None,
        )
        began = time.monotonic()
        for number in range(1, count + 1):
            instance = DisplayInstance(options, number, 0, lambda: None)
            instance.open()
            instance.framebuffer.frame()
            instance.close()
            # A closed desktop is a reference cycle that holds frames of 8 MB each.
            del instance
            gc.collect()
            if number == 2 or number % REPORT_EVERY == 0 or number == count:
                now = traces()
                first = first or now
                spent = (time.monotonic() - began) / number
                memory.append(process.memory_info().rss)
                size = memory[-1] // 1_000_000
                print(f"{number:5} cycles, {spent * 1000:.0f} ms each, {size} MB, {now}")
                grew = now != first or memory[-1] - memory[0] > LARGEST_GROWTH
                if grew:
                    break
    megabytes = [size // 1_000_000 for size in memory]
    return {"ok": not grew, "cycles": count, "memory_mb_each_hundred": megabytes}


def forked(count: int) -> Facts:
    """Start and end desktops of a control plane with a fork server; return the results."""
    first: PlaneTraces | None = None
    memory: list[int] = []
    grew = False
    with tempfile.TemporaryDirectory(prefix="deskhand-", dir="/tmp") as place:
        folder = Path(place)
        folder.chmod(0o711)
        with plane(folder, DESKHAND, "wait") as control_plane:
            began = time.monotonic()
            for number in range(1, count + 1):
                ended(control_plane, started(control_plane))
                # The control plane starts threads for its first hundred requests.
                if number % REPORT_EVERY == 0 or number == count:
                    now = plane_traces(control_plane.process.pid, folder / "desktops")
                    first = first or now
                    memory.append(plane_memory(control_plane.process.pid))
                    spent = (time.monotonic() - began) / number
                    size = memory[-1] // 1_000_000
                    print(f"{number:5} forked, {spent * 1000:.0f} ms each, {size} MB, {now}")
                    grew = now.has_grown(first) or memory[-1] - memory[0] > LARGEST_GROWTH
                    if grew:
                        break
    megabytes = [size // 1_000_000 for size in memory]
    left = None if first is None else asdict(first)
    facts = {"cycles": count, "memory_mb_each_hundred": megabytes, "traces": left}
    return {"ok": not grew, **facts}


def together(count: int) -> Facts:
    """Start services at once and end them; the result is ok if none left a socket behind."""
    began = time.monotonic()
    instances = []
    with ExitStack() as stack:
        started = [
            stack.enter_context(
                subprocess.Popen([DESKHAND, "desktop", "--json"], stdout=subprocess.PIPE, text=True)
            )
            for _ in range(count)
        ]
        for process in started:
            stack.callback(process.terminate)
        for process in started:
            assert process.stdout is not None
            instances.append(json.loads(process.stdout.readline())["display"])
        ready = time.monotonic() - began
        print(f"{count} desktops after {ready:.1f} s: {', '.join(instances)}")
        began = time.monotonic()
        for process in started:
            process.terminate()
        ended = {process.wait(90) for process in started}
        gone = time.monotonic() - began
    left = [one for one in instances if Path(f"/tmp/.X11-unix/X{one[1:]}").exists()]
    print(f"ended with {ended} after {gone:.1f} s; sockets left: {left or 'none'}")
    return {
        "ok": ended == {0} and not left and len(set(instances)) == count,
        "desktops": count,
        "all_ready_s": round(ready, 1),
        "all_ended_s": round(gone, 1),
        "exit_statuses": sorted(ended),
    }


def main() -> int:
    """Run both tests; return 0 when nothing leaked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cycles", type=int, default=1000)
    parser.add_argument("--forked", type=int, default=1000)
    parser.add_argument("--together", type=int, default=20)
    given = parser.parse_args()
    results = {
        "alone": cycles(given.cycles),
        "forked": forked(given.forked),
        "together": together(given.together),
    }
    save("soak_desktops", results)
    return 0 if all(facts["ok"] for facts in results.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
