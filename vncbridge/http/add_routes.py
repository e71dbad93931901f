"""Routes of several routers in one application, each built once."""

from fastapi import APIRouter, FastAPI


def add_routes(target: FastAPI | APIRouter, *routers: APIRouter) -> None:
    """Add the routes of routers that need no prefix and no further dependencies here.

    FastAPI's ``include_router`` builds each route a second time at the first request, and looks
    for the route of each request once more for every router around it.
    """
    router = target.router if isinstance(target, FastAPI) else target
    for one in routers:
        router.routes.extend(one.routes)
