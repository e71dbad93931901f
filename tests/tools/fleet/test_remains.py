import asyncio
import os
import subprocess
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from deskhand.desktop.isolation.data_dir import LOCKS, DesktopDirectory
from deskhand.desktop.launch.leftovers import alive
from deskhand.desktop.launch_port.keeper_records import KeeperRecords
from deskhand.tools.fleet.registry import DesktopRegistry, RegisteredDesktop
from deskhand.tools.fleet.remains import FleetRemains
from deskhand.tools.fleet.sockets import SocketFolder
from deskhand.tools.recovery.ports import LeftRecording, Remains
from tests.tools.control_plane.fakes import LIMIT
from tests.tools.fleet.launchers import OWNER, launcher
from tests.tools.fleet.test_registry import entry

A = "a1111111-2222-3333-4444-555555555555"
B = "b1111111-2222-3333-4444-555555555555"
DEAD, LIVING = "deaddead", "11111111"


class Bench:
    """A registry with one desktop that is dead and has left recordings."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "desktops"
        self.entries = DesktopRegistry(folder / "entries")
        self.entries.prepare()
        self.sockets = SocketFolder(folder / "sockets")
        self.remains = FleetRemains(self.entries, self.sockets, launcher(self.root))

    def add(self, name: str, *recordings: str, pid: int = 0) -> RegisteredDesktop:
        path = self.root / name
        # A pid whose process has another start time than the entry is not the desktop's.
        made = replace(entry(pid or os.getpid()), id=name, folder=str(path))
        made = made if pid else replace(made, start_time=1)
        for recording in recordings:
            (path / "recordings" / recording).mkdir(parents=True)
            (path / "recordings" / recording / "1.mp4").write_bytes(b"video")
        (path / "home").mkdir(parents=True, exist_ok=True)
        self.entries.save(made)
        records = KeeperRecords(self.root, OWNER)
        if pid:
            records.add(name, pid)
        else:
            # The record outlives the process.
            with subprocess.Popen(["true"]) as ended:
                records.add(name, ended.pid)
        return made


def test_the_recordings_of_a_dead_desktop_are_listed_opened_and_removed(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.add(DEAD, A, B)
    (bench.root / DEAD / "recordings" / A / "x.tmp").touch()
    left = bench.remains.list().recordings
    assert left == (LeftRecording(DEAD, A, ("1.mp4",)), LeftRecording(DEAD, B, ("1.mp4",)))
    with os.fdopen(bench.remains.open(left[0], "1.mp4"), "rb") as file:
        assert file.read() == b"video"
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.write(file.fileno(), b"x")
    bench.remains.remove(left[0])
    bench.remains.remove(left[0])
    assert bench.remains.list() == Remains((left[1],))
    bench.remains.remove(left[1])
    assert not (bench.root / DEAD).exists()
    assert list(bench.entries.all()) == []


def test_a_desktop_that_runs_is_left_alone(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    made = bench.add(LIVING, A, pid=os.getpid())
    assert bench.remains.list() == Remains(())
    left = LeftRecording(LIVING, A, ("1.mp4",))
    with pytest.raises(FileNotFoundError):
        bench.remains.open(left, "1.mp4")
    with pytest.raises(BlockingIOError, match=f"the desktop {LIVING} is not dead"):
        bench.remains.remove(left)
    assert not bench.remains.remove_vacant(made.id)
    assert (bench.root / LIVING / "recordings" / A / "1.mp4").exists()


def test_a_service_that_outlives_its_keeper_is_waited_for(tmp_path: Path) -> None:
    async def scenario() -> None:
        bench = Bench(tmp_path)
        made = bench.add(DEAD, A)
        ends, holds = threading.Event(), threading.Event()

        def serve() -> None:
            with alive(bench.root, "instance", DesktopDirectory(bench.root / DEAD)):
                holds.set()
                ends.wait(LIMIT)

        serving = asyncio.create_task(asyncio.to_thread(serve))
        await asyncio.to_thread(holds.wait, LIMIT)
        assert bench.remains.list() == Remains((), frozenset({DEAD}))
        with pytest.raises(BlockingIOError):
            bench.remains.remove(LeftRecording(DEAD, A, ()))
        waiting = asyncio.create_task(bench.remains.released(made.id))
        ends.set()
        await asyncio.gather(serving, waiting)
        assert [left.recording_id for left in bench.remains.list().recordings] == [A]

    asyncio.run(asyncio.wait_for(scenario(), LIMIT))


def test_what_is_no_file_of_the_desktop_is_not_opened(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.add(DEAD, A)
    recording = bench.root / DEAD / "recordings" / A
    secret = tmp_path / "secret"
    secret.write_text("of the control plane")
    (recording / "2.mp4").symlink_to(secret)
    (recording / "3.mp4").hardlink_to(secret)
    os.mkfifo(recording / "4.mp4")
    (bench.root / DEAD / "recordings" / B).symlink_to(tmp_path)
    (tmp_path / "5.mp4").touch()
    for recording_id, name in (
        *((A, name) for name in ("2.mp4", "3.mp4", "4.mp4", "../../../../secret", "9.mp4")),
        (B, "5.mp4"),
        ("..", "secret"),
    ):
        with pytest.raises(OSError):  # noqa: PT011 - each kind has its own
            bench.remains.open(LeftRecording(DEAD, recording_id, ()), name)
    for recording_id in (A, B):
        bench.remains.remove(LeftRecording(DEAD, recording_id, ()))
    with pytest.raises(OSError, match="the value of recording is wrong"):
        bench.remains.remove(LeftRecording(DEAD, "..", ()))
    assert secret.read_text() == "of the control plane"
    assert (tmp_path / "5.mp4").exists()


def test_a_dead_desktop_without_recordings_is_vacant(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    assert bench.remains.remove_vacant(bench.add(DEAD).id)
    assert not (bench.root / DEAD).exists()
    assert not (bench.root / LOCKS).exists()


def test_remains_of_an_unknown_desktop_are_nothing(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    with pytest.raises(FileNotFoundError):
        bench.remains.open(LeftRecording("00000000", A, ()), "1.mp4")
    bench.remains.remove(LeftRecording("00000000", A, ()))
