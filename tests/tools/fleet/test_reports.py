import asyncio
from collections.abc import AsyncIterator
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse

from deskhand.desktop.client.http import DesktopClient
from deskhand.tools.fleet.errors import UnknownDesktop
from deskhand.tools.fleet.reports import ReportFollower
from tests.tools.control_plane.fakes import LIMIT, local_socket, serving

REFUSED = '{"id":"b-3","kind":"egress_refused","at":1,"data":{"address":"10.0.0.1"}}'
STATUS = '{"id":"b-2","kind":"agent_status","at":1,"data":{"chat_id":"a"}}'
OTHER = '{"id":"b-1","kind":"window_opened","at":1,"data":{}}'


def test_reports_are_passed_on_and_a_broken_stream_is_read_on() -> None:
    async def scenario() -> None:
        app, asked = FastAPI(), list[str | None]()
        bound, address = local_socket()
        found = list[tuple[str, Any]]()
        over = asyncio.Event()

        async def stream() -> AsyncIterator[str]:
            yield f"data: {OTHER}\n\n: a comment\n\ndata: {STATUS}\n\ndata: {REFUSED}\n\n"

        async def events(request: Request) -> StreamingResponse:
            asked.append(request.headers.get("last-event-id"))
            return StreamingResponse(stream(), media_type="text/event-stream")

        app.add_api_route("/api/v0/desktop/events", events, response_model=None)
        clients = [DesktopClient(f"http://{address}", "secret") for _ in range(2)]
        unused = iter(clients)

        def client(desktop_id: str) -> DesktopClient:
            # The third time the desktop is gone, which ends the task.
            try:
                return next(unused)
            except StopIteration:
                over.set()
                raise UnknownDesktop(desktop_id) from None

        async def refused(desktop_id: str, data: Any) -> None:
            found.append((desktop_id, data))

        async with asyncio.timeout(LIMIT), serving(app, bound):
            async with ReportFollower(client, again_seconds=0.0) as follower:
                follower.on_refused = follower.on_status = refused
                follower.follow("ab12")
                await over.wait()
            for one in clients:
                await one.close()
        assert found == [("ab12", {"chat_id": "a"}), ("ab12", {"address": "10.0.0.1"})] * 2
        assert asked == [None, "b-3"]

    asyncio.run(scenario())
