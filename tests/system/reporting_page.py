"""Web servers of tests on loopback, and a page that reports to its test."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Queue

Reports = Queue[tuple[str, str]]
"""Path and body of each POST, in the order in which they came."""


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
