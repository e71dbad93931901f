"""Copies of output in files that callers name, which only the user of commands may open."""

import asyncio
import errno
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol

from .errors import BadProcessRequest, NoRoomForOutput
from .output_file import OutputFile, open_output, replace_exit


class OutputCopies(Protocol):
    """Opens the files that callers name for copies of output, with the rights of commands."""

    async def open(self, path: Path) -> int:
        """Open a file for appending, and create it; return its descriptor. Raises OSError."""

    async def write_exit(self, path: Path, fields: Mapping[str, object]) -> None:
        """Write the file about a process's exit atomically. Raises OSError."""


class OwnCopies:
    """Opens them in this process, whose user is that of commands."""

    async def open(self, path: Path) -> int:
        """Open a file for appending, and create it; return its descriptor. Raises OSError."""
        return await asyncio.to_thread(open_output, path)

    async def write_exit(self, path: Path, fields: Mapping[str, object]) -> None:
        """Write the file about a process's exit atomically. Raises OSError."""
        await asyncio.to_thread(replace_exit, path, fields)


async def requested_copy(copies: OutputCopies, path: str) -> OutputFile | None:
    """Open the file of a path; return None for an empty path.

    Raises:
        BadProcessRequest: If it cannot be opened, so that an unusable path starts nothing.
        NoRoomForOutput: If the disk is full.
    """
    if not path:
        return None
    try:
        descriptor = await copies.open(Path(path))
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise NoRoomForOutput(error.strerror or str(error)) from error
        raise BadProcessRequest("output_path cannot be written.", str(error)) from error
    return OutputFile(descriptor, Path(path), Path(f"{path}.exit.json"))


def own_copy(folder: Path | None, process_id: str) -> OutputFile | None:
    """Open a file below the service's own folder for copies, if there is one.

    A full or read-only disk must not prevent a command from running: it has no copy then.
    """
    if folder is None:
        return None
    path = folder / process_id / "output.log"
    with suppress(OSError):
        return OutputFile(open_output(path), path, path.with_name("exit.json"))
    return None


@contextmanager
def closed_on_error(copy: OutputFile | None) -> Iterator[None]:
    """Close a copy if the body raises."""
    try:
        yield
    except BaseException:
        if copy is not None:
            copy.close()
        raise


async def noted(copies: OutputCopies, path: Path, fields: Mapping[str, object]) -> None:
    """Write the file about a process's exit, unless that fails."""
    with suppress(OSError):
        await copies.write_exit(path, fields)
