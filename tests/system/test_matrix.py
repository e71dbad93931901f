"""Every route of both services turns away foreign hosts, foreign origins and strangers."""

import re
from collections.abc import Iterator

import httpx2
import pytest

from tests.system.services import Service

pytestmark = pytest.mark.x11

OPEN = {"/healthz", "/readyz", "/login", "/api/v0/login"}
SOCKETS = ("/api/v0/desktop/vnc", "/api/v0/desktop/lease/watch", "/api/v0/chats/x/desktop")
UPGRADE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}
EVIL = {"Origin": "http://evil.example"}
NEIGHBOUR = {"Origin": "http://127.0.0.1:1"}


def routes(service: Service) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Method, path and headers of everything that is served."""
    for path, methods in service.get("/openapi.json")["paths"].items():
        for method in methods:
            yield method.upper(), re.sub(r"\{[^}]*\}", "x", path), {}
    for path in SOCKETS:
        yield "GET", path, UPGRADE
    yield "POST", "/api/v0/desktops/x/desktop/action", {}


def statuses(service: Service, client: httpx2.Client, extra: dict[str, str]) -> dict[str, int]:
    found = {}
    for method, path, headers in routes(service):
        asked = {**headers, **extra}
        if method not in ("GET", "HEAD", "DELETE"):
            asked["Content-Type"] = "application/json"
        content = b"{}" if method in ("POST", "PUT", "PATCH") else None
        answer = client.request(method, path, headers=asked, content=content)
        found[f"{method} {path}"] = answer.status_code
    return found


@pytest.mark.parametrize("name", ["desktop", "plane"])
def test_strangers_are_turned_away_at_every_route(
    name: str, request: pytest.FixtureRequest
) -> None:
    service: Service = request.getfixturevalue(name)
    code = service.post("/api/v0/login/codes", {})["code"]
    with httpx2.Client(base_url=service.url) as browser:
        assert browser.post("/api/v0/login", json={"code": code}).status_code == 200
        owner = statuses(service, service.http, {"Host": "evil.example"})
        assert set(owner.values()) == {421}, owner
        for origin in (EVIL, NEIGHBOUR):
            foreign = statuses(service, browser, origin)
            closed = {route: code for route, code in foreign.items() if not reads(route)}
            assert set(closed.values()) == {403}, closed
            both = statuses(service, browser, {**origin, "Host": "evil.example"})
            assert set(both.values()) == {421}, both
    with httpx2.Client(base_url=service.url) as stranger:
        unknown = statuses(service, stranger, {})
        wrong = {r: s for r, s in unknown.items() if r.split()[1] not in OPEN and s != 401}
        assert not wrong


def reads(route: str) -> bool:
    """Whether it only says what anybody may know."""
    method, path = route.split()
    return method in ("GET", "HEAD") and path in OPEN
