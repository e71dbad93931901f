"""HTTP route of the agent's context."""

from pathlib import PurePosixPath
from typing import Annotated

from fastapi import APIRouter, HTTPException, Query
from fastapi.responses import JSONResponse

from deskhand.vncbridge.http.lazy_routes import LazyRouter

from .context import ContextReader

LONGEST = 1_024
Below = Annotated[str, Query(max_length=LONGEST, description="Directory below the working one.")]


def router(reader: ContextReader) -> APIRouter:
    """Return the route."""
    routes = LazyRouter(prefix="/api/v0", tags=["files"])

    @routes.get("/context-config")
    async def read_context_config(workdir: Below = "", parts: bool = True) -> JSONResponse:
        """Read the instruction files and the skills of the agent, and the working directory.

        Without `parts` only the working directory is returned.
        """
        path = PurePosixPath(workdir)
        if path.is_absolute() or ".." in path.parts or "\0" in workdir:
            raise HTTPException(400, {"message": "workdir must be a relative path without `..`."})
        return JSONResponse((await reader.read(workdir, parts=parts)).to_json())

    return routes
