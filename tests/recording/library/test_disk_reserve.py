from pathlib import Path

from deskhand.recording.library.disk_reserve import ENOUGH, RESERVE, DiskReserve


def test_space_is_reserved_until_it_is_dropped(tmp_path: Path) -> None:
    reserve = DiskReserve(tmp_path / "1.mp4")
    held = tmp_path / f"1{RESERVE}"
    assert held.stat().st_blocks * 512 >= ENOUGH
    reserve.drop()
    reserve.drop()
    assert not held.exists()


def test_a_full_disk_reserves_nothing(tmp_path: Path) -> None:
    DiskReserve(tmp_path / "none" / "1.mp4").drop()
    assert not list(tmp_path.iterdir())
