"""Ray's processes of a node: started, started again when they end, and ended with the daemon.

They reserve room and do nothing else: desktops are not their children, and continue when they end.
"""

import asyncio
import contextlib
import logging
import os
import shutil
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from deskhand.tools.cluster.ray_token import token_problem

from . import ray_process
from .errors import RayNotUsable

log = logging.getLogger(__name__)

FIRST_PAUSE_SECONDS = 1.0
LONGEST_PAUSE_SECONDS = 30.0
STEADY_SECONDS = 60.0
"""Running time after which the next pause is short again."""
END_SECONDS = 2.0
"""Patience with its end in order. Raylets take half a minute, and control planes may take desktops
for lost when a daemon that restarts is away for long."""
PROGRAM = "ray"


def ray_program() -> str:
    """Return the path of the program, which the extra ``[cluster]`` installs beside Python.

    Raises:
        RayNotUsable: If there is none.
    """
    beside = Path(sys.executable).with_name(PROGRAM)
    found = str(beside) if beside.is_file() else shutil.which(PROGRAM)
    if found is None:
        raise RayNotUsable("the program ray is not installed: pip install 'deskhand[cluster]'")
    return found


def check_token(environment: Mapping[str, str]) -> None:
    """Check that this user, and no other one, has the token of the cluster's Ray.

    ``environment`` is that of Ray's processes.

    Raises:
        RayNotUsable: If not; with the token everyone in the network can run code on each node.
    """
    problem = token_problem(environment)
    if problem:
        raise RayNotUsable(problem)


class RayNode:
    """Supervises the command; its output is written to ``log_file``."""

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        log_file: Path,
        pause_seconds: float = FIRST_PAUSE_SECONDS,
    ) -> None:
        self._command = command
        self._environment = environment
        self._log_file = log_file
        self._pause_seconds = pause_seconds
        self.starts = 0
        """Number of starts until now."""

    async def run(self) -> None:
        """Start the processes again and again; never return. A cancellation ends them."""
        loop = asyncio.get_running_loop()
        pause = self._pause_seconds
        while True:
            began = loop.time()
            try:
                ended = f"has ended with status {await self._run_once()}"
            except OSError as error:
                ended = f"cannot be started: {error}"
            if loop.time() - began > STEADY_SECONDS:
                pause = self._pause_seconds
            log.warning("Ray %s, see %s; it is started again", ended, self._log_file)
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS)

    async def _run_once(self) -> int:
        self.starts += 1
        with self._log_file.open("wb") as output:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-S", "-E", str(ray_process.__file__)),
                *(str(os.getpid()), *self._command),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=asyncio.subprocess.STDOUT,
                env=dict(self._environment),
                start_new_session=True,
            )
        try:
            return await process.wait()
        finally:
            await asyncio.shield(_end(process))


async def _end(process: asyncio.subprocess.Process) -> None:
    """End a process, and what is left of its group."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGTERM)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(END_SECONDS):
                await process.wait()
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()
