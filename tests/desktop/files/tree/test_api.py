from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.desktop.processes.service import Service, running


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with running() as found:
        yield found


def asked(service: Service, method: str, name: str, **request: Any) -> tuple[int, Any]:
    answer = service.request(method, f"/api/v0/{name}", **request)
    return answer.status_code, answer.json()


def test_a_tree_is_made_extended_and_removed(service: Service, tmp_path: Path) -> None:
    folder, file = {"path": str(tmp_path / "a/b")}, {"path": str(tmp_path / "a/b/file")}
    assert asked(service, "POST", "make-directory", params=folder)[0] == 200
    for _ in range(2):
        status, value = asked(service, "POST", "append-file", params=file, content=b"x" * 100_000)
        assert (status, value["bytes"]) == (200, 100_000)
    found = {"kind": "file", "bytes": 200_000, **file}
    assert asked(service, "GET", "file-status", params=file) == (200, found)
    assert asked(service, "POST", "remove-path", params=folder)[0] == 400
    removal = {**folder, "recursive": "true"}
    assert asked(service, "POST", "remove-path", params=removal)[0] == 200
    assert asked(service, "GET", "file-status", params=folder)[0] == 404


def test_a_repeated_call_appends_once(service: Service, tmp_path: Path) -> None:
    query = {"path": str(tmp_path / "file")}
    headers = {"Deskhand-Chat-Id": str(uuid4()), "Deskhand-Tool-Call-Id": "one"}
    for _ in range(2):
        answer = asked(service, "POST", "append-file", params=query, content=b"x", headers=headers)
        assert answer[0] == 200
    assert (tmp_path / "file").read_bytes() == b"x"
    other = asked(service, "POST", "append-file", params=query, content=b"y", headers=headers)
    assert other[0] == 409


def test_too_much_is_not_appended(service: Service, tmp_path: Path) -> None:
    query = {"path": str(tmp_path / "file")}
    content = bytes(16_777_217)
    assert asked(service, "POST", "append-file", params=query, content=content)[0] == 413
    assert not (tmp_path / "file").exists()


@pytest.mark.parametrize(
    ("method", "name"),
    [
        *(("POST", name) for name in ("append-file", "make-directory", "remove-path")),
        ("GET", "file-status"),
    ],
)
def test_a_path_must_be_absolute(service: Service, method: str, name: str) -> None:
    status, value = asked(service, method, name, params={"path": "a"})
    assert (status, "must be absolute" in value["message"]) == (400, True)
    assert asked(service, method, name)[0] == 400
