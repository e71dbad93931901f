"""Both services over HTTP: every route turns strangers away, each credential opens its own."""

import asyncio
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest
from websockets.asyncio.client import connect

from tests.live_trees import contents_below
from tests.system.services import PATIENCE, Json, Service, sign_in_with, until
from tests.system.watching import end_of, handshake, played

pytestmark = pytest.mark.x11

OPEN = {"/healthz", "/readyz", "/login", "/api/v0/login", "/viewer/x", "/assets/x"}
"""Routes that need no credential."""
EVERYBODYS = {
    *("/logout", "/api/v0/status", "/api/v0/live", "/api/v0/people/me"),
    "/api/v0/login/tickets",
}
"""Routes that accept any credential; the socket checks the scope of each topic."""
UPGRADE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}
FOREIGN = {"Host": "evil.example"}
ENDED = "Wrong or ended credential."


def routes(service: Service) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Method, path and headers of everything that is served, as the running service has it."""
    for route in service.get("/openapi.json")["x-routes"]:
        socket = route["method"] == "WEBSOCKET"
        path = re.sub(r"\{[^}]*\}", "x", route["path"])
        yield "GET" if socket else route["method"], path, UPGRADE if socket else {}


def statuses(service: Service, client: httpx2.Client, extra: dict[str, str]) -> dict[str, int]:
    found = {}
    for method, path, headers in routes(service):
        asked = {**headers, **extra}
        if method not in ("GET", "HEAD", "DELETE"):
            asked["Content-Type"] = "application/json"
        content = b"{}" if method in ("POST", "PUT", "PATCH") else None
        answer = client.request(method, path, headers=asked, content=content)
        found[f"{'SOCKET' if headers else method} {path}"] = answer.status_code
    return found


@contextmanager
def signed_in(service: Service, secret: str) -> Iterator[httpx2.Client]:
    """A browser that traded a code or a token for a cookie."""
    with httpx2.Client(base_url=service.url, timeout=PATIENCE) as browser:
        assert sign_in_with(browser, secret).status_code == 200
        yield browser


@contextmanager
def bearing(service: Service, token: str) -> Iterator[httpx2.Client]:
    headers = {"Authorization": f"Bearer {token}"}
    with httpx2.Client(base_url=service.url, headers=headers, timeout=PATIENCE) as client:
        yield client


def code_of(service: Service) -> str:
    return str(service.post("/api/v0/login/codes", {})["code"])


def token_for(service: Service, *scopes: str, **more: object) -> Json:
    return service.post("/api/v0/tokens", {"scopes": list(scopes), **more}, status=201)


@pytest.mark.parametrize("name", ["desktop", "plane"])
def test_requests_without_credentials_are_refused_at_every_route(
    name: str, request: pytest.FixtureRequest
) -> None:
    service: Service = request.getfixturevalue(name)
    document = service.get("/openapi.json")
    assert set(document["paths"]) <= {route["path"] for route in document["x-routes"]}
    with signed_in(service, code_of(service)) as browser:
        owner = statuses(service, service.http, FOREIGN)
        assert set(owner.values()) == {421}, owner
        # A page on another port of this host is as foreign as any.
        foreign = statuses(service, browser, {"Origin": "http://127.0.0.1:1"})
        closed = {route: code for route, code in foreign.items() if not reads(route)}
        assert set(closed.values()) == {403}, closed
        both = statuses(service, browser, {"Origin": "http://evil.example", **FOREIGN})
        assert set(both.values()) == {421}, both
    with httpx2.Client(base_url=service.url, timeout=PATIENCE) as stranger:
        unknown = statuses(service, stranger, {})
        wrong = {r: s for r, s in unknown.items() if r.split()[1] not in OPEN and s != 401}
        assert not wrong


def reads(route: str) -> bool:
    """Return whether the route is public."""
    method, path = route.split()
    return method in ("GET", "HEAD") and path in OPEN


@pytest.mark.parametrize("name", ["desktop", "plane"])
def test_a_credential_for_something_else_opens_nothing(
    name: str, request: pytest.FixtureRequest
) -> None:
    service: Service = request.getfixturevalue(name)
    other = token_for(service, "desktop:other:control", "run:other:view")["token"]
    with bearing(service, other) as client:
        found = statuses(service, client, {})
    theirs = OPEN | EVERYBODYS
    wrong = {r: s for r, s in found.items() if r.split()[1] not in theirs and s != 403}
    assert not wrong


def test_a_token_to_watch_sees_and_does_nothing(desktop: Service) -> None:
    ours = desktop.get("/api/v0/desktop")["instance_id"]
    with bearing(desktop, token_for(desktop, f"desktop:{ours}:view")["token"]) as client:
        assert client.get("/api/v0/desktop/screenshot").status_code == 200
        assert client.get("/api/v0/desktop/lease").status_code == 200
        assert client.get("/").status_code == 200
        assert client.get("/metrics").status_code == 200
        for method, path, body in (
            ("POST", "/api/v0/desktop/action", {"action": "screenshot"}),
            ("POST", "/api/v0/desktop/lease", {"action": "take", "name": "Eve"}),
            ("GET", "/api/v0/desktop/clipboard", None),
            ("POST", "/api/v0/processes/start", {"command": "id"}),
            ("GET", "/api/v0/tokens", None),
            ("POST", "/api/v0/login/codes", {}),
        ):
            answer = client.request(method, path, json=body)
            assert (answer.status_code, answer.json()["message"]) == (403, "Not allowed."), path
        asked = client.post("/api/v0/desktop/tickets", json={"role": "control"})
        reply = (asked.status_code, asked.json()["message"])
        assert reply == (403, "This credential is for watching only.")


def test_a_token_to_control_acts_and_makes_no_tokens(desktop: Service) -> None:
    ours = desktop.get("/api/v0/desktop")["instance_id"]
    with bearing(desktop, token_for(desktop, f"desktop:{ours}:control")["token"]) as client:
        acted = client.post("/api/v0/desktop/action", json={"action": "wait", "duration": 0})
        assert acted.status_code == 200
        forced = {"action": "take", "name": "Eve", "force": True}
        refused = client.post("/api/v0/desktop/lease", json=forced)
        assert refused.json()["message"] == "Only an administrator may force."
        more = client.post("/api/v0/tokens", json={"scopes": ["admin"]})
        assert more.status_code == 403
        assert client.post("/api/v0/processes/start", json={"command": "id"}).status_code == 403


def test_a_token_works_until_it_is_taken_back_with_all_its_sessions(desktop: Service) -> None:
    made = token_for(desktop, "admin", name="laptop")
    assert made["token"].startswith("dh_")
    with bearing(desktop, made["token"]) as client, signed_in(desktop, made["token"]) as browser:
        assert client.get("/api/v0/desktop").status_code == 200
        assert browser.get("/api/v0/desktop").status_code == 200
        listed = desktop.get("/api/v0/tokens")
        assert "laptop" in [token["name"] for token in listed["tokens"]]
        assert made["token"] not in str(listed)
        assert desktop.http.delete(f"/api/v0/tokens/{made['id']}").status_code == 204
        for former in (client, browser):
            answer = former.get("/api/v0/desktop")
            assert (answer.status_code, answer.json()["message"]) == (401, ENDED)
    gone = desktop.http.delete(f"/api/v0/tokens/{made['id']}")
    assert (gone.status_code, gone.json()["message"]) == (404, "Token not found.")


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"scopes": []},
        {"scopes": ["root"]},
        {"scopes": ["desktop:x"]},
        {"scopes": ["chat:../x"]},
        {"scopes": ["admin"], "ttl_s": 0},
        {"scopes": ["admin"], "ttl_s": 1e12},
        {"scopes": ["admin"], "token": "mine"},
    ],
)
def test_tokens_that_make_no_sense_are_refused(desktop: Service, body: Json) -> None:
    desktop.post("/api/v0/tokens", body, status=400)


def test_an_expired_credential_is_reported_as_expired(desktop: Service) -> None:
    brief = token_for(desktop, "admin", ttl_s=1e-6)
    with bearing(desktop, brief["token"]) as client:
        answer = client.get("/api/v0/desktop")
    assert (answer.status_code, answer.json()["message"]) == (401, ENDED)
    assert answer.headers["www-authenticate"] == "Bearer"
    made = desktop.post("/api/v0/desktop/tickets", {"ttl_s": 1e-6}, status=201)
    assert opened(desktop, "/api/v0/desktop/vnc", made["ticket"]) == 401


def opened(service: Service, path: str, ticket: str) -> int:
    """Open a WebSocket with a ticket and nothing else; 101 is success."""
    with (
        httpx2.Client(base_url=service.url, timeout=PATIENCE) as client,
        client.stream("GET", path, params={"ticket": ticket}, headers=UPGRADE) as answer,
    ):
        return answer.status_code


@pytest.fixture(scope="module")
def below(plane: Service) -> str:
    """Where a desktop of the control plane is."""
    made = plane.post("/api/v0/desktops", {}, status=201)
    return f"/api/v0/desktops/{made['id']}"


def test_a_ticket_opens_one_socket_of_one_desktop_once(plane: Service, below: str) -> None:
    below += "/desktop"

    def ticket(role: str = "view") -> str:
        return str(plane.post(f"{below}/tickets", {"role": role}, status=201)["ticket"])

    once = ticket()
    assert [opened(plane, f"{below}/vnc", once) for _ in range(2)] == [101, 401]
    assert opened(plane, f"{below}/lease/watch", ticket()) == 101
    elsewhere = "/api/v0/desktops/other/desktop/vnc"
    assert opened(plane, elsewhere, ticket("control")) == 403
    assert opened(plane, "/api/v0/chats/x/desktop", ticket("control")) == 403
    with httpx2.Client(base_url=plane.url, timeout=PATIENCE) as stranger:
        once = ticket()
        reads = [stranger.get(f"{below}/screenshot", params={"ticket": once}) for _ in range(2)]
        assert [one.status_code for one in reads] == [200, 401]
        posted = stranger.post(f"{below}/action", params={"ticket": ticket("control")}, json={})
        assert (posted.status_code, posted.json()["message"]) == (401, "Sign in first.")
        token = stranger.get(f"{below}/screenshot", params={"token": plane.token})
        assert token.status_code == 401
    long = plane.http.post(f"{below}/tickets", json={"ttl_s": 301})
    assert long.status_code == 400


def test_what_goes_on_ends_with_its_credential(plane: Service, below: str) -> None:
    made = token_for(plane, f"desktop:{below.rpartition('/')[2]}:control")
    path = f"{below}/desktop"

    async def watch() -> str:
        with bearing(plane, made["token"]) as client:
            secret = client.post(f"{path}/tickets", json={}).json()["ticket"]
            unused = client.post(f"{path}/tickets", json={}).json()["ticket"]
            address = plane.url.replace("http", "ws", 1)
            async with connect(f"{address}{path}/vnc?ticket={secret}") as socket:
                await handshake(socket)
                with client.stream("GET", f"{path}/events") as events:
                    revoke = f"/api/v0/tokens/{made['id']}"
                    assert (await asyncio.to_thread(plane.http.delete, revoke)).is_success
                    await end_of(socket)
                    assert socket.close_code == 1008
                    assert socket.close_reason == "Your credential has ended."
                    assert events.read() is not None
        return str(unused)

    assert opened(plane, f"{path}/vnc", played(watch())) == 401


def test_a_browser_signs_in_once_with_a_code_and_out_for_good(desktop: Service) -> None:
    code = code_of(desktop)
    own = {"Origin": desktop.url}
    with httpx2.Client(base_url=desktop.url, timeout=PATIENCE) as browser:
        page = browser.get("/", headers={"Accept": "text/html"})
        assert (page.status_code, page.headers["location"]) == (303, "./login?next=/")
        answer = sign_in_with(browser, code)
        cookie = answer.headers["set-cookie"]
        assert re.match(r"deskhand_[0-9a-f]{8}=", cookie)
        assert {"HttpOnly", "SameSite=strict", "Max-Age=2592000"} <= set(cookie.split("; "))
        assert browser.get("/").status_code == 200
        bare = browser.post("/api/v0/desktop/lease", json={"action": "take", "name": "Ann"})
        assert (bare.status_code, bare.json()["message"]) == (403, "Missing origin.")
        kept = dict(browser.cookies)
        assert browser.post("/logout", headers=own).json() == {"signed_in": False}
        browser.cookies.update(kept)
        assert browser.get("/api/v0/desktop").status_code == 401
        for wrong in (code, "dh_wrong", ""):
            again = browser.post("/api/v0/login", json={"code": wrong})
            reply = (again.status_code, again.json()["message"])
            assert reply == (401, "This code is wrong, used or too old.")


def test_no_secret_is_in_any_log(plane: Service, below: str) -> None:
    code, wrong = code_of(plane), "dh_a-token-that-does-not-exist"
    share = token_for(plane, "run:x:view")
    ticket = plane.post(f"{below}/desktop/tickets", {}, status=201)["ticket"]
    typed = "correct horse battery staple"
    plane.post(f"{below}/desktop/action", {"action": "type", "text": typed})
    plane.post(f"{below}/desktop/secrets", {"values": [typed]})
    assert opened(plane, f"{below}/desktop/vnc", ticket) == 101
    assert opened(plane, f"{below}/desktop/vnc", wrong) == 401
    with signed_in(plane, code) as browser, signed_in(plane, share["token"]):
        cookies = list(dict(browser.cookies).values())
        for query in ({"token": plane.token}, {"code": code}, {"ticket": ticket}):
            browser.get("/api/v0/chats", params=query)
            browser.get("/no/such/page", params=query)
    with bearing(plane, wrong) as stranger:
        assert stranger.get("/api/v0/chats").status_code == 401
    folders = [plane.errors.parent, logs_below(plane, below)]
    # The line of a request is written when it is over, which its caller sees a little earlier.
    until(lambda: b"/no/such/page" in text_of_logs(folders), "the last request's line")
    logged = text_of_logs(folders)
    assert b"/desktop/vnc" in logged
    for secret in (plane.token, share["token"], share["url"], ticket, code, wrong, typed, *cookies):
        assert secret.encode() not in logged, secret


def logs_below(plane: Service, below: str) -> Path:
    """Return where a desktop of a control plane has its logs."""
    command = {"command": "dirname $HOME"}
    started = plane.post(f"{below}/processes/start", command)
    path = f"{below}/processes/{started['id']}/output?wait=true"
    return Path(str(plane.get(path)["output"]).strip()) / "logs"


def text_of_logs(folders: list[Path]) -> bytes:
    found = {path: text for folder in folders for path, text in contents_below(folder).items()}
    return b"\n".join(text for path, text in found.items() if path.suffix in (".log", ".jsonl"))
