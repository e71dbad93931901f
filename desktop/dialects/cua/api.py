"""The routes of cua's protocol: ``/cmd``, ``/ws``, ``/status``, ``/commands``.

A command is a sequence of calls of our own routes, which this router makes with the credential of
the client. The commands of a connection are performed one after the other.
"""

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from starlette.websockets import WebSocket

from deskhand.desktop.own_api.own_api import OwnApi
from deskhand.vncbridge.errors import ClientGone
from deskhand.vncbridge.http.disconnect import disconnected, run_unless
from deskhand.vncbridge.http.lazy_routes import LazyRouter
from deskhand.vncbridge.websocket.client_stream import ClientStream

from .command_runner import CommandRunner
from .commands import NOT_SERVED, listing
from .connection import CuaConnection
from .errors import RefusedCommand
from .messages import http_answer, http_request
from .route_call import Json

PATH = "/api/v0/desktop/as/cua"
_CLIENT_CLOSED_REQUEST = 499
_ROUTES_NOT_SERVED = ("/pty", "/pty/{rest:path}", *(f"/{name}" for name in NOT_SERVED))


def router(own_api: OwnApi) -> APIRouter:
    """Return the routes."""
    # Their answers have the form of the protocol, not that of our document.
    api = LazyRouter(prefix=PATH, include_in_schema=False)

    @api.post("/cmd", response_class=Response)
    async def cmd(request: Request) -> Response:
        """Perform a command of cua's computer server; the answer is one server-sent event."""
        try:
            asked = http_request(await request.body())
        except RefusedCommand as error:
            return JSONResponse({"detail": str(error)}, 400)
        runner = CommandRunner(own_api.for_request(request.scope))
        try:
            fields = await run_unless(runner.run(asked), disconnected(request.receive))
        except ClientGone:
            return Response(status_code=_CLIENT_CLOSED_REQUEST)
        return Response(http_answer(fields), media_type="text/plain")

    @api.get("/status")
    async def status() -> Json:
        """Return the operating system."""
        return {"status": "ok", "os_type": "linux", "features": []}

    @api.get("/commands")
    async def commands() -> Json:
        """List the commands with their parameters."""
        return listing()

    @api.websocket("/ws")
    async def ws(websocket: WebSocket) -> None:
        """Perform the commands of a connection; the keys that it holds are released at its end."""
        await websocket.accept()
        connection = CuaConnection(CommandRunner(own_api.for_request(websocket.scope)).run)
        stream = ClientStream(websocket)
        await stream.close(await connection.serve(stream))

    for path in _ROUTES_NOT_SERVED:
        api.add_api_route(path, _not_served, methods=["GET", "POST", "DELETE"])
    return api


async def _not_served(request: Request) -> JSONResponse:
    # Clients repeat a request that is answered with a status from 500 on.
    name = request.url.path.removeprefix(PATH)
    return JSONResponse({"detail": f"Not served: {name}"}, 400)
