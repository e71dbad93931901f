"""Route of the page *System*: what an owner needs to know about one control plane."""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from fastapi import APIRouter
from fastapi.responses import JSONResponse

from deskhand.tools.control_plane.settings import SettingInForce
from deskhand.tools.store.retention import Kept
from deskhand.vncbridge.http.lazy_routes import LazyRouter

LARGEST_RUNS = 20


@dataclass(frozen=True)
class DiskUsage:
    """Number and bytes of the files of one kind, or of one run."""

    name: str
    """The kind, or the id of the run's chat."""
    files: int
    bytes: int


@dataclass(frozen=True)
class LoggedError:
    """An error of the log."""

    time: str
    logger: str
    text: str


@dataclass(frozen=True)
class SystemReport:
    """The state of a control plane."""

    version: str
    settings: Sequence[SettingInForce]
    disk_by_kind: Sequence[DiskUsage]
    disk_by_run: Sequence[DiskUsage]
    """Of the runs that take most, the largest first."""
    secrets: Sequence[str]
    """Names, never values."""
    desktops: Mapping[str, int]
    """Number of desktops by status."""
    errors: Sequence[LoggedError] = field(default_factory=tuple)
    """Of the log, the newest first."""
    nodes: Sequence[Mapping[str, Any]] | None = None
    """Of the cluster; None on one machine."""


def router(report: Callable[[], Awaitable[SystemReport]]) -> APIRouter:
    """Return the route of ``/api/v0/system``, for administrators."""
    routes = LazyRouter(prefix="/api/v0", tags=["status"])

    @routes.get("/system")
    async def system() -> JSONResponse:
        """Version, settings with their sources, disk use, names of secrets, and last errors."""
        found = asdict(await report())
        if found["nodes"] is None:
            del found["nodes"]
        return JSONResponse(found)

    return routes


def usage_by_kind(files: Iterable[Kept]) -> list[DiskUsage]:
    """Return the use of the disk by kind of file, the largest first."""
    return _usage((file.kind, file.size) for file in files)


def usage_by_run(files: Iterable[Kept]) -> list[DiskUsage]:
    """Return the use of the disk by the runs that take most, the largest first."""
    return _usage((file.chat_id, file.size) for file in files if file.chat_id)[:LARGEST_RUNS]


def waiting(files: Iterable[Kept]) -> list[DiskUsage]:
    """Return the use of the disk by files that the bucket does not have yet, if there are some."""
    return _usage(("not in the bucket yet", file.size) for file in files if file.waits)


def _usage(sizes: Iterable[tuple[str, int]]) -> list[DiskUsage]:
    found: defaultdict[str, list[int]] = defaultdict(list)
    for name, size in sizes:
        found[name].append(size)
    usages = [DiskUsage(name, len(sizes), sum(sizes)) for name, sizes in found.items()]
    return sorted(usages, key=lambda usage: (-usage.bytes, usage.name))
