"""Route that Prometheus scrapes; only administrators reach it."""

from collections.abc import Awaitable, Callable
from typing import Any

import psutil
from fastapi import APIRouter, Response

from deskhand.desktop.metrics.exposition import MEDIA_TYPE, exposition, process_metrics
from deskhand.vncbridge.http.lazy_routes import LazyRouter

from .measurements import Measurements, metrics_of

_ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {"description": "Metrics.", "content": {"text/plain": {}}}
}


def router(measure: Callable[[], Awaitable[Measurements]]) -> APIRouter:
    """Return the route; ``measure`` is called at each request."""
    routes = LazyRouter(tags=["status"])
    process = psutil.Process()

    @routes.get("/metrics", response_class=Response, responses=_ANSWERS)
    async def metrics() -> Response:
        """What is measured of this control plane, in the text format of Prometheus."""
        measured = await measure()
        used = process.cpu_times()
        cost = process_metrics(used.user + used.system, process.memory_info().rss)
        text = exposition([*metrics_of(measured), *cost])
        return Response(text, media_type=MEDIA_TYPE, headers={"Cache-Control": "no-store"})

    return routes
