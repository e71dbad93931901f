"""A head of Ray for tests, which another run or a killed one does not disturb.

All ports are its own. It ends with the thread that has started it, also one that is killed, and
its processes are found by their session when that of `ray start` has ended.
"""

import json
import os
import random
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from socket import create_connection, create_server, gethostbyname, gethostname
from typing import Any

import psutil

from tests.live_trees import running
from tests.system.services import PATIENCE, until

RAY = str(Path(sys.executable).with_name("ray"))
HEALTH = {
    "health_check_initial_delay_ms": 1000,
    "health_check_period_ms": 1000,
    "health_check_timeout_ms": 2000,
    "health_check_failure_threshold": 3,
}
PORTS = range(20_000, 32_000)
"""Above those that Ray gives to workers, and below those of outgoing connections: while there is no
head, one of those who try to connect to it could get the port itself."""


def free_port() -> int:
    """Return a port on which no process listens, at no address."""
    for port in random.sample(PORTS, len(PORTS)):
        with suppress(OSError), create_server(("", port)):
            return port
    raise AssertionError("there is no free port")


def own_address() -> str:
    """Return the address of this machine by which Ray replaces loopback."""
    return gethostbyname(gethostname())


class RayHead:
    """A head at an address of this machine; it can be killed and started again.

    ``program`` is that of Ray. ``owner`` is what makes its processes those of another user.
    """

    def __init__(
        self,
        host: str,
        folder: Path,
        log: Path,
        environment: Mapping[str, str],
        *options: str,
        health: Mapping[str, int] = HEALTH,
        program: Sequence[str] = (RAY,),
        owner: Mapping[str, Any] | None = None,
    ) -> None:
        """``folder`` is that of its sockets, so its path has to be short."""
        self._host, self._port = host, free_port()
        self.address = f"{host}:{self._port}"
        self._environment = dict(environment)
        self._owner = dict(owner or {})
        self._log = log
        self._command = [
            # `ray start` ends all others of a head.
            *("setpriv", "--pdeathsig", "TERM", *program, "start", "--head", "--block"),
            *(f"--node-ip-address={host}", f"--port={self._port}", f"--temp-dir={folder}"),
            *("--num-cpus=0", "--num-gpus=0", "--object-store-memory=80000000"),
            *("--min-worker-port=0", "--max-worker-port=0", "--dashboard-agent-listen-port=0"),
            *("--include-dashboard=false", "--include-log-monitor=false", "--disable-usage-stats"),
            *(f"--system-config={json.dumps(dict(health))}", *options),
        ]
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, again until it stays, as a service manager does."""

        def answers() -> bool:
            if self._process is None or self._process.poll() is not None:
                self.kill()
                self._process = self._started()
            with suppress(OSError), create_connection((self._host, self._port), 1):
                return True
            return False

        try:
            until(answers, "Ray's head", 4 * PATIENCE)
        except BaseException:
            self.kill()
            raise

    def processes(self) -> list[psutil.Process]:
        """Return all processes of the head, also those that `ray start` has left."""
        if self._process is None:
            return []
        session = self._process.pid
        sessions = running(psutil.process_iter(), _session)
        return [process for process, own in sessions.items() if own == session]

    def kill(self) -> None:
        """Kill its control service and all beside it, if they run."""
        running(self.processes(), psutil.Process.kill)
        if self._process is not None:
            self._process.wait(PATIENCE)

    def _started(self) -> subprocess.Popen[bytes]:
        with self._log.open("ab") as log:
            return subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=self._environment,
                start_new_session=True,
                **self._owner,
            )


def _session(process: psutil.Process) -> int:
    """Return the session of a process; 0 of one that has ended and is only listed still."""
    if process.status() == psutil.STATUS_ZOMBIE:
        return 0
    try:
        return os.getsid(process.pid)
    except ProcessLookupError as error:
        raise psutil.NoSuchProcess(process.pid) from error
