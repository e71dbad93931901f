"""Routes that add secrets to those that recordings must not show; no route returns a value."""

from typing import Annotated

from fastapi import APIRouter, HTTPException, Response
from pydantic import BaseModel, ConfigDict, WithJsonSchema

from deskhand.desktop.errors import InvalidSecret
from deskhand.vncbridge.http.lazy_routes import LazyRouter

from .redaction import LONGEST, SHORTEST, SecretRedactor

PREFIX = "/api/v0/desktop"

# The redactor checks the length, not pydantic: pydantic's error message would contain the value.
Value = Annotated[
    str, WithJsonSchema({"type": "string", "minLength": SHORTEST, "maxLength": LONGEST})
]


class Secrets(BaseModel):
    """What to hide from now on; kept in memory only."""

    model_config = ConfigDict(extra="forbid")

    values: list[Value]
    codes: list[Value] = []
    """One-time codes, of which the last 100 are hidden."""


def router(redactor: SecretRedactor) -> APIRouter:
    """Return the routes over the redactor of one desktop."""
    routes = LazyRouter(prefix=PREFIX, tags=["desktop"])

    @routes.get("/secrets")
    async def count() -> dict[str, int]:
        """Return how many secrets are hidden, never which."""
        return {"count": len(redactor)}

    @routes.post("/secrets")
    async def add(secrets: Secrets) -> dict[str, int]:
        """Hide values in the steps of recordings from now on: JSON, WebVTT, chapters, files."""
        try:
            redactor.add(secrets.values)
            redactor.add_codes(secrets.codes)
        except InvalidSecret as error:
            body = {"message": "These secrets cannot be hidden.", "detail": str(error)}
            raise HTTPException(400, body) from error
        return {"count": len(redactor)}

    @routes.delete("/secrets", status_code=204)
    async def clear() -> Response:
        """Hide nothing more; what was written stays masked."""
        redactor.clear()
        return Response(status_code=204)

    return routes
