"""The report of the page *System*, gathered from the parts of a control plane."""

import asyncio
import json
from collections import Counter, deque
from importlib.metadata import version
from pathlib import Path
from typing import Any

from fastapi import APIRouter

from deskhand.tools.agents.chats.chats import Chats
from deskhand.tools.control_plane.routes.system import (
    DiskUsage,
    LoggedError,
    SystemReport,
    router,
    usage_by_kind,
    usage_by_run,
    waiting,
)
from deskhand.tools.control_plane.settings import Settings, settings_in_force
from deskhand.tools.fleet.placement.placement import Placement
from deskhand.tools.secrets.store import SecretStore
from deskhand.tools.store import files
from deskhand.tools.store.database import Store

from .cluster import cluster_reader
from .measured import metrics_router

Json = dict[str, Any]
MOST_ERRORS = 20
_PARTS = {"logs": "logs/*", "reserve": "reserve"}


def report_routers(
    settings: Settings, store: Store, chats: Chats, fleet: Placement, secret_store: SecretStore
) -> tuple[APIRouter, APIRouter]:
    """Return the routes of the metrics and of the report."""
    measured = metrics_router(store, chats, fleet, cluster_reader(settings, store))
    return measured, system_router(settings, store, fleet, secret_store)


async def cluster_json(settings: Settings, store: Store) -> Json:
    """Return the nodes, and the number of desktops that wait; empty on one machine."""
    found = await cluster_reader(settings, store)()
    if found is None:
        return {}
    return {"nodes": [one.to_json() for one in found.nodes], "desktops_waiting": found.waiting}


def system_router(
    settings: Settings, store: Store, fleet: Placement, secret_store: SecretStore
) -> APIRouter:
    """Return the route of the report."""
    data = settings.data_dir

    async def report() -> SystemReport:
        stored = await store.read(files.kept)
        others, errors = await asyncio.to_thread(lambda: (_others(data), _errors(data)))
        return SystemReport(
            version("deskhand"),
            settings_in_force(settings),
            [
                *usage_by_kind(stored),
                *waiting(stored),
                DiskUsage("database", 1, await store.size()),
                *others,
            ],
            usage_by_run(stored),
            [secret.name for secret in secret_store.listed()],
            # ``asdict`` cannot copy a Counter.
            dict(Counter[str](one.status for one in await fleet.list())),
            errors,
            (await cluster_json(settings, store)).get("nodes"),
        )

    return router(report)


def _others(data: Path) -> list[DiskUsage]:
    found = []
    for name, pattern in _PARTS.items():
        sizes = [path.stat().st_size for path in data.glob(pattern) if path.is_file()]
        found.append(DiskUsage(name, len(sizes), sum(sizes)))
    return found


def _errors(data: Path) -> list[LoggedError]:
    newest: deque[LoggedError] = deque(maxlen=MOST_ERRORS)
    log = data / "logs" / "service.jsonl"
    if not log.is_file():
        return []
    with log.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            # Most lines are no errors, and need not be parsed.
            if '"level": "error"' in line:
                entry = json.loads(line)
                newest.append(LoggedError(entry["time"], entry["logger"], entry["event"]))
    return list(reversed(newest))
