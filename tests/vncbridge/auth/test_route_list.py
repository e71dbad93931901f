from fastapi import APIRouter, FastAPI
from starlette.routing import Route, WebSocketRoute
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket

from deskhand.vncbridge.auth.route_list import ANY_METHOD, tell_all


class Anything:
    """An ASGI application under a route."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        raise NotImplementedError


def test_an_application_names_pages_sockets_and_what_takes_any_method() -> None:
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    routes = APIRouter(prefix="/api")

    @routes.get("/a/{name}")
    async def a(name: str) -> None:
        raise NotImplementedError

    @routes.post("/a/{name}", include_in_schema=False)
    async def page(name: str) -> None:
        raise NotImplementedError

    @routes.websocket("/watch")
    async def watch(websocket: WebSocket) -> None:
        raise NotImplementedError

    tell_all(app)
    app.include_router(routes)
    app.router.routes.append(Route("/below/{rest:path}", Anything()))
    app.router.routes.append(WebSocketRoute("/below/{rest:path}", Anything()))
    document = app.openapi()
    assert [(route["method"], route["path"]) for route in document["x-routes"]] == sorted(
        [
            ("GET", "/api/a/{name}"),
            ("POST", "/api/a/{name}"),
            ("WEBSOCKET", "/api/watch"),
            *((method, "/below/{rest}") for method in ANY_METHOD),
            ("WEBSOCKET", "/below/{rest}"),
        ]
    )
    assert list(document["paths"]) == ["/api/a/{name}"]
    assert app.openapi() is document
