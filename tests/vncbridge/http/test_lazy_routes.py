import asyncio
from typing import Annotated

import httpx2
import pytest
from fastapi import Depends, FastAPI, Header

from deskhand.vncbridge.http.add_routes import add_routes
from deskhand.vncbridge.http.lazy_routes import LazyRoute, LazyRouter

ASKED = "/items/{name}/parts/{number}"


def application() -> tuple[FastAPI, LazyRouter]:
    router = LazyRouter(prefix="/api", tags=["items"])

    @router.get("/items")
    async def items(limit: int = 3) -> list[int]:
        return list(range(limit))

    @router.post(ASKED)
    async def part(name: str, number: int) -> dict[str, int]:
        return {name: number}

    app = FastAPI()
    add_routes(app, router)
    return app, router


def requested(
    app: FastAPI, method: str, path: str, headers: dict[str, str] | None = None
) -> object:
    async def scenario() -> object:
        transport = httpx2.ASGITransport(app=app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://here") as client:
            answer = await client.request(method, path, headers=headers)
            return answer.json() if answer.is_success else answer.status_code

    return asyncio.run(scenario())


def analysed(router: LazyRouter) -> list[bool]:
    return ["dependant" in vars(route) for route in router.routes]


def test_a_route_is_analysed_at_its_first_request() -> None:
    app, router = application()
    assert analysed(router) == [False, False]
    assert requested(app, "GET", "/api/items?limit=2") == [0, 1]
    assert analysed(router) == [True, False]
    assert requested(app, "GET", "/api/items?limit=x") == 422


def test_parameters_of_a_path_are_converted() -> None:
    app, router = application()
    assert requested(app, "POST", "/api/items/left/parts/7") == {"left": 7}
    assert analysed(router) == [False, True]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/api/items/", 307),
        ("GET", "/api/item", 404),
        ("GET", "/api/items/left", 404),
        ("GET", "/api/items/left/parts/7", 405),
        ("DELETE", "/api/items", 405),
    ],
)
def test_other_requests_analyse_nothing(method: str, path: str, status: int) -> None:
    app, router = application()
    assert requested(app, method, path) == status
    assert analysed(router) == [False, False]


def test_the_document_describes_all_routes() -> None:
    app, router = application()
    assert set(app.openapi()["paths"]) == {"/api/items", f"/api{ASKED}"}
    assert analysed(router) == [True, True]


def test_an_attribute_that_no_route_has_is_refused() -> None:
    _, router = application()
    with pytest.raises(AttributeError):
        _ = router.routes[0].no_such_attribute  # type: ignore[attr-defined]
    assert not hasattr(router.routes[0], "__wrapped__")


def test_a_route_calls_the_dependencies_that_come_before_it() -> None:
    calls: list[str] = []

    def first() -> None:
        calls.append("first")

    def second(word: Annotated[str, Header()]) -> None:
        calls.append(word)

    router = LazyRouter()

    @router.get("/", dependencies=[Depends(second)])
    async def root() -> None:
        calls.append("endpoint")

    (route,) = router.routes
    assert isinstance(route, LazyRoute)
    app = FastAPI()
    app.router.routes.append(route.after([Depends(first)]))
    assert requested(app, "GET", "/", {"word": "second"}) is None
    assert calls == ["first", "second", "endpoint"]


def test_dependencies_cannot_be_added_to_an_analysed_route() -> None:
    app, router = application()
    requested(app, "GET", "/api/items")
    route = router.routes[0]
    assert isinstance(route, LazyRoute)
    with pytest.raises(ValueError, match="/api/items has been analysed"):
        route.after([])
