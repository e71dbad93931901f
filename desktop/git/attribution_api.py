"""Routes of git's credentials and of the branches that git changed for a chat."""

from collections.abc import Callable
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, HTTPException, Response
from pydantic import BaseModel, ConfigDict, WithJsonSchema

from deskhand.vncbridge.http.lazy_routes import LazyRouter

from .attribution import Attribution
from .credentials import LONGEST, GitCredentials, credential, server_in
from .errors import InvalidCredential

Json = dict[str, Any]
# The schemas are documentation: `credential` checks the values and writes the refusals.
_ADDRESS = {"type": "string", "pattern": "^https?://[a-z0-9]+(\\.[a-z0-9]+)*(:[0-9]{1,4})?(/.*)?$"}
Address = Annotated[str, WithJsonSchema(_ADDRESS)]
Line = Annotated[
    str, WithJsonSchema({"type": "string", "pattern": "^[ -~]{4,}$", "maxLength": LONGEST})
]


class Given(BaseModel):
    """A credential for git, kept in memory only."""

    model_config = ConfigDict(extra="forbid")

    url: Address
    """Address of the server, such as ``https://host``; a path in it is ignored."""
    username: Line
    password: Line


class Mark(BaseModel):
    """A branch that changed at its remote."""

    model_config = ConfigDict(extra="forbid")

    branch: str
    remote_origin: str
    chat_id: UUID | None = None
    """None for all chats."""


def router(
    credentials: GitCredentials, attribution: Attribution, hide: Callable[[str], None]
) -> APIRouter:
    """Return the routes. ``hide`` registers a password for redaction; raises InvalidCredential."""
    routes = LazyRouter(prefix="/api/v0/git", tags=["git"])

    @routes.get("/credentials")
    async def listed() -> Json:
        """List the servers and names that git has a password for, never the passwords."""
        known = [{"url": one.server, "username": one.username} for one in credentials.all()]
        return {"credentials": known}

    @routes.put("/credentials")
    async def put(given: Given) -> Json:
        """Give git a name and a password for a server, instead of an earlier one."""
        try:
            kept = credential(given.url, given.username, given.password)
            # Redaction comes first: git must not get a password that cannot be redacted.
            hide(kept.password)
            credentials.put(kept)
        except InvalidCredential as error:
            raise _refusal(error) from error
        return {"url": kept.server, "username": kept.username}

    @routes.delete("/credentials", status_code=204)
    async def remove(url: Address) -> Response:
        """Forget the credential for a server."""
        try:
            found = credentials.remove(server_in(url))
        except InvalidCredential as error:
            raise _refusal(error) from error
        if not found:
            raise HTTPException(404, {"message": "There is no credential for this server."})
        return Response(status_code=204)

    @routes.post("/stale")
    async def mark(asked: Mark) -> Json:
        """Say that a branch changed at its remote; its watchers look again."""
        chat_id = str(asked.chat_id) if asked.chat_id else ""
        marked = attribution.mark_stale(chat_id, asked.branch, asked.remote_origin)
        return {"chat_ids": marked}

    @routes.get("/refs")
    async def refs(chat_id: UUID | None = None) -> Json:
        """List for which branch and remote each chat last used a credential, and since when."""
        found = attribution.refs(str(chat_id) if chat_id else "")
        return {"refs": [{"chat_id": name, **ref.to_json()} for name, ref in found.items()]}

    return routes


def _refusal(error: InvalidCredential) -> HTTPException:
    return HTTPException(400, {"message": "This credential cannot be kept.", "detail": str(error)})
