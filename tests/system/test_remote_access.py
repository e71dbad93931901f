"""The control plane as other machines reach it: TLS, proxies, a base path."""

import json
import os
import ssl
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest
from playwright.sync_api import Browser, Page, expect

from deskhand.desktop.errors import DesktopUnavailable
from deskhand.desktop.remote_sync import Desktop
from deskhand.tools.client.client_sync import Client
from tests.system.browsing import noted
from tests.system.certificates import ServerCertificate, server_certificate
from tests.system.proxies import HOST, caddy, nginx
from tests.system.services import DESKHAND, PATIENCE, Service, reserved_port, service

Start = Callable[[Path, int, str, ServerCertificate], AbstractContextManager[None]]

CANVAS = """() => {
  const canvas = document.querySelector("canvas");
  return canvas !== null && canvas.width > 0 && canvas.height > 0;
}"""
PLAYS = "() => (document.querySelector('video')?.duration ?? 0) > 0"


@dataclass(frozen=True)
class Behind:
    """A control plane behind a proxy, and its public address."""

    plane: Service
    url: str
    files: ServerCertificate

    def code(self) -> str:
        return str(self.plane.post("/api/v0/login/codes", {})["code"])


@contextmanager
def behind(start: Start, folder: Path) -> Iterator[Behind]:
    files = server_certificate(folder / "certificates", HOST)
    arguments = ("up", "--data-dir", str(folder / "data"), "--listen", "127.0.0.1:0")
    proxy = folder / "proxy"
    proxy.mkdir()
    with reserved_port() as port:
        url = f"https://{HOST}:{port}/desk"
        remote = ("--public-url", url, "--trusted-proxy", "127.0.0.1")
        with (
            service(folder / "stderr", *arguments, *remote) as plane,
            start(proxy, port, plane.url.removeprefix("http://"), files),
        ):
            yield Behind(plane, url, files)
    assert (folder / "stderr").read_text() == ""


@contextmanager
def signed_in(found: Behind, browser: Browser) -> Iterator[tuple[Page, list[str]]]:
    """A page that is signed in over the proxy, and the answers it got with status 400 and above."""
    context = browser.new_context(ignore_https_errors=True)
    page = context.new_page()
    page.set_default_timeout(PATIENCE * 1000)
    expect.set_options(timeout=PATIENCE * 1000)
    failed: list[str] = []
    page.on("response", lambda r: failed.append(r.url) if r.status >= 400 else None)
    try:
        with noted(page):
            page.goto(f"{found.url}/login#code={found.code()}")
            page.wait_for_url(f"{found.url}/")
            yield page, failed
    finally:
        context.close()


@pytest.mark.x11
@pytest.mark.browser
@pytest.mark.soak
@pytest.mark.slow("a proxy, a desktop, a run and its video in a browser")
@pytest.mark.parametrize(
    "start",
    [pytest.param(caddy, id="caddy", marks=pytest.mark.full), pytest.param(nginx, id="nginx")],
)
def test_all_pages_work_below_a_path_of_a_proxy(
    start: Start, browser: Browser, tmp_path: Path
) -> None:
    with behind(start, tmp_path) as found:
        plane = found.plane
        child = plane.tool("spawn_computer_use_agent", prompt="Look", model="scripted:look")
        waited = plane.tool("wait_agent", chat_id=child["chat_id"], timeout_seconds=60)
        assert waited["recording_file_id"], waited
        desktop = plane.post("/api/v0/desktops", {"name": "seen from elsewhere"})
        with signed_in(found, browser) as (page, failed):
            (cookie,) = page.context.cookies()
            assert (cookie.get("secure"), cookie.get("path")) == (True, "/desk")
            # The card comes over the WebSocket of the pages.
            expect(page.get_by_text("seen from elsewhere").first).to_be_visible()
            page.goto(f"{found.url}/desktops/{desktop['id']}")
            page.wait_for_function(CANVAS)
            page.goto(f"{found.url}/runs/{child['chat_id']}")
            page.wait_for_function(PLAYS)
            page.goto(f"{found.url}/runs")
            expect(page.locator(f"a[href*='{child['chat_id']}']").first).to_be_visible()
            page.goto(f"{found.url}/nothing/is/here")
            page.get_by_role("link").first.click()
            page.wait_for_url(f"{found.url}/")
            assert [url for url in failed if "/nothing/" not in url] == []
        _share_link_opens(found, browser, child["chat_id"])
        _programs_work(found, desktop["id"])


def _share_link_opens(found: Behind, browser: Browser, chat_id: str) -> None:
    wanted = {"scopes": [f"run:{chat_id}:view"], "name": "guest"}
    link = found.plane.post("/api/v0/tokens", wanted)["url"]
    assert link.startswith(f"{found.url}/login?next=/runs/{chat_id}#code=")
    context = browser.new_context(ignore_https_errors=True)
    try:
        page = context.new_page()
        page.set_default_timeout(PATIENCE * 1000)
        page.goto(link)
        page.wait_for_url(f"{found.url}/runs/{chat_id}")
        page.wait_for_function(PLAYS)
    finally:
        context.close()


