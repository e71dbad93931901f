"""Files that are huge, disks that are full, folders that are closed, names that are no text."""

import os
import resource
import socket
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from deskhand.desktop.files.disk import Replacement
from deskhand.desktop.files.edit_batch import BatchFailed, edit_all
from deskhand.desktop.files.editing.edits import Edit
from deskhand.desktop.files.errors import BadPath
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


KINDS = {"fifo": "a FIFO", "socket": "a socket", "device": "a character device"}


@pytest.fixture(params=KINDS)
def special(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Path, str]]:
    path = tmp_path / request.param
    with socket.socket(socket.AF_UNIX) as listening:
        match request.param:
            case "fifo":
                os.mkfifo(path)
            case "socket":
                listening.bind(str(path))
            case _:
                try:
                    os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))
                except PermissionError:
                    pytest.skip("needs the capability CAP_MKNOD")
        yield path, f"{str(path)!r} is {KINDS[request.param]}, not a regular file"


@pytest.mark.parametrize("size", [3, 200_000])
def test_a_special_file_is_not_written(
    service: Service, special: tuple[Path, str], size: int
) -> None:
    path, refusal = special
    kind = stat.S_IFMT(path.stat().st_mode)
    link = path.with_name("link")
    link.symlink_to(path)
    for name, route in ((path, "write-file"), (link, "write-file"), (path, "append-file")):
        answer = service.request(
            "POST", f"/api/v0/{route}", params={"path": str(name)}, content=b"x" * size
        )
        assert (answer.status_code, answer.json()["message"]) == (
            400,
            refusal.replace(str(path), str(name)),
        )
    assert stat.S_IFMT(path.stat().st_mode) == kind
    assert {entry.name for entry in path.parent.iterdir()} == {path.name, "link"}


def test_a_special_file_is_neither_read_nor_edited(
    service: Service, special: tuple[Path, str]
) -> None:
    path, refusal = special
    params = {"path": str(path)}
    answer = service.request("GET", "/api/v0/read-file", params=params)
    assert (answer.status_code, answer.json()["message"]) == (400, refusal)
    lines = service.request("GET", "/api/v0/read-file-lines", params=params).json()
    assert lines["error"] == refusal
    edits = [{"old_text": "a", "new_text": "b"}]
    files = [params | {"edits": edits}]
    answer = service.request("POST", "/api/v0/edit-files", json={"files": files})
    assert (answer.status_code, answer.json()["message"]) == (400, refusal)


def test_a_fifo_that_takes_the_place_of_a_file_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "f"
    with Replacement(path) as new:
        new.write(b"new")
        os.mkfifo(path)
        with pytest.raises(BadPath, match="is a FIFO"):
            new.commit()
    assert path.is_fifo()
    assert [entry.name for entry in tmp_path.iterdir()] == ["f"]


@pytest.mark.parametrize(
    "path", ["/proc/version", "/proc/self/limits", "/proc/filesystems", "/sys/class/net/lo/mtu"]
)
def test_a_file_of_the_kernel_is_read_to_its_end(service: Service, path: str) -> None:
    content = Path(path).read_bytes()
    read = service.request("GET", "/api/v0/read-file", params={"path": path})
    assert read.headers["content-length"] == str(len(read.content))
    assert read.content.splitlines()[:1] == content.splitlines()[:1]
    part = service.request(
        "GET", "/api/v0/read-file", params={"path": path, "offset": "1", "limit": "2"}
    )
    assert part.content == content[1:3]
    lines = service.request("GET", "/api/v0/read-file-lines", params={"path": path}).json()
    assert lines["file_size"] == len(read.content)
    assert lines["total_lines"] == len(content.splitlines())


def test_a_file_without_an_end_is_refused(service: Service) -> None:
    for path in ("/proc/kmsg", "/sys/kernel/tracing/trace_pipe"):
        try:
            os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
        except OSError:
            continue
        answer = service.request("GET", "/api/v0/read-file", params={"path": path})
        assert answer.status_code in (400, 403)
        assert answer.json()["message"].endswith(("reading it would block", "permission denied"))


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
