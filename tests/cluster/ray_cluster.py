"""A Ray of a test's own: a head and nodes, each of which can be stopped, killed and replaced."""

import json
import os
import secrets
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from deskhand.tools.cluster.ray_names import labels_of, resources_of
from tests.cluster.playing import LIMIT
from tests.cluster.ray_head import RAY, RayHead, own_address
from tests.live_trees import kill_below, names_below

Json = dict[str, Any]


def until(check: Callable[[], Any], what: str) -> Any:
    deadline = time.monotonic() + LIMIT
    while not (found := check()):
        assert time.monotonic() < deadline, what
        time.sleep(0.1)
    return found


class RayCluster:
    """The processes of one Ray, and its token."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        token = folder / "token"
        token.write_text(secrets.token_hex(16))
        token.chmod(0o600)
        self.environment = {
            **os.environ,
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN_PATH": str(token),
        }
        log = folder / "head.log"
        self.head = RayHead(own_address(), folder / "ray", log, self.environment)
        self.address = self.head.address
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    def start_node(self, name: str, places: int = 80, gate: str = "127.0.0.1:7443") -> None:
        """Start a node as `deskhand node` does."""
        labels = ",".join(f"{key}={value}" for key, value in labels_of(name, gate).items())
        self._start(
            name,
            f"--address={self.address}",
            f"--resources={json.dumps(resources_of(name, places))}",
            f"--labels={labels}",
        )

    def signal(self, name: str, program: str, number: signal.Signals) -> None:
        """Send a signal to a process of Ray on a node."""
        names = names_below(self._processes[name].pid)
        for process in [one for one, called in names.items() if called.startswith(program)]:
            process.send_signal(number)

    def kill(self, name: str) -> None:
        """Kill all processes of a node, as a loss of power does."""
        started = self._processes.pop(name)
        kill_below(started.pid)
        started.kill()
        started.wait(LIMIT)

    def ended(self, name: str) -> None:
        """Wait until `ray start` has ended, as it does after its raylet."""
        self._processes.pop(name).wait(LIMIT)

    def close(self) -> None:
        """Kill everything."""
        for name in list(self._processes):
            self.kill(name)
        self.head.kill()

    def _start(self, name: str, *options: str) -> None:
        with (self.folder / f"{name}.log").open("ab") as log:
            self._processes[name] = subprocess.Popen(
                [
                    *(RAY, "start", "--block", "--disable-usage-stats", "--num-cpus=0"),
                    *("--object-store-memory=80000000", *options),
                ],
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )


class Driver:
    """A process that calls the reservations of Ray."""

    def __init__(self, cluster: RayCluster, **environment: str) -> None:
        reading, writing = os.pipe()
        self._results = os.fdopen(reading, "rb", buffering=0)
        self._rest = b""
        program = str(Path(__file__).with_name("rooms_program.py"))
        with (cluster.folder / "driver.log").open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, program, cluster.address, str(writing)],
                env={**cluster.environment, **environment},
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                pass_fds=[writing],
            )
        os.close(writing)

    def call(self, name: str, *arguments: str) -> Json:
        """Return the result of a call, or its error, and how long it took."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps([name, *arguments]).encode() + b"\n")
        self.process.stdin.flush()
        while b"\n" not in self._rest:
            ready, _, _ = select.select([self._results], [], [], LIMIT)
            assert ready, f"{name} does not return"
            more = self._results.read(1 << 16)
            assert more, "the driver has ended"
            self._rest += more
        line, _, self._rest = self._rest.partition(b"\n")
        found: Json = json.loads(line)
        return found

    def result(self, name: str, *arguments: str) -> Any:
        """Return the result of a call that succeeds."""
        found = self.call(name, *arguments)
        assert "error" not in found, found
        return found["result"]

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.kill()
        self.process.wait(LIMIT)
        self.process.stdin.close()
        self._results.close()


@contextmanager
def ray_cluster() -> Iterator[RayCluster]:
    """Run a head until the block ends."""
    # The paths of Ray's sockets have to be short.
    folder = Path(tempfile.mkdtemp(prefix="dhray"))
    cluster = RayCluster(folder)
    try:
        cluster.head.start()
        yield cluster
    finally:
        cluster.close()
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def driver(cluster: RayCluster, **environment: str) -> Iterator[Driver]:
    made = Driver(cluster, **environment)
    try:
        yield made
    finally:
        made.close()
