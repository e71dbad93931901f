from typing import Any

from fastapi import APIRouter, FastAPI
from starlette.routing import Route, WebSocketRoute
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket

from deskhand.vncbridge.auth.openapi import ANY_METHOD, complete, complete_openapi
from deskhand.vncbridge.openapi.document import ApiOperation, ApiOperations

OK = {"200": {"description": "Fine."}}


def operation(**members: Any) -> dict[str, Any]:
    return {"responses": {**OK, **members.pop("responses", {})}, **members}


def completed(path: str, **members: Any) -> dict[str, Any]:
    document: dict[str, Any] = {"paths": {path: {"get": operation(**members)}}}
    complete(document)
    found: dict[str, Any] = document["paths"][path]["get"]
    return found


def test_an_operation_tells_how_it_is_refused() -> None:
    shown = completed("/api/things")
    assert set(shown["responses"]) == {"200", "400", "401", "403", "4XX", "5XX"}
    form = {"schema": {"$ref": "#/components/schemas/Refusal"}}
    assert shown["responses"]["401"]["content"] == {"application/json": form}
    assert "content" not in shown["responses"]["200"]
    assert "security" not in shown


def test_signing_in_needs_no_credential() -> None:
    shown = completed("/api/v0/login")
    assert shown["security"] == []
    assert "401" not in shown["responses"]


def test_what_has_a_name_may_not_be_there() -> None:
    known = {"name": "one", "in": "path", "required": True, "schema": {"type": "integer"}}
    shown = completed("/api/{one}/{other}", parameters=[known])
    assert "404" in shown["responses"]
    assert shown["parameters"] == [
        known,
        {"name": "other", "in": "path", "required": True, "schema": {"type": "string"}},
    ]


def test_what_has_a_body_may_have_a_wrong_one() -> None:
    assert {"413", "415"} <= set(completed("/api", requestBody={})["responses"])


def test_what_a_route_says_itself_stays_and_has_the_form() -> None:
    own = {
        "400": {"description": "No."},
        "422": {"description": "From the framework."},
        "504": {"description": "Late.", "content": {"text/plain": {}}},
    }
    answers = completed("/api", responses=own)["responses"]
    assert answers["400"]["description"] == "No."
    assert "application/json" in answers["400"]["content"]
    assert "422" not in answers
    assert answers["504"]["content"] == {"text/plain": {}}


def test_the_form_takes_the_place_of_the_frameworks() -> None:
    schemas: dict[str, Any] = {"HTTPValidationError": {}, "ValidationError": {}, "Mine": {}}
    document: dict[str, Any] = {"paths": {}, "components": {"schemas": schemas}}
    complete(document)
    assert set(document["components"]["schemas"]) == {"Refusal", "Mine"}
    assert document["security"] == [{"token": []}]


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

    asked: list[str] = []

    def operations() -> ApiOperations:
        asked.append("operations")
        return {"GET /api/a/{name}": ApiOperation("read_a")}

    complete_openapi(app, operations)
    assert not asked
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
    assert document["paths"]["/api/a/{name}"]["get"]["operationId"] == "read_a"
    assert app.openapi() is document
    assert asked == ["operations"]
