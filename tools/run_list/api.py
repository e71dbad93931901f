"""Route of the list of runs."""

from typing import Annotated, Protocol

from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse

from deskhand.tools.control_plane.caller import limited_person
from deskhand.tools.conversation.views import Page
from deskhand.vncbridge.auth.people import credential_of
from deskhand.vncbridge.http.lazy_routes import LazyRouter

from .run_filter import RunFilter, words_of

Limit = Annotated[int, Query(ge=1, le=100)]
Selected = Annotated[str, Query(max_length=200)]


class RunPages(Protocol):
    """Pages of runs."""

    async def page(self, wanted: RunFilter, limit: int, cursor: str | None) -> Page:
        """Return the page after the run of the cursor; raise ``UnknownRow`` without that run."""


def router(pages: RunPages) -> APIRouter:
    """Return the route of ``/api/v0/runs``."""
    routes = LazyRouter(prefix="/api/v0", tags=["recordings"])

    @routes.get("/runs")
    async def runs(
        request: Request,
        q: Selected = "",
        outcome: Selected = "",
        model: Selected = "",
        needs_person: bool = False,
        recorded: bool = False,
        pinned: bool = False,
        person: Selected = "",
        families: bool = False,
        since: float | None = None,
        until: float | None = None,
        limit: Limit = 24,
        cursor: Selected | None = None,
    ) -> JSONResponse:
        """List the runs, newest first.

        Each word of `q` must occur in the title, the prompt or a report. `since` and `until` are
        unix times of the creation. `person` is the id of the owner. With `families` the runs of
        subagents are left out; each run names its children.
        """
        wanted = RunFilter(
            *(words_of(q), outcome, model, needs_person, recorded, since, until),
            pinned=pinned,
            owner=credential_of(person) if person else "",
            families=families,
            seen_by=limited_person(request.scope),
        )
        return JSONResponse((await pages.page(wanted, limit, cursor)).to_json())

    return routes
