"""A person in private uses what a browser has beside plain fields: all keys arrive."""

import asyncio
import base64
from collections.abc import Iterator
from pathlib import Path
from queue import Queue

import pytest

from tests.attack.test_private_take_over import give_back, in_private, typed
from tests.system.reporting_page import PageHandler, serving
from tests.system.services import PATIENCE, Service, tidy
from tests.system.watching import played
from tests.vncbridge.rfb.client_messages import tap, with_control

pytestmark = [pytest.mark.x11, pytest.mark.root, pytest.mark.full]

TAB, E_ACUTE, F2 = 0xFF09, 0xE9, 0xFFBF
"""A viewer composes dead keys itself, and sends the character."""
PAGE = b"""<!doctype html><meta charset=utf-8><title>fields</title>
<select><option>none<option>beta</select><input type=date><input id=first><input id=second>
<script>
const fields = [...document.querySelectorAll("select, input")];
onload = () => { fields[0].focus(); fetch("/loaded", {method: "POST"}); };
fields[3].onkeyup = (event) => event.key === "F2" &&
  fetch("/values", {method: "POST", body: fields.map((one) => one.value).join(" ")});
</script>"""


class Site(PageHandler):
    """Pages with fields, and one that demands a sign-in of HTTP."""

    asked: Queue[str]

    def do_GET(self) -> None:
        if self.path == "/favicon.ico":
            return self.answer(b"")
        given = self.headers["Authorization"]
        if self.path == "/locked" and not given:
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="test"')
            self.send_header("Content-Length", "0")
            self.end_headers()
            self.asked.put("sign-in")
            return None
        if given:
            self.asked.put(base64.b64decode(given.removeprefix("Basic ")).decode())
        elif self.path != "/":
            self.asked.put(self.path)
        return self.answer(PAGE if self.path == "/" else b"<title>other</title>")

    def do_POST(self) -> None:
        self.asked.put(self.body() or self.path)
        self.answer(b"")


@pytest.fixture
def desktop(tmp_path: Path) -> Iterator[Service]:
    with tidy(tmp_path / "errors.log") as found:
        yield found


@pytest.mark.slow("a person who types")
def test_all_keys_of_a_person_in_private_arrive(desktop: Service) -> None:
    Site.asked = Queue()

    async def next_asked() -> str:
        return await asyncio.to_thread(Site.asked.get, timeout=3 * PATIENCE)

    async def act(port: int) -> None:
        async with in_private(desktop) as socket:
            await typed(socket, "beta")
            await socket.send(tap(TAB))
            await typed(socket, "12312026")
            # The date has a button for its calendar.
            await socket.send(tap(TAB, TAB, E_ACUTE) + with_control("a"))
            await socket.send(with_control("c") + tap(TAB) + with_control("v"))
            await socket.send(tap(F2))
            assert await next_asked() == "beta 2026-12-31 é é"
            await socket.send(with_control("l"))
            await typed(socket, f"127.0.0.1:{port}/address\n")
            assert await next_asked() == "/address"
            await socket.send(with_control("t"))
            await typed(socket, f"127.0.0.1:{port}/tab\n")
            assert await next_asked() == "/tab"
            await socket.send(with_control("l"))
            await typed(socket, f"127.0.0.1:{port}/locked\n")
            assert await next_asked() == "sign-in"
            await typed(socket, "ann")
            await socket.send(tap(TAB))
            await typed(socket, "S3cret\n")
            assert await next_asked() == "ann:S3cret"

    with serving(Site) as port:
        url = f"http://127.0.0.1:{port}/"
        desktop.post("/api/v0/processes/start", {"command": f"exec browser {url}"})
        assert Site.asked.get(timeout=3 * PATIENCE) == "/loaded"
        played(act(port))
        give_back(desktop)
