import os
from pathlib import Path

from deskhand.desktop.launch.inside.memory_watch import (
    MemoryWatch,
    namespace_pids,
    with_descendants,
)

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


def test_descendants_are_found_below_a_process(tmp_path: Path) -> None:
    for pid, children in {5: "6 7 ", 6: "8 ", 7: ""}.items():
        (tmp_path / f"{pid}/task/{pid}").mkdir(parents=True)
        (tmp_path / f"{pid}/task/{pid}/children").write_text(children)
    assert with_descendants(5, tmp_path) == [5, 6, 7, 8]
