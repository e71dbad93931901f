"""Clients that take a host and a port and send no token, through `deskhand forward`."""

import subprocess

import pytest

from tests.interop.clients import Clients
from tests.system.reporting_page import reporting_page
from tests.system.services import Service, until
from tests.system.test_forward import forwarding

PAGE = b"""<!doctype html><title>Form</title><input><button>Send</button><p></p>
<script>document.querySelector("button").onclick = () => {
  document.querySelector("p").textContent = document.querySelector("input").value;
}</script>"""


@pytest.mark.interop_client(
    "playwright",
    how="`deskhand forward cdp`, then `connect_over_cdp('http://127.0.0.1:9222')`",
    tested="a page is opened in the desktop's browser, filled in and read",
)
@pytest.mark.slow("starts the browser of a desktop")
def test_playwright_works_in_the_desktops_browser(interop: Clients, desktop: Service) -> None:
    with (
        forwarding(desktop, "cdp", "--port", "0") as (_, ready),
        reporting_page(PAGE) as (url, _),
    ):
        printed = interop.run("cdp_client.py", f"http://{ready['listen']}", url).stdout
    assert printed == "Grüße"


@pytest.mark.interop_client(
    "asyncvnc2",
    how="`deskhand forward vnc`, then `asyncvnc2.connect('127.0.0.1', 5901)`",
    tested="the screen is read, and the pointer is moved as an agent",
)
def test_asyncvnc2_moves_the_pointer(interop: Clients, desktop: Service) -> None:
    with forwarding(desktop, "vnc", "--port", "0", "--role", "agent") as (_, ready):
        host, port = ready["listen"].split(":")
        assert interop.run("vnc_client.py", host, port, "321", "654").stdout == "1920x1080"
    assert desktop.act(action="cursor_position")["native_point"] == [321, 654]


@pytest.mark.interop_client(
    "vncdotool",
    how="`deskhand forward vnc --role agent`, then `vncdo -s 127.0.0.1::5901`",
    tested="the pointer is moved",
)
def test_vncdotool_moves_the_pointer(interop: Clients, desktop: Service) -> None:
    with forwarding(desktop, "vnc", "--port", "0", "--role", "agent") as (_, ready):
        server = ready["listen"].replace(":", "::")
        interop.run("vncdo", "-s", server, "move", "123", "456")
    assert desktop.act(action="cursor_position")["native_point"] == [123, 456]


@pytest.mark.interop_client(
    "TigerVNC",
    how="`deskhand forward vnc`, then `vncviewer 127.0.0.1:5901`",
    tested="the viewer shows the screen until it is closed",
    version_of=("xtigervncviewer", "--version"),
)
@pytest.mark.slow("starts another display")
def test_tigervnc_shows_the_screen(desktop: Service) -> None:
    with (
        forwarding(desktop, "vnc", "--port", "0", "--role", "view") as (_, ready),
        subprocess.Popen(
            ["xvfb-run", "-a", "xtigervncviewer", ready["listen"].replace(":", "::")],
            stderr=subprocess.PIPE,
            text=True,
        ) as viewer,
    ):
        try:
            until(lambda: desktop.get("/api/v0/desktop")["watchers"] == 1, "the viewer")
        finally:
            viewer.terminate()
