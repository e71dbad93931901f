"""A control plane as a child process, which ends with its starter.

The child reads its standard input: the end of that pipe, also after a SIGKILL of the starter, makes
it end with its desktops, each of which has a keeper.
"""

import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from typing import IO, Any

Json = dict[str, Any]

DESKHAND = (sys.executable, "-c", "from deskhand.tools.cli import main; main()")
"""The command, also where no program of that name is on the path."""

START_SECONDS = 120.0
END_SECONDS = 30.0


class PlaneNotStarted(Exception):
    """The control plane ended before it accepted requests."""


class PlaneProcess:
    """One ``deskhand up`` that ends with the end of its standard input."""

    def __init__(
        self,
        arguments: Sequence[str],
        program: Sequence[str] = DESKHAND,
        environment: Mapping[str, str] | None = None,
        errors: IO[bytes] | None = None,
    ) -> None:
        """``arguments`` are further options of the command ``up``; ``errors`` gets its errors."""
        self._errors = errors
        self._environment = environment
        self._command = (*program, "up", "--json", "--until-input-ends", *arguments)
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> Json:
        """Return ``url``, ``token`` and ``pid`` once it accepts requests.

        Raises:
            PlaneNotStarted: If it does not start; its own error is on the standard error.
        """
        pipe = asyncio.subprocess.PIPE
        # A group of its own: Ctrl-C in a terminal reaches the starter only, which then ends it.
        self._process = await asyncio.create_subprocess_exec(
            *self._command,
            stdin=pipe,
            stdout=pipe,
            stderr=self._errors,
            start_new_session=True,
            env=self._environment,
        )
        assert self._process.stdout is not None  # noqa: S101 - stdout is a pipe
        try:
            async with asyncio.timeout(START_SECONDS):
                line = await self._process.stdout.readline()
        except TimeoutError:
            line = b""
        if not line:
            await self.close()
            raise PlaneNotStarted("the control plane did not start")
        ready: Json = json.loads(line)
        return ready

    @property
    def runs(self) -> bool:
        """True while the process has not ended."""
        return self._process is not None and self._process.returncode is None

    async def close(self) -> None:
        """End the control plane with its desktops, and wait for that; twice is fine."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.stdin is not None:
            process.stdin.close()
        try:
            async with asyncio.timeout(END_SECONDS):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()
