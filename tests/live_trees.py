"""Trees of files and processes that change while a test reads them.

A running browser removes temporary files and ends processes at any moment. Reading such a tree
with `Path.rglob` or `psutil` alone fails when an entry disappears between its listing and its use;
here an entry that disappeared is left out.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import psutil

Found = TypeVar("Found")


def paths_below(folder: Path) -> list[Path]:
    """Return the files and the folders below a folder, sorted, without following links."""
    return sorted(
        Path(parent, name) for parent, folders, files in os.walk(folder) for name in folders + files
    )


def statuses_below(folder: Path) -> dict[Path, os.stat_result]:
    """Return the status of each file and each folder below a folder; links are not followed."""
    return existing(paths_below(folder), Path.lstat)


def contents_below(folder: Path) -> dict[Path, bytes]:
    """Return the content of each regular file below a folder."""
    files = [path for path in paths_below(folder) if path.is_file()]
    return existing(files, Path.read_bytes)


def existing(paths: list[Path], read: Callable[[Path], Found]) -> dict[Path, Found]:
    """Return what a function reads of each path that is still there."""
    found = {}
    for path in paths:
        with suppress(FileNotFoundError, ProcessLookupError):
            found[path] = read(path)
    return found


def running(
    processes: Iterable[psutil.Process], read: Callable[[psutil.Process], Found]
) -> dict[psutil.Process, Found]:
    """Return what a function reads of each process that still runs."""
    found = {}
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            found[process] = read(process)
    return found


def below(pid: int) -> list[psutil.Process]:
    """Return the processes below a process; none when it has ended."""
    with suppress(psutil.NoSuchProcess):
        return list(psutil.Process(pid).children(recursive=True))
    return []


def owners_below(pid: int) -> dict[int, int]:
    """Return the user of each process below a process, by pid."""
    owners = running(below(pid), lambda process: process.uids().real)
    return {process.pid: owner for process, owner in owners.items()}


def names_below(pid: int) -> dict[psutil.Process, str]:
    """Return the name of each process below a process."""
    return running(below(pid), psutil.Process.name)


def commands_below(pid: int) -> dict[psutil.Process, list[str]]:
    """Return the command line of each process below a process."""
    return running(below(pid), psutil.Process.cmdline)


def kill_below(pid: int) -> None:
    """Kill the processes below a process."""
    running(below(pid), psutil.Process.kill)
