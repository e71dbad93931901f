from pathlib import Path

from deskhand.tools.cluster.gate.machine_room import machine_room


def test_memory_and_the_fullest_disk_of_this_machine_are_measured(tmp_path: Path) -> None:
    found = machine_room([tmp_path, Path("/dev/shm")])
    assert found.memory > 0
    assert found.disk >= 0
    assert found.folder in (str(tmp_path), "/dev/shm")
