"""The routes that tell a desktop what must not be read in recordings; values only come in."""

from typing import Annotated

from fastapi import APIRouter, HTTPException, Response
from pydantic import BaseModel, ConfigDict, WithJsonSchema

from deskhand.desktop.errors import InvalidSecret

from .redaction import LONGEST, SHORTEST, SecretRedactor

PREFIX = "/api/v0/desktop"


# The disguise judges it, in words of its own.
Value = Annotated[
    str, WithJsonSchema({"type": "string", "minLength": SHORTEST, "maxLength": LONGEST})
]


class Secrets(BaseModel):
    """What to hide from now on; kept in memory only."""

    model_config = ConfigDict(extra="forbid")

    values: list[Value]


def router(disguise: SecretRedactor) -> APIRouter:
    """Return the routes."""
    routes = APIRouter(prefix=PREFIX, tags=["desktop"])

    @routes.get("/secrets")
    async def count() -> dict[str, int]:
        """Tell how many secrets are hidden, never which."""
        return {"count": len(disguise)}

    @routes.post("/secrets")
    async def add(secrets: Secrets) -> dict[str, int]:
        """Hide values in the steps of recordings from now on: JSON, WebVTT, chapters, files."""
        try:
            disguise.add(secrets.values)
        except InvalidSecret as error:
            said = {"message": "These secrets cannot be hidden.", "detail": str(error)}
            raise HTTPException(400, said) from error
        return {"count": len(disguise)}

    @routes.delete("/secrets", status_code=204)
    async def clear() -> Response:
        """Hide nothing more; what was written stays masked."""
        disguise.clear()
        return Response(status_code=204)

    return routes
