"""Routes of the audit log; only administrators reach them."""

from collections.abc import Sequence
from typing import Annotated, Protocol

from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse

from deskhand.tools.audit.chain import AuditRecord, ChainVerifier
from deskhand.tools.audit.rows import AuditFilter
from deskhand.tools.control_plane.errors import BadBody
from deskhand.vncbridge.http.lazy_routes import LazyRouter

LONGEST_PAGE = 1000
Limit = Annotated[int, Query(ge=1, le=LONGEST_PAGE)]
Selected = Annotated[str, Query(max_length=200)]


class AuditReader(Protocol):
    """Port to the audit log; ``deskhand.tools.audit.log.AuditLog`` implements it."""

    async def newest(self, wanted: AuditFilter, limit: int) -> Sequence[AuditRecord]:
        """Return records, the newest first."""

    async def verify(self) -> ChainVerifier:
        """Check all records."""


def router(log: AuditReader) -> APIRouter:
    """Return the routes under ``/api/v0/audit``."""
    routes = LazyRouter(prefix="/api/v0/audit", tags=["audit"])

    @routes.get("")
    async def records(
        limit: Limit = 100,
        cursor: Selected | None = None,
        actor: Selected = "",
        action: Selected = "",
        subject: Selected = "",
    ) -> JSONResponse:
        """List who signed in, which credential did what, and which secret was typed where.

        The newest record comes first. `actor`, `action` and `subject` select equal ones. Records
        are kept for 400 days and contain no values of secrets.
        """
        wanted = AuditFilter(actor, action, subject, None if cursor is None else _position(cursor))
        found = await log.newest(wanted, limit)
        return JSONResponse(
            {
                "records": [record.to_json() for record in found],
                "next_cursor": _cursor(found[-1]) if len(found) == limit else None,
            }
        )

    @routes.get("/verification")
    async def verification() -> JSONResponse:
        """Check the hash chain of each writer, and return its newest record's number and hash."""
        result = await log.verify()
        heads = [{"writer": one.writer, "n": one.n, "hash": one.hash} for one in result.heads]
        return JSONResponse(
            {"intact": not result.problems, "problems": result.problems, "heads": heads}
        )

    return routes


def _cursor(record: AuditRecord) -> str:
    return f"{record.event.at!r}_{record.n}_{record.writer}"


def _position(cursor: str) -> tuple[float, str, int]:
    at, _, rest = cursor.partition("_")
    n, _, writer = rest.partition("_")
    try:
        return float(at), writer, int(n)
    except ValueError:
        raise BadBody("cursor is not one of this list.") from None
