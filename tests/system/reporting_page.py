"""Web servers of tests on loopback, and a page that reports to its test."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Empty, Queue

from tests.system.services import Json, Service, until

Reports = Queue[tuple[str, str]]
"""Path and body of each POST, in the order in which they came."""
Point = tuple[int, int]
"""A place on the screen, in native pixels."""

REPORT_CORNER = """<script>
addEventListener("mousedown", (event) => fetch("/corner", {method: "POST", body:
  JSON.stringify([event.screenX - event.clientX, event.screenY - event.clientY])}), {once: true});
</script>"""
"""Reports at the first click where the page is on the screen, for `corner_at`."""


class PageHandler(BaseHTTPRequestHandler):
    """Handler of requests that prints nothing; subclasses define ``do_GET`` and ``do_POST``."""

    def body(self) -> str:
        """Read the text that was posted."""
        return self.rfile.read(int(self.headers["Content-Length"] or 0)).decode()

    def answer(self, page: bytes) -> None:
        """Send a page of HTML, in UTF-8."""
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serving(
    handler: Callable[..., BaseHTTPRequestHandler], address: str = "127.0.0.1"
) -> Iterator[int]:
    """Serve requests at an address until the block ends; the value is the port."""
    with ThreadingHTTPServer((address, 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def reporting_page(page: bytes) -> Iterator[tuple[str, Reports]]:
    """Serve a page; the value is its address, and all that is posted there."""
    reports: Reports = Queue()

    class Handler(PageHandler):
        def do_GET(self) -> None:
            self.answer(page if self.path == "/" else b"")

        def do_POST(self) -> None:
            reports.put((self.path, self.body()))
            self.answer(b"")

    with serving(Handler) as port:
        yield f"http://127.0.0.1:{port}/", reports


def focused(desktop: Service, title: str) -> Json:
    """Return the window that has the keyboard if its title begins so; else an empty record."""
    found = desktop.get("/api/v0/desktop/windows")["windows"]
    return next((one for one in found if one["focused"] and one["title"].startswith(title)), {})


def click(at: Point) -> Json:
    """Return the action that clicks there."""
    return {"action": "left_click", "coordinate": at, "coordinate_space": "native"}


def first_report(desktop: Service, at: Point, reports: Reports) -> tuple[str, str]:
    """Click until the page reports: a browser drops input that comes before the first paint."""

    def reported() -> tuple[str, str] | None:
        desktop.act(**click(at))
        with suppress(Empty):
            return reports.get(timeout=1)
        return None

    found: tuple[str, str] = until(reported, "a page that takes clicks")
    return found


def corner_at(desktop: Service, at: Point, reports: Reports) -> Point:
    """Return the upper left corner of the page with `REPORT_CORNER` at a point."""
    path, corner = first_report(desktop, at, reports)
    assert path == "/corner"
    left, top = json.loads(corner)
    return left, top
