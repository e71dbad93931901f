"""Start the real services, as a user would, and see that nothing of them stays behind."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

DESKHAND = str(Path(sys.executable).with_name("deskhand"))
PATIENCE = 20.0 * float(os.environ.get("DESKHAND_TEST_SLOW", "1"))
"""One generous limit for everything that is waited for, in seconds."""

Json = dict[str, Any]


@dataclass
class Service:
    """A service that answers."""

    process: subprocess.Popen[str]
    ready: Json
    http: httpx2.Client
    errors: Path

    @property
    def url(self) -> str:
        return str(self.ready["url"])

    @property
    def token(self) -> str:
        return str(self.ready["token"])

    def get(self, path: str) -> Json:
        answer = self.http.get(path)
        assert answer.status_code == 200, answer.text
        found: Json = answer.json()
        return found

    def post(self, path: str, body: Json, status: int | None = None) -> Json:
        """Send a body; any success will do unless a status is asked for."""
        answer = self.http.post(path, json=body)
        assert answer.is_success if status is None else answer.status_code == status, answer.text
        found: Json = answer.json()
        return found

    def tool(self, name: str, **arguments: Any) -> Json:
        answer = self.post(f"/api/v0/tools/{name}", arguments)
        assert "result" in answer, answer
        found: Json = answer["result"]
        return found

    def act(self, **action: Any) -> Json:
        return self.post("/api/v0/desktop/action", action)


@contextmanager
def service(
    errors: Path, *arguments: str, environment: dict[str, str] | None = None
) -> Iterator[Service]:
    """Run ``deskhand ARGUMENTS --json`` until the block ends; then it must end cleanly."""
    with errors.open("w") as log:
        process = subprocess.Popen(
            [DESKHAND, *arguments, "--json"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env={**os.environ, **(environment or {})},
        )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, f"not ready: {errors.read_text()}"
        ready = json.loads(line)
        with client(ready) as http:
            yield Service(process, ready, http, errors)
    finally:
        process.terminate()
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise
        finally:
            if process.stdout is not None:
                process.stdout.close()


def client(ready: Json) -> httpx2.Client:
    """Return a client that shows the service's token."""
    headers = {"Authorization": f"Bearer {ready['token']}"}
    address = str(ready["url"])
    if address.startswith("unix:"):
        transport = httpx2.HTTPTransport(uds=address.removeprefix("unix:"))
        return httpx2.Client(
            transport=transport, base_url="http://localhost", headers=headers, timeout=PATIENCE
        )
    return httpx2.Client(base_url=address, headers=headers, timeout=PATIENCE)


def until(true: Callable[[], Any], what: str) -> Any:
    """Return the first true value; for the ends of foreign processes, which send no event."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        found = true()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError(f"did not come: {what}")


def descendants_of(instance: str) -> list[str]:
    """Return the processes that carry a desktop's mark in their environment."""
    mark = f"DESKHAND_INSTANCE={instance}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and mark in (entry / "environ").read_bytes().split(b"\0"):
                found.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except (OSError, ValueError):
            continue
    return [line for line in found if line]
