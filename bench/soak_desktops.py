"""Open and close a desktop a thousand times, and run twenty at once; nothing may be left.

    python -m bench.soak_desktops [--cycles 1000] [--together 20]

Prints what was counted on the way, and ends with status 1 when something grew.
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
from pathlib import Path

import psutil

from bench.traces import Traces, traces
from desktop.environment import built
from desktop.generation import Generation, Setting
from desktop.geometry import Size
from desktop.spawn import Spawner

DESKHAND = str(Path(sys.executable).with_name("deskhand"))
REPORT_EVERY = 100


def cycles(count: int) -> bool:
    """Open and close one after the other in this process; return whether nothing grew."""
    first: Traces | None = None
    memory = psutil.Process()
    with tempfile.TemporaryDirectory(prefix="soak-") as place, Spawner() as spawner:
        folder = Path(place)
        environment = built(folder, "soak", "soak", inherited=os.environ)
        for name in ("home", "tmp", "run", "logs"):
            (folder / name).mkdir()
        setting = Setting(
            *(folder, Size(1920, 1080), environment, spawner),
            acted=lambda: None,
            told=lambda kind, data: None,
        )
        began = time.monotonic()
        for number in range(1, count + 1):
            life = Generation(setting, number, 0, lambda: None)
            life.open()
            life.framebuffer.frame()
            life.close()
            # A dead desktop is a ring of objects that holds frames of 8 MB each.
            del life
            gc.collect()
            if number == 2 or number % REPORT_EVERY == 0 or number == count:
                now = traces()
                first = first or now
                spent = (time.monotonic() - began) / number
                size = memory.memory_info().rss // 1_000_000
                print(f"{number:5} cycles, {spent * 1000:.0f} ms each, {size} MB, {now}")
                if now != first:
                    return False
    return True


def together(count: int) -> bool:
    """Start services at once and end them; return whether all came up and none left a process."""
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
        print(f"{count} desktops after {time.monotonic() - began:.1f} s: {', '.join(instances)}")
        for process in started:
            process.terminate()
        ended = [process.wait(60) for process in started]
    left = [one for one in instances if Path(f"/tmp/.X11-unix/X{one[1:]}").exists()]
    print(f"ended with {set(ended)}; sockets left: {left or 'none'}")
    return set(ended) == {0} and not left and len(set(instances)) == count


def main() -> int:
    """Run both; 0 when nothing leaked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cycles", type=int, default=1000)
    parser.add_argument("--together", type=int, default=20)
    given = parser.parse_args()
    alone = cycles(given.cycles)
    return 0 if together(given.together) and alone else 1


if __name__ == "__main__":
    sys.exit(main())
