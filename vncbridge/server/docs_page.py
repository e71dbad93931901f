"""The page that lists the routes of a service, without resources of other sites."""

from html import escape

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from deskhand.vncbridge.http.lazy_routes import LazyRouter

POLICY = "default-src 'self'; frame-ancestors 'self'"


def router(note: str = "") -> APIRouter:
    """Return the route; ``note`` is markup that is shown above the list."""
    routes = LazyRouter()

    @routes.get("/docs", include_in_schema=False)
    async def docs(request: Request) -> HTMLResponse:
        described = request.app.openapi()
        rows = "".join(
            f"<tr><td>{method.upper()}</td><td><code>{escape(path)}</code></td>"
            f"<td>{escape(operation.get('description', ''))}</td></tr>"
            for path, methods in described["paths"].items()
            for method, operation in methods.items()
        )
        title = escape(described["info"]["title"])
        page = (
            f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
            f'<h1>{title}</h1><p>In full: <a href="openapi.json">openapi.json</a>. {note}</p>'
            f"<table>{rows}</table></html>"
        )
        return HTMLResponse(page, headers={"Content-Security-Policy": POLICY})

    return routes
