"""Output, input and settings of the commands."""

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from deskhand.desktop.errors import DesktopError
from deskhand.tools.client.running_plane import default_data_dir
from deskhand.tools.cluster.errors import ClusterError
from deskhand.tools.control_plane.data_dir_lock import AlreadyRunning
from deskhand.tools.control_plane.settings import BadSetting, Settings, load
from deskhand.tools.remote_access.errors import InvalidRemoteAccess
from deskhand.tools.store.errors import StoreError
from deskhand.vncbridge.errors import CannotListen

from .exit_status import OUTPUT_CLOSED

CONFIG_FILE = Path("deskhand.toml")


class BadDataDir(Exception):
    """The data directory cannot be used."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = reason

    def __str__(self) -> str:
        return f"cannot use the data directory {self.path}: {self.reason}; give another --data-dir"


START_ERRORS = (
    *(BadDataDir, CannotListen, AlreadyRunning, BadSetting, StoreError, DesktopError, OSError),
    *(InvalidRemoteAccess, ClusterError),
)
"""Errors that keep a control plane from starting."""


class OutputClosed(SystemExit):
    """The reader of the standard output is gone; the command ends without a message."""

    def __init__(self) -> None:
        super().__init__(OUTPUT_CLOSED)


def print_line(text: str) -> None:
    """Print one line for people, at once; raise `OutputClosed` if nobody reads it."""
    with _closing_output():
        print(text, flush=True)  # noqa: T201 - this is the command line


def print_json(value: Mapping[str, Any]) -> None:
    """Print one line for programs, at once; raise `OutputClosed` if nobody reads it."""
    print_line(json.dumps(value))


def write_bytes(data: bytes) -> None:
    """Write to the standard output, at once; raise `OutputClosed` if nobody reads it."""
    with _closing_output():
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()


@contextmanager
def _closing_output() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        # What is left in the buffer would fail again when the interpreter flushes it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        raise OutputClosed from None


def print_error(text: str) -> None:
    """Print one line about an error to the standard error."""
    print(f"deskhand: {text}", file=sys.stderr, flush=True)  # noqa: T201 - this is the command line


async def typed_line(prompt: str) -> str:
    """Return the next typed line that is not blank; wait forever if input is no terminal."""
    loop = asyncio.get_running_loop()
    if not sys.stdin.isatty():
        await asyncio.Event().wait()
    # A thread that waits for a line would keep Ctrl-C from ending the program.
    while True:
        print(prompt, end="", flush=True)  # noqa: T201 - this is the command line
        typed = asyncio.Event()
        loop.add_reader(sys.stdin, typed.set)
        try:
            await typed.wait()
        finally:
            loop.remove_reader(sys.stdin)
        line = sys.stdin.readline()
        if line.strip():
            return line.strip()
        # End of file: nothing more can be typed, but the page may still answer.
        if not line:
            await asyncio.Event().wait()


def settings(flags: Mapping[str, Any], environment: Mapping[str, str] = os.environ) -> Settings:
    """Return the settings of this process, or of a child with another environment.

    Raises:
        BadSetting: If a setting is invalid; the text names its source.
    """
    text = CONFIG_FILE.read_text() if CONFIG_FILE.is_file() else ""
    return load(flags, environment, text, default_data_dir())


def check_data_dir(path: Path) -> None:
    """Create the data directory if necessary, and check that it is writable.

    Raises:
        BadDataDir: If it cannot be used.
    """
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Creating a file is the only reliable check: permission bits do not cover read-only mounts,
        # and root passes every check of them.
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError as error:
        reason = "it is not a directory" if isinstance(error, FileExistsError) else error.strerror
        raise BadDataDir(path, str(reason)) from error
