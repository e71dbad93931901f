from pathlib import Path

from deskhand.recording.disk.reserve import DiskReserve

SIZE = 512 * 1024


def test_space_is_reserved_until_it_is_released(tmp_path: Path) -> None:
    file = tmp_path / "reserve"
    reserve = DiskReserve(file, SIZE)
    assert not reserve.held
    reserve.take()
    assert reserve.held
    assert file.stat().st_blocks * 512 >= reserve.size == SIZE
    assert reserve.release()
    assert not reserve.release()
    assert not file.exists()


def test_a_full_disk_reserves_nothing(tmp_path: Path) -> None:
    reserve = DiskReserve(tmp_path / "none" / "reserve", SIZE)
    reserve.take()
    assert not reserve.held
    assert not list(tmp_path.iterdir())
