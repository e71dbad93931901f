"""Start the real services, as a user would, and see that nothing of them stays behind."""

import atexit
import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

from deskhand.desktop.launch_port.fork_launch import MODE
from deskhand.vncbridge.auth.request_headers import PAGE_KEY
from tests.system.forked import ForkedProcess, fork_desktop
from tests.system.forked_planes import fork_plane
from tests.system.loaded import address

DESKHAND = str(Path(sys.executable).with_name("deskhand"))
SLOWNESS = float(os.environ.get("DESKHAND_TEST_SLOW", "1"))
"""Factor by which this machine may be slower than two idle cores."""
PATIENCE = 20.0 * SLOWNESS
"""One generous limit for everything that is waited for, in seconds."""

X_SOCKETS = Path("/tmp/.X11-unix")
ABOVE_ALL_DISPLAYS = 100_000
"""Above each number of a display that an X server chooses."""

Json = dict[str, Any]


@dataclass
class Service:
    """A service that answers."""

    process: "Process"
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
        # A wait is answered in time, but not before.
        patience = PATIENCE + arguments.get("timeout_seconds", 0)
        path = f"/api/v0/tools/{name}"
        answer = self.http.post(path, json=arguments, timeout=patience).json()
        assert "result" in answer, answer
        found: Json = answer["result"]
        return found

    def recorded_run(self) -> str:
        """Return the chat of a run that has ended, with its recording."""
        spawned = self.tool("spawn_computer_use_agent", prompt="show the date", title="The date")
        chat = str(spawned["chat_id"])
        assert self.tool("wait_agent", chat_id=chat, timeout_seconds=90)["recording_file_id"]
        return chat

    def act(self, **action: Any) -> Json:
        return self.post("/api/v0/desktop/action", action)


Process = subprocess.Popen[str] | ForkedProcess
EXECUTED = "DESKHAND_TEST_EXECUTED"
"""Variable that is set to execute all services and fork none."""


