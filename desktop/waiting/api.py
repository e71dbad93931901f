"""Route that waits for a condition."""

import asyncio
from typing import Any

from fastapi import APIRouter, HTTPException, Request

from deskhand.desktop.actions.requests import decode
from deskhand.desktop.actions.schema import sized
from deskhand.desktop.computer.computer import Computer
from deskhand.desktop.computer.outcomes import screenshot_json
from deskhand.desktop.errors import QueueFull
from deskhand.desktop.http_errors import answered, refusal
from deskhand.desktop.processes.errors import UnknownProcess
from deskhand.desktop.processes.process import Process
from deskhand.desktop.processes.registry import Registry
from deskhand.desktop.screenshots.options import PictureOptions, view
from deskhand.desktop.tool_calls.caller import chat_of
from deskhand.desktop.tool_calls.errors import MalformedChat
from deskhand.vncbridge.errors import ClientGone
from deskhand.vncbridge.http.disconnect import disconnected, run_unless
from deskhand.vncbridge.http.lazy_routes import LazyRouter

from .conditions import Conditions, read_conditions, seen
from .schema import BODY
from .screen_wait import ExitWait, ScreenWait, WaitResult

Json = dict[str, Any]

MOST_WAITS = 16
"""Waits that may run at once: each holds a subscription to damage."""
_CLIENT_CLOSED_REQUEST = 499


def router(
    computer: Computer,
    wait: ScreenWait,
    registry: Registry,
    closing: asyncio.Event,
) -> APIRouter:
    """Return the route; waits are answered 503 once ``closing`` is set."""
    routes = LazyRouter(prefix="/api/v0/desktop", tags=["desktop"])
    running = 0

    async def awaited(request: Request, wanted: Conditions, exits: ExitWait | None) -> WaitResult:
        async def service_ends() -> None:
            await closing.wait()
            raise refusal(503, "Desktop API is shutting down.")

        stops = (service_ends(), disconnected(request.receive))
        try:
            return await run_unless(wait.until(wanted, exits), *stops)
        except ClientGone:
            raise HTTPException(_CLIENT_CLOSED_REQUEST, "The client went away.") from None

    @routes.post("/wait-for", openapi_extra=sized(BODY, computer.size))
    async def wait_for(request: Request) -> Json:
        """Wait until all given conditions hold at one moment, and show the screen then.

        After `timeout_seconds` the answer has what was there instead: `met` is false.
        """
        nonlocal running
        with answered():
            wanted = read_conditions(decode(await request.body()), computer.size)
            exits = process_of(registry, request, wanted.process) if wanted.process else None
            if running >= MOST_WAITS:
                raise QueueFull(MOST_WAITS)
            running += 1
            try:
                found = await awaited(request, wanted, exits)
            finally:
                running -= 1
            body: Json = {
                "met": not found.unmet,
                "unmet": list(found.unmet),
                "waited_ms": round(found.seconds * 1000, 1),
                "seen": seen(wanted, found.facts),
            }
            if wanted.screenshot:
                picture = view(PictureOptions(), wanted.space, computer.size)
                body |= screenshot_json(await computer.picture(picture))
            return body

    return routes


def process_of(registry: Registry, request: Request, process_id: str) -> Process:
    """Return a process that the caller of a request may see.

    Raises:
        HTTPException: With status 404, also for a process of another chat, whose existence is not
            disclosed.
    """
    try:
        return registry.find(process_id, chat_of(request.headers)).process
    except UnknownProcess as error:
        raise refusal(404, "Unknown process.", str(error)) from error
    except MalformedChat as error:
        raise refusal(400, str(error)) from error
