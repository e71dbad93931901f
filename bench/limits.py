"""Measure a desktop's screenshots while another desktop uses up what its limits permit.

Usage: python -m bench.limits [SHOTS]. Root is required. Desktop A has limits of 300 processes, 512
MiB and 64 MiB of /tmp, and a small disk of its own. It runs one attack after the other; meanwhile
desktop B shows a terminal that changes five times a second, and takes screenshots of it. The
baseline is B beside an idle A, and beside one ordinary command that uses a processor, in the same
run.
"""

import json
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2

from bench.tables import save
from tests.attack.attackers import FORK_BOMB, HOG, LIMITS

SHOTS = 60
GOAL_MS = 100.0
PAUSE = 0.05
SETTLED = 5.0
"""Seconds from the start of an attack to its first screenshot: it is then at its limit."""

TERMINAL = "xterm -e sh -c 'while :; do date +%N; sleep 0.2; done'"
BUSY_BOMB = FORK_BOMB.replace("time.sleep(0.2)", "pass")
FILL = "while :; do cat /dev/zero > {0}/filled; rm {0}/filled; done"
PYTHON = "/usr/bin/python3 -c "
ATTACKS = {
    "idle": [],
    "one busy command": ["while :; do :; done"],
    "fork bomb with setsid": [PYTHON + shlex.quote(FORK_BOMB)],
    "fork bomb that never waits": [PYTHON + shlex.quote(BUSY_BOMB)],
    "ten processes of 200 MiB": [f"while :; do {PYTHON}{shlex.quote(HOG)}; done"] * 10,
    "filled /tmp and home": [FILL.format("/tmp"), FILL.format("$HOME")],
}


@dataclass(frozen=True)
class Running:
    """A desktop service."""

    http: httpx2.Client

    def start(self, command: str) -> str:
        """Start a command and return its id."""
        body = {"command": command, "background": True}
        answer = self.http.post("/api/v0/processes/start", json=body)
        answer.raise_for_status()
        return str(answer.json()["id"])

    def shot(self) -> float:
        """Take a screenshot; return its milliseconds."""
        begun = time.perf_counter()
        self.http.get("/api/v0/desktop/screenshot").raise_for_status()
        return (time.perf_counter() - begun) * 1000


@contextmanager
def desktop(*options: str) -> Iterator[Running]:
    """Run a desktop service."""
    command = [str(Path(sys.executable).with_name("deskhand")), "desktop", "--json", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            found = json.loads(process.stdout.readline())
            headers = {"Authorization": f"Bearer {found['token']}"}
            with httpx2.Client(base_url=found["url"], headers=headers, timeout=60.0) as http:
                yield Running(http)
        finally:
            process.terminate()


@contextmanager
def small_disk(mebibytes: int) -> Iterator[Path]:
    """Mount a small ext4 file system from a file."""
    with tempfile.TemporaryDirectory() as folder:
        image, point = Path(folder, "image"), Path(folder, "disk")
        with image.open("wb") as file:
            file.truncate(mebibytes << 20)
        point.mkdir()
        Path(folder).chmod(0o711)
        subprocess.run(["mkfs.ext4", "-q", image], check=True)
        subprocess.run(["mount", "-o", "loop", image, point], check=True)
        try:
            yield point
        finally:
            subprocess.run(["umount", "--lazy", point], check=True)


def measured(commands: list[str], shots: int) -> dict[str, float]:
    """Run commands on a new desktop A; return the times of desktop B."""
    with ExitStack() as stack:
        disk = stack.enter_context(small_disk(200))
        other = stack.enter_context(desktop())
        attacker = stack.enter_context(desktop(*LIMITS, "--folder", str(disk / "desktop")))
        other.start(TERMINAL)
        for command in commands:
            attacker.start(command)
        time.sleep(SETTLED)
        taken = []
        for _ in range(shots):
            taken.append(other.shot())
            time.sleep(PAUSE)
        taken.sort()
        health = other.http.get("/healthz").status_code
        return {
            "shots": shots,
            "median_ms": round(taken[shots // 2], 1),
            "p95_ms": round(taken[int(shots * 0.95)], 1),
            "worst_ms": round(taken[-1], 1),
            "within_goal": sum(one < GOAL_MS for one in taken),
            "healthz": health,
        }


def main(shots: int = SHOTS) -> None:
    """Measure each attack with desktops of its own."""
    rows = {}
    for name, commands in ATTACKS.items():
        rows[name] = measured(commands, shots)
        print(f"{name:28}", json.dumps(rows[name]), flush=True)
    save("limits", {"goal_ms": GOAL_MS, **rows})


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
