"""A service as a child process: of a desktop, or a control plane."""

import json
import os
import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from deskhand.desktop.errors import DesktopUnavailable

END_SECONDS = 10.0
"""Grace period between SIGTERM and SIGKILL; the keeper itself ends the service within 5 s."""

# The last lines of stderr, where a traceback has its message.
_TAIL_BYTES = 2000


class LocalService:
    """One process that prints its address and token, as with ``--json``. Every method blocks.

    ``name`` is that of the service in errors. Its standard input stays open until it is closed, or
    this process ends; the option ``--until-input-ends`` ends the service with it.
    """

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str] | None = None,
        name: str = "desktop",
    ) -> None:
        self._command = [*command]
        self._environment = environment
        self._name = name
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._ended = False

    def open(self) -> tuple[str, str]:
        """Start the service; return its address and token once it accepts connections.

        Raises:
            DesktopUnavailable: If the service ends first, with the end of its stderr.
        """
        # A pipe for stderr that nothing reads would fill up and block the service.
        with tempfile.TemporaryFile() as errors:
            with self._lock:
                # `close` may come from another thread: it finds the process, or else prevents its
                # start.
                if self._ended:
                    raise DesktopUnavailable(f"the {self._name} was closed before it was started")
                self._process = subprocess.Popen(
                    self._command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    env=self._environment,
                    # Ctrl+C signals the terminal's foreground group; `close` ends the desktop.
                    start_new_session=True,
                )
            assert self._process.stdout is not None  # noqa: S101 - stdout is a pipe
            ready = _object(self._process.stdout.readline())
            if ready is None:
                self.close()
                errors.seek(max(0, errors.seek(0, os.SEEK_END) - _TAIL_BYTES))
                tail = errors.read().decode(errors="replace").strip()
                raise DesktopUnavailable(f"the {self._name} did not start: {tail}")
        return str(ready["url"]), str(ready["token"])

    def close(self) -> None:
        """End the service with everything that it started; twice is fine."""
        with self._lock:
            self._ended = True
            process = self._process
        if process is None:
            return
        process.terminate()
        try:
            process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                stream.close()


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
