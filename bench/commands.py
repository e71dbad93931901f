"""Measure how long commands of the command line take, beside an interpreter that does nothing.

Usage: python -m bench.commands [RUNS [COMMAND]]. COMMAND is the ``deskhand`` of another checkout,
such as the commit before, which is measured in the same run. Exits 1 when ``click`` takes longer
than its goal while the machine is quiet.
"""

import os
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

from bench.tables import in_turns, save, show
from tests.system.services import service

RUNS = 15
GOAL = 300.0
"""Milliseconds of ``deskhand click``."""
QUIET = 1.0
"""Load of two cores at which a missed goal counts."""


def run(command: tuple[str, ...], environment: dict[str, str]) -> None:
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)


def main(runs: int = RUNS, other: str = "") -> int:
    """Measure each command in turns, so that a busy machine slows all of them."""
    load = os.getloadavg()[0]
    own = str(Path(sys.executable).with_name("deskhand"))
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        with service(
            Path(folder) / "log", "up", "--data-dir", str(data), "--listen", "127.0.0.1:0"
        ) as plane:
            desktop = plane.post("/api/v0/desktops", {})["id"]
            environment = {**os.environ, "DESKHAND_DATA_DIR": str(data)}
            python = str(Path(sys.executable))
            found = {}
            for name, arguments in {
                "help": ("--help",),
                "version": ("version",),
                "ps": ("ps",),
                "click": ("click", "10", "10", "--desktop", desktop),
                "screenshot": ("screenshot", "-", "--desktop", desktop),
            }.items():
                ways = {f"deskhand {name}": (own, *arguments), "python -c pass": (python, "-c", "")}
                if other:
                    ways["another checkout"] = (other, *arguments)
                works = {way: partial(run, line, environment) for way, line in ways.items()}
                found[name] = in_turns(works, runs)
                show(name, found[name], f"deskhand {name}")
    save("commands", {"runs": runs, "commands_ms": found})
    missed = found["click"]["deskhand click"] > GOAL
    quiet = max(load, os.getloadavg()[0]) < QUIET
    if missed:
        print(f"click: over {GOAL:.0f} ms" + ("" if quiet else ", but the machine is busy"))
    return int(missed and quiet)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else RUNS, *sys.argv[2:3]))
