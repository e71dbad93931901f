"""Clients without a credential attack the port of a control plane."""

import socket
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest

from tests.live_trees import statuses_below
from tests.system.services import DESKHAND, PATIENCE, Service, service

pytestmark = pytest.mark.attack

FEW = 256
"""Open files of a control plane that is short of them."""
PEERS = [f"127.0.0.{number}" for number in range(2, 10)]
HEAD = b"POST /api/v0/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


@contextmanager
def control_plane(folder: Path, files: int) -> Iterator[Service]:
    program = ("prlimit", f"--nofile={files}:{files}", DESKHAND)
    arguments = ("up", "--listen", "127.0.0.1:0", "--data-dir", str(folder / "data"))
    with service(folder / "errors.log", *arguments, program=program) as found:
        yield found


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with control_plane(tmp_path_factory.mktemp("edge"), 4096) as found:
        yield found


def opened(plane: Service, peer: str = "127.0.0.1", patience: float = PATIENCE) -> socket.socket:
    url = urlsplit(plane.url)
    assert url.hostname is not None
    assert url.port is not None
    return socket.create_connection((url.hostname, url.port), patience, (peer, 0))


def asked(plane: Service, request: bytes) -> bytes:
    """Send bytes, and return the status line of the answer."""
    with opened(plane) as connection:
        connection.sendall(request)
        return connection.makefile("rb").readline()


def is_closed(connection: socket.socket) -> bool:
    connection.setblocking(False)
    try:
        return connection.recv(1) == b""
    except BlockingIOError:
        return False
    except ConnectionError:
        return True


@pytest.mark.slow("opens 400 connections to a control plane of its own")
def test_silent_connections_leave_descriptors_for_a_signed_in_page(tmp_path: Path) -> None:
    with control_plane(tmp_path, FEW) as plane, ExitStack() as flood:
        # The control: before the flood the page loads.
        assert plane.http.get("/").status_code == 200
        for _ in range(50):
            for peer in PEERS:
                flood.enter_context(opened(plane, peer))
        with httpx2.Client(base_url=plane.url, headers=plane.http.headers, timeout=PATIENCE) as new:
            assert new.get("/").status_code == 200
            assert new.get("/api/v0/status").status_code == 200
            assert new.get("/assets/home.js").status_code == 200


def test_one_peer_has_at_most_64_waiting_connections(plane: Service) -> None:
    with ExitStack() as stack:
        waiting = [stack.enter_context(opened(plane, "127.0.0.20")) for _ in range(100)]
        # The answer comes after the connections were accepted, in their order.
        assert plane.http.get("/").status_code == 200
        still_open = [one for one in waiting if not is_closed(one)]
        assert len(still_open) <= 64
        # The newest ones are served.
        waiting[-1].setblocking(True)
        waiting[-1].settimeout(PATIENCE)
        waiting[-1].sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert b" 200 " in waiting[-1].makefile("rb").readline()


@pytest.mark.full
@pytest.mark.slow("the limit of a silent body is 30 s")
def test_headers_and_bodies_that_do_not_come_end_their_connection(plane: Service) -> None:
    # Longer than the limits of 15 s and 30 s: what is asserted is the end, not its time.
    patience = 3 * PATIENCE
    with (
        opened(plane, patience=patience) as silent,
        opened(plane, patience=patience) as headers,
        opened(plane, patience=patience) as body,
    ):
        headers.sendall(HEAD + b"X-Never: ")
        body.sendall(HEAD + b"Content-Length: 100\r\n\r\n{")
        assert silent.recv(1) == b""
        assert headers.makefile("rb").readline() == b"HTTP/1.1 408 Request Timeout\r\n"
        assert b" 408 " in body.makefile("rb").readline()


def test_a_sign_in_is_at_most_4_kib(plane: Service) -> None:
    # The control: a wrong code of an ordinary length is only wrong.
    for size, status in ((100, 401), (5000, 413)):
        answer = httpx2.post(
            f"{plane.url}/api/v0/login", json={"code": "x" * size}, timeout=PATIENCE
        )
        assert answer.status_code == status, answer.text


@pytest.mark.parametrize(
    ("target", "host", "status"),
    [
        ("/healthz", "localhost", 200),
        ("/healthz", "me@localhost", 421),
        ("/healthz", "evil.example:80@localhost", 421),
        ("/healthz", "localhost/@evil.example", 421),
        ("http://localhost/healthz", "localhost", 200),
        ("http://localhost/healthz", "evil.example", 200),
        ("http://evil.example/healthz", "localhost", 421),
        ("http://me@localhost/healthz", "localhost", 421),
    ],
)
def test_a_request_must_name_an_allowed_host(
    plane: Service, target: str, host: str, status: int
) -> None:
    answer = asked(plane, f"GET {target} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
    assert f" {status} ".encode() in answer, answer


def test_pages_keep_other_origins_and_devices_away(plane: Service) -> None:
    headers = plane.http.get("/").headers
    assert headers["cross-origin-opener-policy"] == "same-origin"
    assert "camera=()" in headers["permissions-policy"]


def test_the_data_directory_is_closed_to_other_users(tmp_path: Path) -> None:
    data = tmp_path / "data"
    (data / "logs").mkdir(parents=True)
    (data / "logs" / "access.jsonl").write_text("")
    (data / "token").write_text("dh_" + "x" * 40)
    for path, mode in ((data, 0o755), (data / "logs", 0o755), (data / "token", 0o644)):
        path.chmod(mode)
    with control_plane(tmp_path, 4096) as plane:
        statuses = {data: data.stat()} | statuses_below(data)
        opened_paths = [path for path, found in statuses.items() if found.st_mode & stat.S_IRWXO]
        assert data.stat().st_mode & 0o077 == 0
        assert data / "token" not in opened_paths
        assert data / "logs" / "access.jsonl" not in opened_paths
        assert f"{data / 'token'}: other users could" in plane.errors.read_text()