def _programs_work(found: Behind, desktop_id: str) -> None:
    ca, token = str(found.files.ca), found.plane.token
    with Client.connect(found.url, token, ca_file=ca) as client:
        assert desktop_id in [one.id for one in client.desktops.list()]
    with Desktop.connect(found.url, token, desktop_id=desktop_id, ca_file=ca) as desktop:
        assert desktop.screenshot().size == (1280, 720)
    with (
        Client.connect(found.url, token) as client,
        pytest.raises(DesktopUnavailable, match="DESKHAND_CA_FILE"),
    ):
        client.desktops.list()
    variables = {"DESKHAND_URL": found.url, "DESKHAND_TOKEN": token, "DESKHAND_CA_FILE": ca}
    listed = subprocess.run(
        [DESKHAND, "desktops", "list", "--json"],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=True,
    )
    assert desktop_id in listed.stdout
    # A page that nobody signed in for leads to the sign-in below the same path.
    with httpx2.Client(verify=ssl.create_default_context(cafile=ca)) as http:
        assert http.get(f"{found.url}").headers["location"] == "/desk/"
        asked = http.get(f"{found.url}/runs/x", headers={"Accept": "text/html"})
        assert asked.headers["location"] == "./../login?next=/runs/x"


@pytest.mark.soak
@pytest.mark.slow("a control plane with TLS, and commands that reach it")
def test_commands_find_and_trust_the_certificate_of_the_server_and_a_renewed_one(
    tmp_path: Path,
) -> None:
    files = server_certificate(tmp_path / "certificates", "desk.example")
    data = str(tmp_path / "data")
    tls = ("--tls-cert", str(files.cert), "--tls-key", str(files.key))
    public = ("--public-url", "https://desk.example")
    arguments = ("up", "--data-dir", data, "--listen", "0.0.0.0:0", *tls, *public)
    with _started(tmp_path, *arguments) as ready:
        assert ready["url"].startswith("https://127.0.0.1:")
        with Client.connect(data_dir=data) as client:
            assert list(client.desktops.list()) == []
        listed = subprocess.run(
            [DESKHAND, "desktops", "list", "--data-dir", data, "--json"],
            capture_output=True,
            text=True,
            check=True,
        )
        assert json.loads(listed.stdout)
        linked = subprocess.run(
            [DESKHAND, "url", "--data-dir", data], capture_output=True, text=True, check=True
        )
        assert linked.stdout.startswith("https://desk.example/login#code=")
        with httpx2.Client(verify=False) as http:
            answers = [
                http.get(f"{ready['url']}/login", headers={"Host": host}).status_code
                for host in ("desk.example", "other.example")
            ]
        assert answers == [200, 421]
        later = server_certificate(tmp_path / "later", "desk.example")
        later.key.rename(files.key)
        later.cert.rename(files.cert)
        port = urlsplit(ready["url"]).port
        assert port is not None
        shown = ssl.get_server_certificate(("127.0.0.1", port))
        assert shown == files.cert.read_text()
        with Client.connect(data_dir=data) as client:
            assert list(client.desktops.list()) == []


@contextmanager
def _started(folder: Path, *arguments: str) -> Iterator[dict[str, str]]:
    """Start a control plane that the usual client of the tests would not trust."""
    with (folder / "stderr").open("w") as errors:
        process = subprocess.Popen(
            [DESKHAND, *arguments, "--json"], stdout=subprocess.PIPE, stderr=errors, text=True
        )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, (folder / "stderr").read_text()
        yield json.loads(line)
    finally:
        process.terminate()
        process.wait(PATIENCE)
        if process.stdout is not None:
            process.stdout.close()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--listen", "0.0.0.0:0"), "or give --insecure"),
        (("--tls-cert", "/nowhere.pem"), "tls_cert and tls_key are given together"),
        (("--tls-cert", "/nowhere", "--tls-key", "/nowhere"), "/nowhere: No such file"),
        (("--public-url", "desk"), "'desk' is no address such as"),
        (("--trusted-proxy", "proxy"), "'proxy' does not appear to be"),
    ],
)
def test_what_is_unsafe_or_wrong_is_refused_in_one_line(
    arguments: tuple[str, ...], sentence: str, tmp_path: Path
) -> None:
    ended = subprocess.run(
        [DESKHAND, "up", "--data-dir", str(tmp_path / "data"), *arguments],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert ended.returncode == 4, ended
    (line,) = ended.stderr.splitlines()
    assert line.startswith("deskhand: ")
    assert sentence in line
