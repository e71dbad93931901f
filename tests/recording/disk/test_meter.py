from pathlib import Path

from deskhand.recording.disk.meter import DiskMeter
from deskhand.recording.free_space import DiskSpace


class FakeDisk:
    """Disks whose free space the test sets."""

    def __init__(self) -> None:
        self.now = 0.0
        self.free = {Path("/a"): 50, Path("/b"): 40}

    def clock(self) -> float:
        return self.now

    def space_of(self, folder: Path) -> DiskSpace:
        if folder not in self.free:
            raise FileNotFoundError(folder)
        return DiskSpace(self.free[folder], 100)


def test_a_measurement_is_used_for_a_second() -> None:
    disk = FakeDisk()
    meter = DiskMeter(Path("/a"), Path("/b"), clock=disk.clock, space_of=disk.space_of)
    assert meter.space() == DiskSpace(40, 100)
    disk.free[Path("/a")] = 1
    disk.now = 0.9
    assert meter.space() == DiskSpace(40, 100)
    assert meter.measure() == DiskSpace(1, 100)
    disk.now = 1.0
    assert meter.space() == DiskSpace(1, 100)


def test_a_folder_that_is_missing_is_left_out() -> None:
    disk = FakeDisk()
    meter = DiskMeter(Path("/a"), Path("/gone"), clock=disk.clock, space_of=disk.space_of)
    assert meter.space() == DiskSpace(50, 100)
    assert DiskMeter(Path("/gone"), space_of=disk.space_of).space() == DiskSpace(0, 0)


def test_a_real_disk_is_measured(tmp_path: Path) -> None:
    assert DiskMeter(tmp_path).space().total > 0
