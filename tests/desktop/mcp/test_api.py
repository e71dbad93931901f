import asyncio
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any

import httpx2
from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from deskhand.desktop.mcp.api import SERVER, CallerOf, LoadCallers, McpEndpoint, add_mcp
from deskhand.desktop.mcp.ports import McpCaller
from deskhand.desktop.mcp.selection import selection_of
from deskhand.vncbridge.auth.credentials import Credentials
from deskhand.vncbridge.auth.middleware import install_auth
from deskhand.vncbridge.auth.policy import AccessPolicy, Principal
from tests.desktop.mcp.fakes import FakeCalls

Http = httpx2.AsyncClient


class FakeServer:
    """In the place of the adapter: answers with the key of the caller."""

    def __init__(self, caller_of: Callable[[Request], McpCaller], version: str) -> None:
        self._caller_of = caller_of
        self._version = version

    async def serve_http(self, scope: Scope, receive: Receive, send: Send) -> None:
        caller = self._caller_of(Request(scope))
        await Response(f"{caller.key} {self._version}")(scope, receive, send)


class Loader:
    """Loads the fake adapter, and counts how often."""

    def __init__(self, error: Exception | None = None) -> None:
        self.loaded: list[str] = []
        self._error = error

    def __call__(self, name: str) -> Any:
        self.loaded.append(name)
        if self._error is not None:
            raise self._error
        return SimpleNamespace(McpServer=FakeServer)


def _caller(request: Request) -> McpCaller:
    selection_of(request.query_params)
    return McpCaller(request.headers["deskhand-chat-id"], FakeCalls())


def run(
    scenario: Callable[[Http], Awaitable[None]],
    loader: Loader,
    load_callers: LoadCallers = lambda: _caller,
) -> None:
    async def served() -> None:
        app = FastAPI(redirect_slashes=False)
        add_mcp(app, McpEndpoint(load_callers, "1.0", loader))
        credentials = Credentials("cafe0123", lambda: 1_000_000.0)
        credentials.accept_token("dh_test", Principal("owner"))
        install_auth(app, AccessPolicy(), credentials)
        headers = {"Authorization": "Bearer dh_test", "Deskhand-Chat-Id": "c1"}
        transport = httpx2.ASGITransport(app=app)
        async with Http(
            transport=transport, base_url="http://localhost", headers=headers
        ) as client:
            await scenario(client)

    asyncio.run(served())


def test_the_library_is_loaded_by_the_first_request_only() -> None:
    loader = Loader()

    async def scenario(client: Http) -> None:
        assert not loader.loaded
        answers = await asyncio.gather(*(client.post(path) for path in ("/mcp", "/mcp/", "/mcp")))
        assert [answer.text for answer in answers] == ["c1 1.0"] * 3

    run(scenario, loader)
    assert loader.loaded == [SERVER]


def test_the_callers_are_loaded_once_by_the_first_request() -> None:
    loaded: list[str] = []

    def load() -> CallerOf:
        loaded.append("callers")
        return _caller

    async def scenario(client: Http) -> None:
        assert not loaded
        await asyncio.gather(*(client.post("/mcp") for _ in range(3)))

    run(scenario, Loader(), load)
    assert loaded == ["callers"]


def test_callers_that_cannot_be_loaded_are_reported() -> None:
    def load() -> CallerOf:
        raise ImportError("no calls")

    async def scenario(client: Http) -> None:
        answer = await client.post("/mcp")
        assert answer.status_code == 503
        assert answer.json()["detail"] == "its library cannot be loaded: no calls"

    run(scenario, Loader(), load)


def test_access_control_comes_first() -> None:
    loader = Loader()

    async def scenario(client: Http) -> None:
        refused = await client.post("/mcp", headers={"Authorization": ""})
        assert refused.status_code == 401
        assert refused.headers["WWW-Authenticate"] == "Bearer"
        foreign = await client.post("/mcp", headers={"Origin": "http://evil.example"})
        assert foreign.status_code == 403
        rebound = await client.post("/mcp", headers={"Host": "evil.example"})
        assert rebound.status_code == 421

    run(scenario, loader)
    assert not loader.loaded


def test_there_are_no_sessions() -> None:
    async def scenario(client: Http) -> None:
        for method in ("GET", "DELETE"):
            answer = await client.request(method, "/mcp")
            assert (answer.status_code, answer.headers["Allow"]) == (405, "POST")

    run(scenario, Loader())


def test_a_wrong_option_is_refused() -> None:
    async def scenario(client: Http) -> None:
        answer = await client.post("/mcp?tools=nonsense")
        assert answer.status_code == 400
        assert "the groups of tools are" in answer.json()["detail"]

    run(scenario, Loader())


def test_a_library_that_cannot_be_loaded_is_reported() -> None:
    async def scenario(client: Http) -> None:
        answer = await client.post("/mcp")
        assert answer.status_code == 503
        assert answer.json()["detail"] == "its library cannot be loaded: no mcp"

    run(scenario, Loader(ImportError("no mcp")))
