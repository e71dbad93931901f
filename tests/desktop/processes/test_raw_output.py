"""All bytes of an output, for programs."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import httpx2
import pytest

from deskhand.desktop.processes.registry import ProcessSettings
from tests.desktop.processes.service import Service, running

NUMBERS = "".join(f"{one}\n" for one in range(1, 200_001)).encode()
LINE = b'{"text": "' + b"x" * 2_034 + b'"}\n'
BYTES = bytes(range(256)) * 3


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    settings = ProcessSettings(output_folder=tmp_path_factory.mktemp("copies"))
    with running(settings) as found:
        yield found


@pytest.fixture(scope="module")
def bare() -> Iterator[Service]:
    """A service without a folder for copies."""
    with running(ProcessSettings()) as found:
        yield found


def ended(service: Service, command: str, **more: object) -> str:
    body = {"command": command, **more}
    answer = service.request("POST", "/api/v0/processes/start", json=body)
    process = str(answer.json()["id"])
    assert read(service, process, {"wait": "true"}).json()["running"] is False
    return process


def read(
    service: Service,
    process: str,
    query: Mapping[str, str] | None = None,
    span: str = "",
) -> httpx2.Response:
    params = {"raw": "true"} if query is None else query
    headers = {"Range": f"bytes={span}"} if span else {}
    path = f"/api/v0/processes/{process}/output"
    return service.request("GET", path, params=params, headers=headers)


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("seq 1 200000", NUMBERS),
        (f"printf '%s\\n' '{LINE.decode().strip()}'", LINE),
        ("printf '" + "".join(f"\\{one:03o}" for one in BYTES) + "'", BYTES),
        ("true", b""),
    ],
    ids=["long", "a long line", "bytes", "nothing"],
)
def test_every_byte_is_there(service: Service, command: str, expected: bytes) -> None:
    found = read(service, ended(service, command))
    assert (found.status_code, found.headers["content-type"]) == (200, "application/octet-stream")
    assert found.content == expected
    assert found.headers["deskhand-total-bytes"] == str(len(expected))


def test_ranges_and_a_limit_give_a_part(service: Service) -> None:
    process = ended(service, "seq 1 200000")
    middle = read(service, process, span="500000-500009")
    assert (middle.status_code, middle.content) == (206, NUMBERS[500_000:500_010])
    assert read(service, process, span="-7").content == b"200000\n"
    assert read(service, process, span=f"{len(NUMBERS)}-").status_code == 416
    limited = read(service, process, {"raw": "true", "limit": "9"})
    assert limited.content == NUMBERS[:9]
    assert limited.headers["deskhand-total-bytes"] == str(len(NUMBERS))
    # A range of no more than the limit.
    part = read(service, process, {"raw": "true", "limit": "9"}, span="4-100")
    assert (part.status_code, part.content) == (206, NUMBERS[4:9])


def test_the_output_of_a_running_process_is_that_up_to_now(service: Service) -> None:
    body = {"command": "echo begun; read line; echo $line", "stdin": True}
    started = service.request("POST", "/api/v0/processes/start", json=body).json()["id"]
    read(service, started, {"wait_for": "output", "cursor": "0"})
    assert read(service, started).content == b"begun\n"
    path = f"/api/v0/processes/{started}/input"
    service.request("POST", path, json={"data": "more\n", "close": True})
    waited = read(service, started, {"raw": "true", "wait": "true"})
    assert waited.content == b"begun\nmore\n"


def test_a_cursor_is_refused(service: Service) -> None:
    refused = read(service, ended(service, "true"), {"raw": "true", "cursor": "0"})
    assert refused.status_code == 400
    assert "ranges" in refused.json()["detail"]


def test_without_a_copy_a_short_output_comes_from_memory(bare: Service) -> None:
    assert read(bare, ended(bare, "seq 1 5000")).content == NUMBERS[:23_893]
    assert read(bare, ended(bare, "seq 1 5000"), {"raw": "true", "limit": "3"}).content == b"1\n2"
    refused = read(bare, ended(bare, "seq 1 200000"))
    assert (refused.status_code, refused.json()["detail"]) == (409, "There is no copy.")


def test_the_copy_of_a_caller_is_not_read(service: Service, tmp_path: Path) -> None:
    file = tmp_path / "mine"
    refused = read(service, ended(service, "seq 1 200000", output_path=str(file)))
    assert refused.status_code == 409
    assert str(file) in refused.json()["detail"]
    assert re.fullmatch(r"Not all .* kept\.", refused.json()["message"])
