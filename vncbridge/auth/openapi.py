"""The OpenAPI document of a service: what holds for every operation, and the list of all routes.

Routes describe their own responses. The middleware before them requires a credential and refuses
in one form, and invalid requests are refused in that form too, with status 400. FastAPI omits
pages and WebSockets from the document; the member ``x-routes`` lists them as well.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from fastapi import FastAPI
from fastapi.routing import iter_route_contexts
from starlette.routing import BaseRoute, WebSocketRoute

from deskhand.vncbridge.openapi.document import ApiOperation, ApiOperations, describe
from deskhand.vncbridge.openapi.schemas import FLAG, NUMBER, TEXT, array, nullable, record

from .policy import is_open

Json = dict[str, Any]

MEMBER = "x-routes"
"""Member of the document that lists all routes; OpenAPI 3.1 reserves ``x-`` for extensions."""
WEBSOCKET = "WEBSOCKET"
ANY_METHOD = ("DELETE", "GET", "HEAD", "PATCH", "POST", "PUT")

REFUSAL = "Refusal"
_TEXT: Json = {"type": "string"}
_BODY: Json = {
    "type": "object",
    "required": ["message"],
    "properties": {
        "message": {**_TEXT, "description": "One sentence; for each cause the same."},
        "detail": {**_TEXT, "description": "What exactly, and what may help."},
        "code": {
            **_TEXT,
            "description": "For programs, where a status has several causes.",
        },
        "validations": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["field", "detail"],
                "properties": {"field": _TEXT, "detail": _TEXT},
            },
        },
    },
}
_CONTENT: Json = {"application/json": {"schema": {"$ref": f"#/components/schemas/{REFUSAL}"}}}
_OF_ALL = {
    "400": "The request is not valid; nothing was done.",
    "4XX": "It was refused for another reason.",
    "5XX": "It failed.",
}
_OF_CLOSED = {
    "401": "There is no credential, or one that is wrong or has ended.",
    "403": "The credential is not good for this, or the request comes from a foreign page.",
}
_OF_NAMED = {"404": "There is no such thing."}
_OF_BODIES = {
    "413": "The body is too large.",
    "415": "The body is of a type that is not taken.",
}
_TOKEN: Json = {
    "id": TEXT,
    "name": TEXT,
    "scopes": array(TEXT),
    "created_at": NUMBER,
    "created_by": TEXT,
    "expires_at": nullable(NUMBER),
}
_SIGNED_IN = record("SignedIn", {"signed_in": FLAG, "page_key": TEXT, "for_tab": FLAG})
_SIGNED_OUT = record("SignedOut", {"signed_in": FLAG})
_PAGE_TICKET = record("PageTicket", {"ticket": TEXT, "expires_at": NUMBER})
_LOGIN_CODE = record("LoginCode", {"code": TEXT})
TICKET = record("Ticket", {"ticket": TEXT, "expires_at": NUMBER, "role": TEXT}, {"url": TEXT})
OPERATIONS: ApiOperations = {
    "GET /api/v0/tokens": ApiOperation(
        "list_tokens", record("Tokens", {"tokens": array(record("Token", _TOKEN))})
    ),
    "POST /api/v0/tokens": ApiOperation(
        "issue_token", record("IssuedToken", {**_TOKEN, "token": TEXT}, {"url": TEXT})
    ),
    "DELETE /api/v0/tokens/{token_id}": ApiOperation("revoke_token"),
    "POST /api/v0/login": ApiOperation("sign_in", _SIGNED_IN),
    "POST /api/v0/login/codes": ApiOperation("make_login_code", _LOGIN_CODE),
    "POST /api/v0/login/tickets": ApiOperation("make_page_ticket", _PAGE_TICKET),
    "POST /logout": ApiOperation("sign_out", _SIGNED_OUT),
}
"""Operations that every service has."""
Operations = Callable[[], ApiOperations]
"""Returns the operations of one service; called for the document only, which may load them."""
# FastAPI documents these for its 422; the services answer 400 in the form above instead.
_OF_THE_FRAMEWORK = ("HTTPValidationError", "ValidationError")


def complete_openapi(app: FastAPI, operations: Operations | None = None) -> None:
    """Make the OpenAPI document of an application complete, when it is first requested.

    It gets the names and answers that ``operations`` returns, refusals, and the list of all routes.
    """
    described = app.openapi

    def openapi() -> Json:
        document = described()
        # FastAPI keeps the document after the first call and returns the same object again.
        if MEMBER not in document:
            describe(document, {**OPERATIONS, **({} if operations is None else operations())})
            complete(document)
            document[MEMBER] = [
                {"method": method, "path": path} for method, path in sorted(served(app.routes))
            ]
        return document

    app.openapi = openapi  # type: ignore[method-assign]


def served(routes: Sequence[BaseRoute]) -> Iterator[tuple[str, str]]:
    """Yield method and path of each route; the method of a WebSocket is ``WEBSOCKET``."""
    for found in iter_route_contexts(routes):
        if isinstance(found.original_route, WebSocketRoute):
            methods: Sequence[str] = (WEBSOCKET,)
        else:
            methods = sorted(found.methods or ANY_METHOD)
        # OpenAPI writes a parameter without the type that Starlette converts it to.
        path = re.sub(r"{(\w+):\w+}", r"{\1}", found.path or "/")
        for method in methods:
            yield method, path


def complete(document: Json) -> None:
    """Add the responses and credentials of every operation; remove FastAPI's own refusals."""
    components = document.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    for name in _OF_THE_FRAMEWORK:
        schemas.pop(name, None)
    schemas[REFUSAL] = _BODY
    components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    document["security"] = [{"token": []}]
    for path, operations in document["paths"].items():
        for operation in operations.values():
            _complete(path, operation)


def _complete(path: str, operation: Json) -> None:
    parameters = operation.setdefault("parameters", [])
    named = re.findall(r"{(\w+)}", path)
    known = {one["name"] for one in parameters if one["in"] == "path"}
    for name in named:
        if name not in known:
            parameters.append({"name": name, "in": "path", "required": True, "schema": _TEXT})
    refusals = dict(_OF_ALL)
    if is_open(path):
        # An empty list overrides the document's requirement for this operation.
        operation["security"] = []
    else:
        refusals |= _OF_CLOSED
    if named:
        refusals |= _OF_NAMED
    if "requestBody" in operation:
        refusals |= _OF_BODIES
    answers = operation["responses"]
    answers.pop("422", None)
    for status, meaning in refusals.items():
        # A route's own description of a status is more exact than the general one.
        answers.setdefault(status, {"description": meaning})
    for status, answer in answers.items():
        if status[0] in "45":
            answer.setdefault("content", _CONTENT)
