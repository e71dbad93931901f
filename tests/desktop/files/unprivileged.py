"""Answers requests to the file routes; run as a process of its own, without root's rights.

Reads a list of ``{"method", "path", "params", "json"}`` and prints one of ``{"status", "body"}``.
"""

import asyncio
import json
import sys
from pathlib import Path
from typing import cast

import httpx2
from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.responses import JSONResponse

from deskhand.desktop.files import api
from deskhand.vncbridge.http.add_routes import add_routes
from tests.desktop.agent_helper.threaded import agent_files


async def refused(_: Request, error: Exception) -> Response:
    refusal = cast(HTTPException, error)
    return JSONResponse(refusal.detail, refusal.status_code)


async def main() -> None:
    asked = json.load(sys.stdin)
    app = FastAPI()
    app.add_exception_handler(HTTPException, refused)
    transport = httpx2.ASGITransport(app=app)
    async with (
        agent_files() as files,
        httpx2.AsyncClient(transport=transport, base_url="http://core") as client,
    ):
        add_routes(app, api.router(lambda: Path("/"), files))
        answers = [
            await client.request(one["method"], one["path"], params=one["params"], json=one["json"])
            for one in asked
        ]
    reported = [{"status": answer.status_code, "body": answer.json()} for answer in answers]
    json.dump(reported, sys.stdout)


if __name__ == "__main__":
    asyncio.run(main())
