"""A control plane with canned answers, for commands that run in the process of the test."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

TOKEN = "dh_of_the_test"


@dataclass
class Answer:
    """A canned answer."""

    body: Any = None
    status: int = 200
    kind: str = "application/json"


@dataclass
class FakePlane:
    """Answers of a control plane by method and path, and the requests that it received."""

    folder: Path
    answers: dict[tuple[str, str], Answer] = field(default_factory=dict)
    requests: list[tuple[str, str, Any]] = field(default_factory=list)
    url: str = ""

    @property
    def options(self) -> list[str]:
        """The options by which a command uses it."""
        return ["--url", self.url, "--data-dir", str(self.folder)]

    def answer(self, method: str, path: str, body: Any = None, status: int = 200) -> None:
        """Set the answer of a route."""
        self.answers[method, path] = Answer(body, status)

    def sent(self, method: str) -> list[tuple[str, Any]]:
        """Return path and body of the requests with a method."""
        return [(path, body) for one, path, body in self.requests if one == method]


@contextmanager
def fake_plane(folder: Path) -> Iterator[FakePlane]:
    """Serve a fake control plane on a free port."""
    plane = FakePlane(folder)
    (folder / "token").write_text(TOKEN)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _serve(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            path = self.path.partition("?")[0]
            sent: Any = body
            if self.headers.get("Content-Type") == "application/json":
                sent = json.loads(body)
            plane.requests.append((self.command, self.path, sent))
            missing = Answer({"message": f"{path} not found."}, 404)
            found = plane.answers.get((self.command, path), missing)
            if isinstance(found.body, bytes):
                content, kind = found.body, found.kind
            else:
                content, kind = json.dumps(found.body).encode(), "application/json"
            if found.status == 204:
                content = b""
            self.send_response(found.status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PUT = do_DELETE = _serve  # noqa: N815 - names of the base class

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        plane.url = f"http://127.0.0.1:{server.server_port}"
        serving = threading.Thread(target=server.serve_forever, args=(0.01,))
        serving.start()
        try:
            yield plane
        finally:
            server.shutdown()
            serving.join()
