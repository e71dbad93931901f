"""What a call costs: our client beside a plain one, and the control plane's processor time.

    python -m bench.calls [COMMAND]

COMMAND is the ``deskhand`` of another checkout, such as the commit before, whose control plane is
measured in the same run. Times over HTTP are medians of calls in turns on open connections;
processor time is that of all processes of a control plane, for each of many calls. Exits 1 when a
goal is missed while the machine is quiet.
"""

import asyncio
import http.client
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil

from bench.fleet import spent
from bench.start import plane
from bench.tables import exit_status, in_turns, is_quiet, save
from deskhand.desktop.client.blocking import BlockingClient
from deskhand.desktop.client.command import service_command
from deskhand.desktop.client.http import DesktopClient
from deskhand.desktop.client.local_service import LocalService
from tests.system.services import DESKHAND, Service

CLICK = {"action": "left_click", "coordinate": [600, 333]}
TYPING = {"action": "type", "text": ("The quick brown fox jumps over the lazy dog. " * 5)[:200]}
ACTION = "/api/v0/desktop/action"
SCREENSHOT = "/api/v0/desktop/screenshot"
REPEATS, CALLS = 60, 200
GOALS = {
    **{"click, ours more than plain": 1.0, "click, plain": 1.8, "typing 200, plain": 8.0},
    **{"unchanged screenshot, ours": 1.2, "chats": 1.0, "proxied": 0.8},
}
"""Milliseconds, at most."""


class Plain:
    """The standard library's client on one connection."""

    def __init__(self, address: str, token: str) -> None:
        self._connection = http.client.HTTPConnection(urlsplit(address).netloc)
        self._fields = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def request(self, method: str, path: str, body: Any = None) -> bytes:
        content = None if body is None else json.dumps(body)
        self._connection.request(method, path, content, self._fields)
        answer = self._connection.getresponse()
        data = answer.read()
        assert answer.status < 400, data
        return data

    def act(self, body: Any) -> Any:
        return json.loads(self.request("POST", ACTION, body))


def of_desktop(address: str, token: str) -> dict[str, float]:
    """Return the median milliseconds of the calls of each client."""
    plain = Plain(address, token)
    with asyncio.Runner() as runner:
        ours = runner.run(_client(address, token))
        with BlockingClient(address, token) as blocking:
            ways: dict[str, Callable[[], Any]] = {
                "click, plain": lambda: plain.act(CLICK),
                "click, ours": lambda: runner.run(ours.action(CLICK)),
                "click, ours without an event loop": lambda: blocking.request(
                    "POST", ACTION, json=CLICK
                ),
                "typing 200, plain": lambda: plain.act(TYPING),
                "unchanged screenshot, plain": lambda: plain.request("GET", SCREENSHOT),
                "unchanged screenshot, ours": lambda: runner.run(ours.screenshot()),
            }
            found = in_turns(ways, REPEATS)
        runner.run(ours.close())
    more = found["click, ours without an event loop"] - found["click, plain"]
    return {**found, "click, ours more than plain": round(more, 3)}


async def _client(address: str, token: str) -> DesktopClient:
    return DesktopClient(address, token)


@contextmanager
def processor_time(processes: list[psutil.Process], calls: int) -> Iterator[dict[str, float]]:
    """Yield a dictionary that gets ``ms``, the processor time of a call."""
    found: dict[str, float] = {}
    before = sum(map(spent, processes))
    yield found
    found["ms"] = round(1000 * (sum(map(spent, processes)) - before) / calls, 2)


def cost_of_reads(plain: Plain, processes: list[psutil.Process], path: str) -> float:
    """Return the milliseconds of processor time of a GET request; the first ones do not count."""
    for _ in range(CALLS // 10):
        plain.request("GET", path)
    with processor_time(processes, CALLS) as taken:
        for _ in range(CALLS):
            plain.request("GET", path)
    return taken["ms"]


def of_plane(control_plane: Service) -> dict[str, float]:
    """Return the milliseconds of processor time of each kind of call."""
    top = psutil.Process(control_plane.process.pid)
    processes = [top, *top.children(recursive=True)]
    desktop = control_plane.post("/api/v0/desktops", {})
    proxied = f"/api/v0/desktops/{desktop['id']}/desktop/pointer"
    plain = Plain(control_plane.url, control_plane.token)
    paths = {"health": "/healthz", "chats": "/api/v0/chats", "proxied": proxied}
    found = {name: cost_of_reads(plain, processes, path) for name, path in paths.items()}
    assert control_plane.http.delete(f"/api/v0/desktops/{desktop['id']}").is_success
    return found


def main(*other: str) -> int:
    child = LocalService(service_command("--json"))
    try:
        calls = of_desktop(*child.open())
    finally:
        child.close()
    planes = {}
    for name, command in {"ours": DESKHAND, **({"before": other[0]} if other else {})}.items():
        with tempfile.TemporaryDirectory(prefix="deskhand-", dir="/tmp") as folder:
            Path(folder).chmod(0o711)
            with plane(Path(folder), command, "off") as control_plane:
                planes[name] = of_plane(control_plane)
    for title, rows in {"calls to a desktop": calls, **planes}.items():
        print(f"{title}:")
        for name, value in rows.items():
            goal = f"  (goal: {GOALS[name]:g})" if name in GOALS and title != "before" else ""
            print(f"  {name:36} {value:8.2f} ms{goal}")
    save("calls", {"goals": GOALS, "desktop_ms": calls, "plane_cpu_ms": planes})
    measured = calls | planes["ours"]
    missed = [name for name, most in GOALS.items() if measured[name] > most]
    return exit_status(missed, quiet=is_quiet())


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
