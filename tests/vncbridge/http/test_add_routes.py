import asyncio

import httpx2
from fastapi import APIRouter, FastAPI

from deskhand.vncbridge.http.add_routes import add_routes


def routes(path: str, tag: str) -> APIRouter:
    router = APIRouter(tags=[tag])

    @router.get(path)
    async def answer() -> str:
        return tag

    return router


def test_the_first_added_route_that_matches_answers() -> None:
    inner = APIRouter()
    add_routes(inner, routes("/one", "first"), routes("/{any}", "second"))
    app = FastAPI()
    add_routes(app, inner, routes("/one", "hidden"))

    async def scenario() -> list[str]:
        transport = httpx2.ASGITransport(app=app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://here") as client:
            return [(await client.get(path)).json() for path in ("/one", "/two")]

    assert asyncio.run(scenario()) == ["first", "second"]


def test_added_routes_are_described() -> None:
    inner, app = APIRouter(), FastAPI()
    add_routes(inner, routes("/one", "first"))
    add_routes(app, inner)
    assert app.openapi()["paths"]["/one"]["get"]["tags"] == ["first"]


def test_a_route_is_the_same_object_as_in_its_router() -> None:
    router, app = routes("/one", "first"), FastAPI()
    add_routes(app, router)
    assert router.routes[0] in app.routes
