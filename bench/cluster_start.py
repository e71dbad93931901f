"""Compare ``deskhand up`` on one machine with the commit before the cluster.

``python -m bench.cluster_start [--before REVISION] [--turns 7]``

That revision is taken from Git into a temporary directory, and runs with this environment. Both
start in turns: the time until the ready line, the processor time until then, and the memory of all
processes a while later (their share of what several use). Exits 1 when a goal is missed while the
machine is quiet.
"""

import argparse
import subprocess
import sys
import tarfile
import tempfile
import time
from io import BytesIO
from pathlib import Path
from statistics import median

import psutil

from tests.system.services import service

from .fleet import pss, spent
from .tables import LOAD_BEFORE, exit_status, is_quiet, markdown_table, save

HERE = Path(__file__).parent.parent
BEFORE = "09320c25"
REST_SECONDS = 5.0
RATIO = 1.05
"""At most: several runs of one version differ by that."""
PROGRAM = "import sys; from deskhand.tools.cli import main; sys.exit(main())"
MEASURES = ("ready (ms)", "processor time until ready (ms)", "memory (MiB)")


def checkout(revision: str, folder: Path) -> Path:
    """Write a revision into a folder and return it."""
    command = ("git", "-C", str(HERE), "archive", "--format=tar", revision)
    packed = subprocess.run(command, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=BytesIO(packed)) as tar:
        tar.extractall(folder, filter="fully_trusted")
    return folder


def started(source: Path) -> tuple[float, ...]:
    """Start a checkout once; return its measures."""
    with tempfile.TemporaryDirectory(prefix="deskhand-", dir="/tmp") as name:
        Path(name).chmod(0o711)
        environment = {
            **{"PYTHONPATH": str(source), "DESKHAND_FORK_SERVER": "off"},
            **{"DESKHAND_RUN_DIR": f"{name}/run", "DESKHAND_RUN_AS": "root"},
        }
        places = ("--data-dir", f"{name}/data", "--listen", "127.0.0.1:0")
        program = (sys.executable, "-P", "-c", PROGRAM)
        begun = time.perf_counter()
        with service(
            Path(name, "log"), "up", *places, environment=environment, program=program
        ) as plane:
            ready = 1000 * (time.perf_counter() - begun)
            top = psutil.Process(plane.process.pid)
            family = [top, *top.children(recursive=True)]
            used = 1000 * sum(map(spent, family))
            time.sleep(REST_SECONDS)
            return ready, used, sum(map(pss, [top, *top.children(recursive=True)]))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", default=BEFORE)
    parser.add_argument("--turns", type=int, default=7)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="deskhand-before-", dir="/tmp") as folder:
        Path(folder).chmod(0o755)
        sources = {"ours": HERE, "before": checkout(options.before, Path(folder))}
        runs: dict[str, list[tuple[float, ...]]] = {name: [] for name in sources}
        for turn in range(options.turns + 1):
            for name, source in sources.items():
                measures = started(source)
                # The first compiles the modules.
                if turn:
                    runs[name].append(measures)
    found = {
        name: {
            what: round(median(one[index] for one in each), 1)
            for index, what in enumerate(MEASURES)
        }
        for name, each in runs.items()
    }
    ratios = {what: round(found["ours"][what] / found["before"][what], 3) for what in MEASURES}
    print(f"load before: {LOAD_BEFORE}")
    rows = [(what, found["ours"][what], found["before"][what], ratios[what]) for what in MEASURES]
    print(markdown_table(("", "ours", "before", "ratio"), rows))
    save("cluster_start", {"goal": RATIO, "ratios": ratios, **found})
    missed = [f"{what}: {ratio:g} times" for what, ratio in ratios.items() if ratio > RATIO]
    return exit_status(missed, quiet=is_quiet())


if __name__ == "__main__":
    raise SystemExit(main())
