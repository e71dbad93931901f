"""Measure the start of programs: ``python -m bench.programs [COUNT]``.

Prints the time from the request to the exit of ``sh -c :``, for a child of the service and for a
program that init starts, measured in turns, and the memory of an init before and after.
"""

import os
import select
import statistics
import subprocess
import sys
import time
from pathlib import Path
from threading import Lock

from deskhand.desktop.launch.channel import pair
from deskhand.desktop.launch.init_launcher import InitLauncher
from deskhand.desktop.programs.child_launcher import ChildLauncher
from deskhand.desktop.programs.launcher import ProgramLauncher
from deskhand.desktop.programs.program import Program, ProgramLimits

HOST = "tests.desktop.launch.init_host"
PAUSE = 0.03
"""Seconds between two programs; those of an agent follow each other by more."""
PROGRAM = Program(
    ("sh", "-c", ":"),
    dict(os.environ),
    descriptors=(),
    limits=ProgramLimits(oom_score_adj=500, processes=2000),
)


def seconds(launcher: ProgramLauncher) -> float:
    """Return how long one program takes from its start to its end."""
    began = time.perf_counter()
    running = launcher.start(PROGRAM)
    select.select([running], [], [])
    running.poll()
    took = time.perf_counter() - began
    running.close()
    return took


def memory(pid: int) -> float:
    """Return the proportional set size of a process in MiB."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


def main(count: int) -> None:
    """Measure and print."""
    own, there = pair()
    os.set_inheritable(there.fileno(), True)
    command = [sys.executable, "-S", "-E", "-m", HOST, str(there.fileno())]
    init = subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=(there.fileno(),))
    there.close()
    asking = InitLauncher(own, Lock())
    asking.fix_users({"agent": None})
    launchers: dict[str, ProgramLauncher] = {"child": ChildLauncher(), "init": asking}
    before = memory(init.pid)
    took: dict[str, list[float]] = {name: [] for name in launchers}
    for _ in range(count):
        for name, launcher in launchers.items():
            time.sleep(PAUSE)
            took[name].append(seconds(launcher) * 1000)
    for name, times in took.items():
        tenths = statistics.quantiles(times, n=10)
        print(f"{name}: lowest tenth {tenths[0]:.2f} ms, median {tenths[4]:.2f} ms")
    print(f"init: {before:.1f} MiB, {memory(init.pid):.1f} MiB after {count} programs")
    assert init.stdin is not None
    init.stdin.close()
    init.wait()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
