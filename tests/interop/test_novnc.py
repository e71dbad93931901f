"""noVNC as npm publishes it, in a page of another origin."""

from functools import partial
from http.server import SimpleHTTPRequestHandler
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

from tests.interop.clients import clients
from tests.system.browsing import running_chromium
from tests.system.reporting_page import serving
from tests.system.services import PATIENCE, Service

PACKAGE = clients().folder / "npm/node_modules/@novnc/novnc"
PAGE = """<!doctype html><title>Foreign</title>
<div id=screen style="width: 1280px; height: 720px"></div>
<script type=module>
import RFB from "/core/rfb.js";
const parameters = new URLSearchParams(location.hash.slice(1));
const rfb = new RFB(document.getElementById("screen"), parameters.get("stream"));
rfb.scaleViewport = true;
rfb.addEventListener("connect", () => document.title = "Connected");
rfb.addEventListener("disconnect", () => document.title = "Disconnected");
</script>"""


class Quiet(SimpleHTTPRequestHandler):
    """Serves a directory and prints nothing."""

    def log_message(self, *_: object) -> None:
        pass


@pytest.mark.interop_client(
    "noVNC",
    how="a ticket whose `origin` is that of the page, then `vnc?ticket=...`",
    tested="the screen is shown in a page of another origin, and without the ticket it is not",
    version_of=("node", "-p", f"JSON.parse(fs.readFileSync('{PACKAGE}/package.json')).version"),
)
@pytest.mark.slow("starts a browser")
def test_a_page_of_another_origin_shows_the_screen(desktop: Service, tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text(PAGE)
    for name in ("core", "vendor"):
        (tmp_path / name).symlink_to(PACKAGE / name)
    with (
        serving(partial(Quiet, directory=str(tmp_path))) as port,
        running_chromium(tmp_path / "profile") as address,
        sync_playwright() as playwright,
    ):
        page = playwright.chromium.connect_over_cdp(address).new_page()
        origin = f"http://127.0.0.1:{port}"
        for named, title in (({"origin": origin}, "Connected"), ({}, "Disconnected")):
            made = desktop.post("/api/v0/desktop/tickets", {"role": "view", **named}, status=201)
            stream = f"{desktop.url.replace('http', 'ws', 1)}/api/v0/desktop/vnc"
            page.goto("about:blank")
            page.goto(f"{origin}/#stream={stream}?ticket={made['ticket']}")
            page.wait_for_function(f"document.title === '{title}'", timeout=1000 * PATIENCE)