def _started(
    errors: Path,
    arguments: Sequence[str],
    environment: dict[str, str],
    program: Sequence[str],
    host: int | None,
) -> Process:
    is_desktop = arguments[0] == "desktop" and "--attach" not in arguments
    if is_desktop and not program and EXECUTED not in os.environ:
        return fork_desktop([*arguments[1:], "--json"], errors, environment, host)
    if arguments[0] == "up" and not program and EXECUTED not in os.environ:
        return fork_plane([*arguments, "--json"], errors, environment)
    with errors.open("w") as log:
        return subprocess.Popen(
            [*(program or (DESKHAND,)), *arguments, "--json"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env=environment,
        )


@contextmanager
def service(
    errors: Path,
    *arguments: str,
    environment: dict[str, str] | None = None,
    program: Sequence[str] = (),
    host: int | None = None,
) -> Iterator[Service]:
    """Run ``deskhand ARGUMENTS --json`` until the block ends; then it must end cleanly.

    A desktop or a control plane is forked where no program is given to execute; for ``host`` see
    ``fork_desktop``. So are the desktops of the control plane, unless ``environment`` says how
    they are started (`MODE`).
    """
    chosen = {**os.environ, **(environment or {})}
    if arguments[0] == "up" and not program and EXECUTED not in os.environ:
        chosen[MODE] = (environment or {}).get(MODE) or str(address("desktops"))
    process = _started(errors, arguments, chosen, program, host)
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


@contextmanager
def child(*command: str, environment: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """Run a command until the block ends, and reap it however the block ends."""
    with subprocess.Popen(command, env=environment) as process:
        try:
            yield process
        finally:
            process.kill()


def client(ready: Json, verify: ssl.SSLContext | bool = True) -> httpx2.Client:
    """Return a client that shows the service's token."""
    headers = {"Authorization": f"Bearer {ready['token']}"}
    address = str(ready["url"])
    if address.startswith("unix:"):
        transport = httpx2.HTTPTransport(uds=address.removeprefix("unix:"))
        return httpx2.Client(
            transport=transport, base_url="http://localhost", headers=headers, timeout=PATIENCE
        )
    return httpx2.Client(base_url=address, headers=headers, timeout=PATIENCE, verify=verify)


def sign_in_with(browser: httpx2.Client, secret: str) -> httpx2.Response:
    """Trade a code or a token for a session: a cookie, and a key that each later request has."""
    answer = browser.post("/api/v0/login", json={"code": secret})
    if answer.is_success:
        browser.headers[PAGE_KEY] = answer.json()["page_key"]
    return answer


def until(
    true: Callable[[], Any], what: str, seconds: float = PATIENCE, pause: float = 0.02
) -> Any:
    """Return the first true value; for the ends of foreign processes, which send no event.

    It looks again after each ``pause``.
    """
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = true()
        if found:
            return found
        time.sleep(pause)
    raise AssertionError(f"did not come: {what}")


@contextmanager
def reserved_port() -> Iterator[int]:
    """Yield a port of loopback which the kernel gives to no other socket while the block runs.

    A server with SO_REUSEADDR can bind it all the same (socket(7)): this socket does not listen. A
    port that was only seen to be free may be that of another connection when the server binds it.
    """
    with socket.socket() as bound:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(("127.0.0.1", 0))
        yield int(bound.getsockname()[1])


class SharedDesktop:
    """One desktop service for several tests; the next of them gets a new one if it ended."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stack = ExitStack()
        self._started = 0
        self._service: Service | None = None

    def __enter__(self) -> "SharedDesktop":
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def running(self) -> Service:
        """Return the service, started if need be."""
        if self._service is None:
            self._started += 1
            errors = self._folder / f"errors-{self._started}.log"
            self._service = self._stack.enter_context(tidy(errors))
        return self._service

    def clear(self) -> None:
        """End what a test left going: recordings, control, secrets, commands and their windows."""
        found = self._service
        if found is None or _has_ended(found.process):
            self._end()
            return
        for recording in found.get("/api/v0/desktop")["recording_ids"]:
            found.post("/api/v0/desktop/recording/stop", {"recording_id": recording})
        for left in ("lease", "secrets"):
            assert found.http.delete(f"/api/v0/desktop/{left}").is_success
        instance = found.get("/api/v0/desktop")["instance_id"]
        for pid, _ in marked(instance, b"DESKHAND_PROCESS="):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        until(lambda: not marked(instance, b"DESKHAND_PROCESS="), "the end of all commands")
        until(lambda: not closed(found), "the end of windows")

    def _end(self) -> None:
        self._service = None
        self._stack.close()


def _has_ended(process: Process) -> bool:
    try:
        process.wait(0)
    except subprocess.TimeoutExpired:
        return False
    return True


def closed(found: Service) -> list[int]:
    """Kill the owners of windows; a browser overwrites the environment that would mark it."""
    owners = [window["pid"] for window in found.get("/api/v0/desktop/windows")["windows"]]
    for pid in filter(None, owners):
        with suppress(ProcessLookupError):
            os.kill(host_pid(found, pid), signal.SIGKILL)
    return owners


def service_pid(keeper: int) -> int:
    """Return the process of the service below a keeper: its child, or that of init."""
    pid = keeper
    while b"launch/__main__.py" in Path(f"/proc/{pid}/cmdline").read_bytes():
        pid = int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])
    return pid


def x_display(desktop: Service) -> tuple[str, Path]:
    """Return the display name and the trusted cookie's file by which the host reaches a display.

    The X server listens at a place of the desktop's own: a link leads there until this process
    ends.
    The name is none of the desktop's own number, which another X server of the host may have.
    """
    display = str(desktop.get("/api/v0/desktop")["display"])
    started = desktop.post("/api/v0/processes/start", {"command": "echo $HOME"})
    answer = desktop.get(f"/api/v0/processes/{started['id']}/output?wait=true")
    keeper = desktop.ready["pid"]
    link = X_SOCKETS / f"X{ABOVE_ALL_DISPLAYS + keeper}"
    folder = Path(str(answer["output"]).strip()).parent
    filtered = [folder / "run" / place / "x11.sock" for place in ("browser", "service")]
    inside = f"/proc/{service_pid(keeper)}/root{X_SOCKETS}/{display.replace(':', 'X')}"
    link.unlink(missing_ok=True)
    link.symlink_to(next((str(one) for one in filtered if one.exists()), inside))
    atexit.register(link.unlink, missing_ok=True)
    # The entries of this file are for displays of any number.
    return link.name.replace("X", ":"), folder / "run" / "service" / "Xauthority"


def host_pid(desktop: Service, inside: int) -> int:
    """Return the pid, on the host, of a process that the desktop knows by another one.

    Raises:
        ProcessLookupError: If there is no such process.
    """
    namespace = Path(f"/proc/{service_pid(desktop.ready['pid'])}/ns/pid").readlink()
    for entry in list(Path("/proc").iterdir()):
        with suppress(OSError):
            if entry.name.isdigit() and (entry / "ns" / "pid").readlink() == namespace:
                line = (entry / "status").read_text().partition("\nNSpid:")[2].partition("\n")[0]
                if int(line.split()[-1]) == inside:
                    return int(entry.name)
    raise ProcessLookupError(inside)


@contextmanager
def tidy(errors: Path, *options: str) -> Iterator[Service]:
    """Run a desktop service of which nothing may stay behind."""
    with service(errors, "desktop", *options) as found:
        instance = found.get("/api/v0/desktop")["instance_id"]
        yield found
    until(lambda: not descendants_of(instance), "the end of everything the desktop started")


def unprivileged() -> tuple[str, ...]:
    """Return the command line of the program without privileges."""
    if os.geteuid() != 0:
        return (DESKHAND,)
    # An interpreter in root's home can be read all the same.
    return ("unshare", "--user", "--map-user=65534", "--map-group=65534", DESKHAND)


@contextmanager
def at_level_shared(errors: Path) -> Iterator[Service]:
    """Run a desktop service as a user without privileges."""
    # A short path: the desktop binds sockets below it.
    with tempfile.TemporaryDirectory(prefix="deskhand-", dir="/tmp") as folder:
        environment = {"HOME": folder, "DESKHAND_RUN_DIR": f"{folder}/run"}
        with service(errors, "desktop", environment=environment, program=unprivileged()) as found:
            yield found


def descendants_of(instance: str) -> list[str]:
    """Return the command lines of the processes that carry a desktop's mark."""
    return [line for _, line in marked(instance)]


def marked(instance: str, beside: bytes = b"") -> list[tuple[int, str]]:
    """Return the processes with a desktop's mark, and another, in their environment."""
    mark = f"DESKHAND_INSTANCE={instance}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if not entry.name.isdigit():
                continue
            environment = (entry / "environ").read_bytes().split(b"\0")
            if mark in environment and any(pair.startswith(beside) for pair in environment):
                line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                found.append((int(entry.name), line))
        except (OSError, ValueError):
            continue
    return [one for one in found if one[1]]
