from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2
import pytest

from tests.desktop.processes.service import Service, running


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with running() as found:
        (found.home / "Downloads").mkdir()
        yield found


def added(service: Service, name: str, content: bytes) -> httpx2.Response:
    params = {"name": name, "viewer": "1"}
    return service.request("POST", "/api/v0/desktop/downloads", params=params, content=content)


@pytest.mark.parametrize("size", [0, 11, 3_000_000])
def test_a_file_becomes_a_download(service: Service, size: int) -> None:
    answer = added(service, f"{size} bytes.bin", b"x" * size)
    path = service.home / "Downloads" / f"{size} bytes.bin"
    assert answer.status_code == 201
    assert answer.json() == {"path": str(path), "name": path.name, "bytes": size}
    assert path.read_bytes() == b"x" * size


def test_files_of_one_name_at_the_same_time_are_all_kept(service: Service) -> None:
    contents = [bytes([number]) * 200_000 for number in range(8)]
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda one: added(service, "same.txt", one), contents))
    assert {answer.status_code for answer in answers} == {201}
    stored = [Path(answer.json()["path"]).read_bytes() for answer in answers]
    assert stored == contents


def test_a_path_as_its_name_is_refused_and_nothing_is_written(service: Service) -> None:
    answer = added(service, "../escaped", b"x")
    assert answer.status_code == 400
    assert "without folders" in answer.text
    assert not (service.home / "escaped").exists()


def test_a_link_in_its_place_is_not_followed(service: Service) -> None:
    target = service.home / "target"
    target.write_text("kept")
    (service.home / "Downloads" / "link").symlink_to(target)
    answer = added(service, "link", b"x")
    assert Path(answer.json()["path"]).name == "link (1)"
    assert target.read_text() == "kept"
