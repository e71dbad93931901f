"""Route that Prometheus scrapes."""

from collections.abc import Callable
from typing import Any

import psutil
from fastapi import APIRouter, Response

from deskhand.vncbridge.http.lazy_routes import LazyRouter

from .exposition import MEDIA_TYPE, Tally, exposition, process_metrics, status_metrics

Json = dict[str, Any]


def router(status: Callable[[], Json], tally: Tally) -> APIRouter:
    """Return the route; ``status`` returns the body of the status route."""
    routes = LazyRouter(tags=["desktop"])
    process = psutil.Process()

    @routes.get("/metrics", response_class=Response, responses=_ANSWERS)
    async def metrics() -> Response:
        """What is measured of this desktop, in the text format of Prometheus."""
        used = process.cpu_times()
        cost = process_metrics(used.user + used.system, process.memory_info().rss)
        text = exposition([*status_metrics(status()), *tally.metrics(), *cost])
        return Response(text, media_type=MEDIA_TYPE, headers={"Cache-Control": "no-store"})

    return routes


_ANSWERS: dict[int | str, Json] = {200: {"description": "Metrics.", "content": {"text/plain": {}}}}
