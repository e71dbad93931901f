"""Every route of an application, told in its description: pages and WebSockets as well."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from fastapi import FastAPI
from fastapi.routing import iter_route_contexts
from starlette.routing import BaseRoute, WebSocketRoute

from .openapi import complete

Json = dict[str, Any]
MEMBER = "x-routes"
"""Where it stands; OpenAPI 3.1 lets names that begin so be anything."""
WEBSOCKET = "WEBSOCKET"
ANY_METHOD = ("DELETE", "GET", "HEAD", "PATCH", "POST", "PUT")


def tell_all(app: FastAPI) -> None:
    """Have an application's description name whatever it answers, read from its routes."""
    described = app.openapi

    def openapi() -> Json:
        document = described()
        if MEMBER not in document:
            complete(document)
            document[MEMBER] = [
                {"method": method, "path": path} for method, path in sorted(served(app.routes))
            ]
        return document

    app.openapi = openapi  # type: ignore[method-assign]


def served(routes: Sequence[BaseRoute]) -> Iterator[tuple[str, str]]:
    """Yield method and path of each; a WebSocket's method is a word of our own."""
    for found in iter_route_contexts(routes):
        if isinstance(found.original_route, WebSocketRoute):
            methods: Sequence[str] = (WEBSOCKET,)
        else:
            methods = sorted(found.methods or ANY_METHOD)
        # As OpenAPI writes it: a name, without what it may consist of.
        path = re.sub(r"{(\w+):\w+}", r"{\1}", found.path or "/")
        for method in methods:
            yield method, path
