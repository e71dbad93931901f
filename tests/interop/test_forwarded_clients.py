"""Clients that take a host and a port and send no token, through `deskhand forward`."""

import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

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


FIRST_DISPLAY = 5900
"""Port of display 0."""
SHOWN = "the viewer shows the screen until it is closed"


def shows_the_screen(
    desktop: Service,
    *program: str,
    address: Callable[[str, int], str] = "{}::{}".format,
    environment: Mapping[str, str] | None = None,
) -> None:
    """Have a viewer on another display watch the desktop; ``address`` is its last argument."""
    with forwarding(desktop, "vnc", "--port", "0", "--role", "view") as (_, ready):
        host, port = ready["listen"].split(":")
        command = ["xvfb-run", "-a", *program, address(host, int(port))]
        with subprocess.Popen(
            command, stderr=subprocess.DEVNULL, env={**os.environ, **(environment or {})}
        ) as run:
            try:
                until(lambda: desktop.get("/api/v0/desktop")["watchers"] == 1, "the viewer")
            finally:
                run.terminate()
    until(lambda: desktop.get("/api/v0/desktop")["watchers"] == 0, "the end of the viewer")


@pytest.mark.interop_client(
    "TigerVNC",
    how="`deskhand forward vnc`, then `vncviewer 127.0.0.1:5901`",
    tested=SHOWN,
    version_of=("xtigervncviewer", "--version"),
)
@pytest.mark.slow("starts another display")
def test_tigervnc_shows_the_screen(desktop: Service) -> None:
    shows_the_screen(desktop, "xtigervncviewer")


# It needs a display to print its version.
TIGHTVNC = "command -v xtightvncviewer >/dev/null && xvfb-run -a xtightvncviewer -help"


@pytest.mark.interop_client(
    "TightVNC",
    how="`deskhand forward vnc`, then `xtightvncviewer 127.0.0.1::5901`",
    tested=SHOWN,
    version_of=("sh", "-c", TIGHTVNC),
)
@pytest.mark.slow("starts another display")
def test_tightvnc_shows_the_screen(desktop: Service) -> None:
    shows_the_screen(desktop, "xtightvncviewer")


@pytest.mark.interop_client(
    "GTK-VNC",
    how="`deskhand forward vnc`, then `gvncviewer 127.0.0.1:1`",
    tested=SHOWN,
    version_of=("gvncviewer", "--help"),
)
@pytest.mark.slow("starts another display")
def test_gtk_vnc_shows_the_screen(desktop: Service) -> None:
    shows_the_screen(
        desktop, "gvncviewer", address=lambda host, port: f"{host}:{port - FIRST_DISPLAY}"
    )


@pytest.mark.interop_client(
    "Remmina",
    how="`deskhand forward vnc`, then `remmina -c vnc://127.0.0.1:5901`",
    tested=SHOWN,
    version_of=("remmina", "--version"),
)
@pytest.mark.slow("starts another display")
def test_remmina_shows_the_screen(desktop: Service, tmp_path: Path) -> None:
    # Its settings, and a message bus on which no other Remmina answers.
    own = {"HOME": str(tmp_path), "XDG_RUNTIME_DIR": str(tmp_path)}
    shows_the_screen(
        *(desktop, "dbus-run-session", "--", "remmina", "-c"),
        address="vnc://{}:{}".format,
        environment=own,
    )
