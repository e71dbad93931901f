import fcntl
import os
import signal
import subprocess
import threading
from pathlib import Path

import psutil

from deskhand.desktop.isolation.claims import user_numbers
from deskhand.desktop.isolation.data_dir import LOCKS, DesktopDirectory
from deskhand.desktop.launch import leftovers
from deskhand.desktop.launch.leftovers import CLEANING_LOCK, MARK, alive
from tests.system.services import until


def clean_leftovers(root: Path) -> None:
    """Clean up as a desktop of this test run does."""
    leftovers.clean_leftovers(root, user_numbers(os.environ))


def desk(root: Path, name: str) -> DesktopDirectory:
    folder = DesktopDirectory(root / name)
    (folder.recordings / "one").mkdir(parents=True)
    (folder.path / "home").mkdir()
    return folder


def dead(root: Path, name: str) -> DesktopDirectory:
    folder = desk(root, name)
    with alive(root, name * 2, folder):
        pass
    return folder


def test_files_of_dead_desktops_are_removed_and_recordings_kept(tmp_path: Path) -> None:
    folder = dead(tmp_path, "0123abcd")
    clean_leftovers(tmp_path)
    assert [path.name for path in folder.path.iterdir()] == ["recordings"]
    assert not list((tmp_path / LOCKS).iterdir())


def test_living_desktops_are_left_alone(tmp_path: Path) -> None:
    folder = desk(tmp_path, "0123abcd")
    with alive(tmp_path, "0123abcd0123abcd", folder):
        clean_leftovers(tmp_path)
        assert (folder.path / "home").exists()
        assert list((tmp_path / LOCKS).iterdir())


def test_a_directory_without_a_lock_is_removed(tmp_path: Path) -> None:
    folder = desk(tmp_path, "0123abcd")
    (tmp_path / "89abcdef").mkdir()
    (tmp_path / "a person's").mkdir()
    clean_leftovers(tmp_path)
    assert [path.name for path in folder.path.iterdir()] == ["recordings"]
    assert not (tmp_path / "89abcdef").exists()
    assert (tmp_path / "a person's").exists()


def test_nothing_is_removed_while_a_desktop_is_starting(tmp_path: Path) -> None:
    folder = desk(tmp_path, "0123abcd")
    with alive(tmp_path, "0123abcd0123abcd", folder):
        (tmp_path / LOCKS / "0123abcd0123abcd").write_text("")
        clean_leftovers(tmp_path)
    assert (folder.path / "home").exists()


def test_a_folder_that_is_reached_by_another_way_is_the_same(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    folder = desk(tmp_path / "root", "0123abcd")
    (tmp_path / "link").symlink_to(tmp_path / "root")
    with alive(
        tmp_path / "root", "0123abcd0123abcd", DesktopDirectory(tmp_path / "link" / "0123abcd")
    ):
        clean_leftovers(tmp_path / "root")
    assert (folder.path / "home").exists()


def test_a_lock_that_was_removed_while_it_was_waited_for_is_taken_again(tmp_path: Path) -> None:
    lock = tmp_path / LOCKS / "0123abcd0123abcd"
    lock.parent.mkdir()
    held = threading.Event()

    def live() -> None:
        with alive(tmp_path, lock.name, DesktopDirectory(tmp_path / "0123abcd")):
            held.set()

    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        living = threading.Thread(target=live)
        living.start()
        lock.unlink()
    assert held.wait(20)
    living.join()
    assert lock.read_text() == str(tmp_path / "0123abcd")


def test_a_sweep_waits_for_another_that_holds_the_locks_of_the_dead(tmp_path: Path) -> None:
    folder = dead(tmp_path, "0123abcd")
    sweeping = threading.Thread(target=clean_leftovers, args=(tmp_path,))
    with (tmp_path / CLEANING_LOCK).open("w") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with (tmp_path / LOCKS / "0123abcd0123abcd").open() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            sweeping.start()
            until(lambda: waited_for(tmp_path / CLEANING_LOCK), "the second sweep")
    sweeping.join()
    assert not (folder.path / "home").exists()


def waited_for(path: Path) -> bool:
    """Return whether a lock on a file is waited for (proc_locks(5))."""
    inode = f":{path.stat().st_ino}"
    lines = Path("/proc/locks").read_text().splitlines()
    return any("->" in line and line.split()[6].endswith(inode) for line in lines)


def test_the_lock_of_sweeps_is_closed_to_other_users(tmp_path: Path) -> None:
    clean_leftovers(tmp_path)
    assert (tmp_path / CLEANING_LOCK).stat().st_mode & 0o077 == 0


def test_a_folder_elsewhere_is_left_alone(tmp_path: Path) -> None:
    elsewhere = desk(tmp_path / "elsewhere", "0123abcd")
    with alive(tmp_path, "0123abcd0123abcd", elsewhere):
        pass
    clean_leftovers(tmp_path)
    assert (elsewhere.path / "home").exists()


def test_a_folder_that_is_gone_is_no_trouble(tmp_path: Path) -> None:
    with alive(tmp_path, "0123abcd0123abcd", DesktopDirectory(tmp_path / "never-made")):
        pass
    clean_leftovers(tmp_path)
    clean_leftovers(tmp_path)
    assert not list((tmp_path / LOCKS).iterdir())


def test_processes_that_carry_the_mark_of_the_dead_are_killed(tmp_path: Path) -> None:
    dead(tmp_path, "0123abcd")
    with (
        subprocess.Popen(["/bin/sleep", "1000"], env={MARK: "0123abcd0123abcd"}) as marked,
        subprocess.Popen(["/bin/sleep", "1000"], env={MARK: "another"}) as other,
    ):
        try:
            # Right after execve(2) a process has no environment yet.
            until(psutil.Process(marked.pid).environ, "its environment")
            clean_leftovers(tmp_path)
            assert marked.wait(20) == -signal.SIGKILL
            assert other.poll() is None
        finally:
            marked.kill()
            other.kill()
