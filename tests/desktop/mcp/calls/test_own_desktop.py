import asyncio
from typing import Any

import pytest
from fastapi import FastAPI, HTTPException, Request

from deskhand.desktop.errors import DesktopRefused, DesktopUnavailable
from deskhand.desktop.mcp.calls.own_desktop import OwnDesktop, OwnDesktopCallers
from deskhand.desktop.mcp.errors import BadMcpOption
from deskhand.desktop.own_api.own_api import OwnApi
from deskhand.recording.step import Step
from deskhand.vncbridge.auth.policy import Principal


def api(steps: list[Step] | None = None) -> OwnApi:
    app = FastAPI()

    @app.get("/api/v0/processes/list")
    async def listing(request: Request) -> dict[str, Any]:
        return {"processes": [{"id": request.headers["deskhand-chat-id"]}]}

    @app.post("/api/v0/processes/start")
    async def start() -> dict[str, Any]:
        return {"id": "p1"}

    @app.get("/refused")
    async def refused() -> None:
        raise HTTPException(409, {"message": "No."})

    @app.get("/endless")
    async def endless() -> None:
        await asyncio.Event().wait()

    return OwnApi(app, ([] if steps is None else steps).append)


def scope(query: bytes = b"", chat: bytes = b"c1") -> dict[str, Any]:
    return {
        "type": "http",
        "method": "POST",
        "scheme": "http",
        "server": ("localhost", 80),
        "path": "/mcp",
        "query_string": query,
        "headers": [(b"host", b"localhost:8"), (b"deskhand-chat-id", chat)],
        "state": {"principal": Principal("owner")},
    }


def test_requests_go_to_the_routes_of_the_service() -> None:
    own = OwnDesktop(api().for_request(scope()))

    async def scenario() -> None:
        found = await own.request("GET", "/api/v0/processes/list", params={"limit": "1"})
        assert found == {"processes": [{"id": "c1"}]}
        with pytest.raises(DesktopRefused):
            await own.request("GET", "/refused")
        with pytest.raises(DesktopUnavailable, match=r"no answer within 0.01 s"):
            await own.request("GET", "/endless", timeout=0.01)

    asyncio.run(scenario())


def test_each_credential_and_chat_is_a_caller_of_its_own() -> None:
    callers = OwnDesktopCallers(api())
    first, second = (callers(Request(scope(chat=name))) for name in (b"c1", b"c2"))
    assert first.key != second.key
    assert callers(Request(scope())).key == first.key


def test_the_query_selects_the_tools() -> None:
    callers = OwnDesktopCallers(api())
    caller = callers(Request(scope(b"tools=shell&read_only=1")))
    names = [tool.name for tool in caller.calls.tools()]
    assert names == ["process_output", "process_list"]
    with pytest.raises(BadMcpOption):
        callers(Request(scope(b"tools=nonsense")))


def test_a_command_becomes_a_step() -> None:
    steps: list[Step] = []
    caller = OwnDesktopCallers(api(steps))(Request(scope()))
    arguments = {"command": "ls", "run_in_background": True}
    found = asyncio.run(caller.calls.call("execute", arguments))
    assert found.content["background_process_id"] == "p1"
    (step,) = steps
    assert (step.tool, step.title, step.chat_id) == ("mcp.execute", "execute: ls", "c1")
