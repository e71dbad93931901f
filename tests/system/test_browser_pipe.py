"""The debugging pipe of a desktop's browser, as pages see it."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Queue

import psutil
import pytest

from tests.system.services import PATIENCE, Json, Service

pytestmark = [pytest.mark.x11, pytest.mark.root]

PAGE = b"""<!doctype html><script>
onload = () => fetch("/seen", { method: "POST", body: JSON.stringify({
  webdriver: navigator.webdriver, above: outerHeight - innerHeight }) });
</script>"""
TOOLBARS = 120
"""CSS pixels of tabs and address bar, without the bar of a warning, which takes 56 more."""


@contextmanager
def reporting_page() -> Iterator[tuple[str, "Queue[Json]"]]:
    """Serve a page that reports what it sees of the browser."""
    seen: Queue[Json] = Queue()

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(PAGE)

        def do_POST(self) -> None:
            seen.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self._answer(b"")

        def _answer(self, content: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/", seen
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def command_lines(desktop: Service) -> list[str]:
    found = []
    for process in psutil.Process(desktop.ready["pid"]).children(recursive=True):
        # A browser has processes that end at once.
        with suppress(psutil.NoSuchProcess):
            found.append(" ".join(process.cmdline()))
    return found


def test_pages_do_not_see_the_debugging_pipe(desktop: Service) -> None:
    with reporting_page() as (url, seen):
        desktop.post("/api/v0/processes/start", {"command": f"exec browser {url}"})
        report = seen.get(timeout=4 * PATIENCE)
    browsers = [
        line for line in command_lines(desktop) if url in line and "--remote-debugging-pipe" in line
    ]
    assert browsers
    assert report["webdriver"] is False
    assert report["above"] < TOOLBARS
    # No port, which programs of the agent could reach.
    assert not any("--remote-debugging-port" in line for line in command_lines(desktop))
