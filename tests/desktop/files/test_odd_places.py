"""Files that are huge, disks that are full, folders that are closed, names that are no text."""

import os
import resource
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from deskhand.desktop.files.disk import Replacement
from deskhand.desktop.files.edit_batch import BatchFailed, edit_all
from deskhand.desktop.files.editing.edits import Edit
from deskhand.desktop.files.requests import FileEdits
from deskhand.desktop.files.roots import Roots
from tests.desktop.processes.service import Service, running

GIB = 1 << 30
root_only = pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a small disk")


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with running() as service:
        yield service


def test_a_range_of_five_gigabytes_takes_no_memory(service: Service, tmp_path: Path) -> None:
    file = tmp_path / "sparse"
    with file.open("wb") as sparse:
        sparse.truncate(5 * GIB)
        sparse.seek(5 * GIB - 4)
        sparse.write(b"end\n")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    params = {"path": str(file), "offset": str(5 * GIB - 4)}
    answer = service.request("GET", "/api/v0/read-file", params=params)
    assert answer.content == b"end\n"
    params = {"path": str(file), "limit": str(128 << 20)}
    with service.client.stream("GET", "/api/v0/read-file", params=params) as streamed:
        assert sum(map(len, streamed.iter_raw())) == 128 << 20
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 64 * 1024, f"{grown} KiB"


@root_only
def test_a_full_disk_is_said_and_leaves_the_file_as_it_was(
    service: Service, tmp_path: Path
) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(disk)], capture_output=True
    )
    if mounted.returncode:
        pytest.skip("needs the capability CAP_SYS_ADMIN, to mount")
    try:
        (disk / "f").write_text("old\n")
        params = {"path": str(disk / "f")}
        full = service.request("POST", "/api/v0/write-file", params=params, content=b"x" * 200_000)
        assert full.status_code == 507
        assert "No space left" in full.json()["message"]
        assert (disk / "f").read_text() == "old\n"
        assert [entry.name for entry in disk.iterdir()] == ["f"]
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_names_with_line_breaks_are_names(service: Service, tmp_path: Path) -> None:
    path = str(tmp_path / "two\nlines")
    body = {"old_text": "old", "new_text": "new"}
    made = service.request("POST", "/api/v0/write-file", params={"path": path}, content="old")
    assert made.status_code == 200
    edited = service.request(
        "POST", "/api/v0/edit-files", json={"files": [{"path": path, "edits": [body]}]}
    )
    assert edited.status_code == 200
    assert Path(path).read_text() == "new"
    read = service.request("GET", "/api/v0/read-file-lines", params={"path": path})
    assert read.json()["content"] == "1\tnew"


def test_a_name_that_is_no_utf_8_is_listed_all_the_same(service: Service, tmp_path: Path) -> None:
    (Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff"))).touch()
    params = {"path": str(tmp_path)}
    listed = service.request("POST", "/api/v0/list-directory", params=params).json()
    assert [entry["name"] for entry in listed["contents"]] == ["\ufffd"]


def test_a_file_that_changes_while_it_is_edited_stays_as_the_other_left_it(
    tmp_path: Path,
) -> None:
    file = tmp_path / "f"
    file.write_text("old")

    class Late(Replacement):
        def write(self, data: bytes) -> None:
            super().write(data)
            file.write_text("old, but by another")

    asked = [FileEdits(str(file), (Edit("old", "new", False, "e"),), "files[0]")]
    with pytest.raises(BatchFailed, match="changed by somebody else") as caught:
        edit_all(asked, Late, Roots())
    assert caught.value.status == 409
    assert file.read_text() == "old, but by another"
