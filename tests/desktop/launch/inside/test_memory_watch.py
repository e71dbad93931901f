import os
from pathlib import Path

from deskhand.desktop.launch.inside.memory_watch import MemoryWatch, namespace_pids

PAGE = os.sysconf("SC_PAGE_SIZE")
MIB = 1 << 20


def processes(folder: Path, sizes: dict[int, int], exe: str = "/usr/bin/sleep") -> Path:
    """A directory that stands for /proc, with the MiB of each process."""
    for pid, mib in sizes.items():
        entry = folder / str(pid)
        entry.mkdir()
        (entry / "statm").write_text(f"9999 {mib * MIB // PAGE} 0")
        (entry / "smaps_rollup").write_text(f"range\nRss: 1 kB\nPss: {mib * 1024} kB\n")
        (entry / "exe").symlink_to(exe)
    return folder


def killed(proc: Path, limit: int, spared: int = 0) -> list[int]:
    found: list[int] = []
    watch = MemoryWatch(
        limit * MIB,
        lambda: namespace_pids(proc),
        spared,
        kill=lambda pid, _: found.append(pid),
        proc=proc,
    )
    watch.check()
    return found


def test_nothing_is_killed_within_the_limit(tmp_path: Path) -> None:
    assert killed(processes(tmp_path, {1: 900, 2: 100, 3: 200}), 300) == []


def test_the_largest_are_killed_until_the_rest_keeps_the_limit(tmp_path: Path) -> None:
    assert killed(processes(tmp_path, {2: 100, 3: 200, 4: 300, 5: 400}), 300) == [5, 4]


def test_the_service_is_killed_last(tmp_path: Path) -> None:
    assert killed(processes(tmp_path, {2: 500, 3: 100}), 550, spared=2) == [3]


def test_the_x_server_is_spared_like_the_service(tmp_path: Path) -> None:
    assert killed(processes(tmp_path, {2: 500}, "/usr/bin/Xvnc"), 100) == [2]


def test_a_process_that_has_ended_counts_nothing(tmp_path: Path) -> None:
    (tmp_path / "7").mkdir()
    assert killed(tmp_path, 1) == []
