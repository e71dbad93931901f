"""The rest of a recording whose process is killed."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from deskhand.recording.library.catalog import Catalog
from deskhand.recording.library.faststart import move_index
from tests.recording.fakes import decoded
from tests.system.services import PATIENCE

A = "a1111111-2222-3333-4444-555555555555"

# The child prints the picture that it has just shown, and the time.
CHILD = """
import sys, time
from pathlib import Path
import numpy as np
from deskhand.recording.pipeline.recorder import Recorder
from deskhand.recording.settings import RecordingSettings
from deskhand.recording.step import Step
from tests.recording.fakes import FakeSource, marked

width, height = int(sys.argv[4]), int(sys.argv[5])

def picture(number):
    # A large picture is noise below the number, which takes long to encode.
    shown = marked(number, width, height)
    if height > 240:
        noise = np.random.default_rng(number % 3).integers(0, 255, (height - 240, width), np.uint8)
        shown[240:, :, :3] = noise[:, :, None]
    return shown

source = FakeSource(picture(0))
settings = RecordingSettings(free_to_start=0, free_to_go_on=0)
with Recorder(source, Path(sys.argv[1]), settings) as recorder:
    recorder.start(sys.argv[2])
    for number in range(1, int(sys.argv[3])):
        time.sleep(0.07)
        source.show(picture(number))
        print(number, time.monotonic(), flush=True)
        if number == 3:
            now = time.monotonic()
            recorder.add_step(Step(tool="execute", started=now, ended=now))
    print("done", time.monotonic(), flush=True)
    sys.stdin.read()
"""


@contextmanager
def recording(
    folder: Path, pictures: int, size: tuple[int, int] = (320, 240)
) -> Iterator[subprocess.Popen[str]]:
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(folder), A, str(pictures), *map(str, size)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with child:
        try:
            yield child
        finally:
            child.kill()


def kill(child: subprocess.Popen[str]) -> None:
    os.kill(child.pid, signal.SIGKILL)
    child.wait(PATIENCE)


def reported(child: subprocess.Popen[str]) -> tuple[str, float]:
    assert child.stdout is not None
    name, at = child.stdout.readline().split()
    return name, float(at)


def killed_at_random(
    folder: Path, seed: int, size: tuple[int, int] = (320, 240)
) -> tuple[dict[int, float], float]:
    """Record and kill at a moment of chance; when each picture was shown, and the end."""
    chance = random.Random(seed)
    with recording(folder, 10_000, size) as child:
        shown: dict[int, float] = {}
        number, at = reported(child)
        until = at + chance.uniform(1.6, 3.0)
        while at < until:
            shown[int(number)] = at
            number, at = reported(child)
        killed = time.monotonic()
        kill(child)
    return shown, killed


def kill_and_recover(folder: Path, seed: int) -> None:
    """Compare what was left with what had been shown."""
    shown, killed = killed_at_random(folder, seed)
    catalog = Catalog(folder)
    assert catalog.get(A)["status"] == "recording"
    assert catalog.recover() == (A,)
    facts = catalog.get(A)
    assert (facts["status"], facts["end_reason"]) == ("stored", "service_lost")
    kept = {number for _, number in decoded(catalog.video(A))}
    # Of this machine the test asks for half a second more than the promise.
    wanted = {number for number, at in shown.items() if at < killed - 1.5}
    assert wanted <= kept, f"seed {seed}: {sorted(wanted - kept)} are missing"
    assert catalog.thumbnail(A).stat().st_size > 0
    assert move_index(catalog.video(A), spare=0)
    assert {number for _, number in decoded(catalog.video(A))} == kept


@pytest.mark.soak
@pytest.mark.slow("several recorders that record for a while")
def test_a_kill_at_any_moment_loses_a_second_at_most(tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        ends = [pool.submit(kill_and_recover, tmp_path / str(seed), seed) for seed in range(8)]
        for end in ends:
            end.result()


def test_a_kill_in_silence_loses_nothing(tmp_path: Path) -> None:
    with recording(tmp_path, 12) as child:
        while reported(child)[0] != "done":
            pass
        # The last picture is repeated 1 s after it and written 0.3 s later.
        silence = Catalog(tmp_path).video(A)
        wait_until_it_rests(silence)
        kill(child)
    catalog = Catalog(tmp_path)
    catalog.recover()
    assert decoded(catalog.video(A))[-1][1] == 11
    assert catalog.get(A)["steps"][0]["tool"] == "execute"


def wait_until_it_rests(path: Path) -> None:
    """Wait until a file has not grown for longer than the recorder may keep anything back."""
    deadline = time.monotonic() + 20
    grown, size = time.monotonic(), -1
    while time.monotonic() < deadline:
        if path.stat().st_size != size:
            grown, size = time.monotonic(), path.stat().st_size
        if time.monotonic() > grown + 2.0:
            return
        time.sleep(0.05)
    raise AssertionError("the file grows on although nothing happens")


FILLING = """
import resource, signal, sys, time
from pathlib import Path
import numpy as np
from deskhand.recording.pipeline.recorder import Recorder
from deskhand.recording.settings import RecordingSettings
from tests.recording.fakes import FakeSource

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
if limit := int(sys.argv[3]):
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
random = np.random.default_rng(1)
source = FakeSource()
settings = RecordingSettings(free_to_start=0, free_to_go_on=0)
with Recorder(source, Path(sys.argv[1]), settings) as recorder:
    recorder.start(sys.argv[2])
    while recorder.active():
        source.show(random.integers(0, 255, (240, 320, 4), dtype=np.uint8))
    print(recorder.stop(sys.argv[2]).end_reason)
"""


@contextmanager
def small_disk(folder: Path) -> Iterator[bool]:
    """A disk of two megabytes, where this system lets us mount one."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)]
    mounted = subprocess.run(mount, capture_output=True, check=False).returncode == 0
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.mark.parametrize("whole_disk", [False, True], ids=["limit of a file", "full disk"])
def test_a_recording_that_finds_no_room_ends_and_plays(tmp_path: Path, whole_disk: bool) -> None:
    with small_disk(tmp_path / "disk") as mounted:
        limit = 0 if whole_disk and mounted else 300_000
        done = subprocess.run(
            [sys.executable, "-c", FILLING, str(tmp_path / "disk"), A, str(limit)],
            capture_output=True,
            text=True,
            timeout=3 * PATIENCE,
        )
        assert done.stdout.split() == ["disk_full"], done.stderr
        catalog = Catalog(tmp_path / "disk")
        assert not catalog.get(A)["complete"]
        assert len(decoded(catalog.video(A))) > 5
