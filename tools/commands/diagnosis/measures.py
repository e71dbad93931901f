"""Measures of the machine and of the data directory, for the findings about them."""

import http.client
import json
import os
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - it is measured, not written
ANSWER_SECONDS = 2.0
DATABASE = "deskhand.db"
KINDS = {"files": "files and recordings", "run": "run", "logs": "logs", "templates": "templates"}


def total_space(folder: Path) -> int | None:
    """Return the bytes of the file system of a folder; ``None`` without the folder."""
    try:
        found = os.statvfs(folder)
    except OSError:
        return None
    return found.f_blocks * found.f_frsize


def newest_change(data: Path) -> float:
    """Return the unix time at which the database was last changed; 0 without one."""
    times = [0.0]
    for file in (DATABASE, f"{DATABASE}-wal"):
        with suppress(OSError):
            times.append((data / file).stat().st_mtime)
    return max(times)


def usage(data: Path) -> dict[str, int]:
    """Return the bytes of a data directory on the disk, by kind."""
    used: dict[str, int] = {}
    for path, count in _files(data):
        top = path.relative_to(data).parts[0]
        kind = "database" if top.startswith(DATABASE) else KINDS.get(top, "other")
        used[kind] = used.get(kind, 0) + count
    return used


def is_free(host: str, port: int) -> bool:
    """Return whether a server can listen at an address."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        # As the server does: a port in TIME_WAIT counts as free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def names_at(url: str) -> tuple[str, ...]:
    """Return ``deskhand`` if the health route of a Deskhand answers at an address."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=ANSWER_SECONDS)
    try:
        connection.request("GET", parts.path)
        body = json.loads(connection.getresponse().read(65_536))
    except (OSError, http.client.HTTPException, ValueError):
        return ()
    finally:
        connection.close()
    return ("deskhand",) if isinstance(body, dict) and "status" in body else ()


def _files(data: Path) -> Iterator[tuple[Path, int]]:
    # `os.walk` skips folders that disappear meanwhile.
    for folder, _, names in os.walk(data):
        for name in names:
            path = Path(folder, name)
            with suppress(OSError):
                yield path, path.lstat().st_blocks * 512
