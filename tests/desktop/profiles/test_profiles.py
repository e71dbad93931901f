import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from deskhand.desktop.profiles import profiles, stored_files
from deskhand.desktop.profiles.errors import ProfileInUse, ProfileRefused
from deskhand.desktop.profiles.profile_folder import ProfileFolder
from deskhand.desktop.profiles.profile_lock import acquire, holder_of

HOLDER = Path("/desktops/0123abcd")
HOLD = """
import sys
from pathlib import Path
from deskhand.desktop.profiles import profiles
profiles.claim(Path(sys.argv[1]), Path("/desktops/0123abcd"), None, mounted=True)
print("locked", flush=True)
sys.stdin.read()
"""


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_one_desktop_at_a_time_has_a_profile(tmp_path: Path) -> None:
    profile = tmp_path / "work"
    lock = profiles.claim(profile, HOLDER, None, mounted=True)
    assert holder_of(profile) == "0123abcd"
    with pytest.raises(ProfileInUse, match="profile work is in use by the desktop 0123abcd"):
        profiles.claim(profile, Path("/desktops/second"), None, mounted=True)
    os.close(lock)
    assert holder_of(profile) == ""
    os.close(profiles.claim(profile, HOLDER, None, mounted=True))


def test_a_copy_of_the_descriptor_holds_the_lock_too(tmp_path: Path) -> None:
    lock = profiles.claim(tmp_path / "work", HOLDER, None, mounted=True)
    copy = os.dup(lock)
    os.close(lock)
    assert holder_of(tmp_path / "work") == "0123abcd"
    os.close(copy)
    assert holder_of(tmp_path / "work") == ""


def test_the_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path / "work")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"locked\n"
        with pytest.raises(ProfileInUse):
            profiles.claim(tmp_path / "work", HOLDER, None, mounted=True)
        process.kill()
        process.wait()
    os.close(profiles.claim(tmp_path / "work", HOLDER, None, mounted=True))


def test_a_profile_is_entered_by_its_path_only_where_it_is_not_mounted(tmp_path: Path) -> None:
    profile, folder = tmp_path / "work", tmp_path / "desktop"
    os.close(profiles.claim(profile, HOLDER, None, mounted=True))
    assert (mode(profile), mode(profile / "files"), mode(profile / "lock")) == (0o700, 0o700, 0o600)
    os.close(profiles.claim(profile, HOLDER, None, mounted=False))
    assert (mode(profile), mode(profile / "files")) == (0o711, 0o700)
    (folder / "browser" / "Default").mkdir(parents=True)
    profiles.link(profile, folder)
    (folder / "browser" / "new").write_text("1")
    assert (profile / "files" / "new").read_text() == "1"
    profiles.close(profile)
    assert mode(profile) == 0o700
    profiles.close(tmp_path / "none")


def test_what_is_no_ordinary_file_is_removed(tmp_path: Path) -> None:
    profile, outside = tmp_path / "work", tmp_path / "outside"
    inside = profile / "files" / "Default"
    (inside / "Cache" / "data").mkdir(parents=True)
    outside.write_text("1")
    (inside / "link").symlink_to(outside)
    (inside / "folder").symlink_to(tmp_path)
    os.link(outside, inside / "second name")
    os.mkfifo(inside / "fifo")
    (inside / "Cookies").write_text("2" * 5000)
    own = os.getuid(), os.getgid()
    os.close(profiles.claim(profile, HOLDER, own, mounted=True))
    assert [path.name for path in inside.iterdir()] == ["Cookies"]
    assert outside.read_text() == "1"


def test_a_profile_has_a_limit(tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(b"1" * 100_000)
    assert stored_files.adopt(str(tmp_path), None) >= 100_000
    with pytest.raises(ProfileRefused, match="has more than"):
        stored_files.adopt(str(tmp_path), None, largest=50_000)


@pytest.mark.soak
def test_a_refused_profile_is_free_again(tmp_path: Path) -> None:
    deep = tmp_path / "work" / "files"
    deep.mkdir(parents=True)
    inside = os.open(deep, os.O_RDONLY)
    for _ in range(1200):
        os.mkdir("d", dir_fd=inside)
        below = os.open("d", os.O_RDONLY, dir_fd=inside)
        os.close(inside)
        inside = below
    os.close(inside)
    with pytest.raises((ProfileRefused, OSError)):
        profiles.claim(tmp_path / "work", HOLDER, None, mounted=True)
    assert holder_of(tmp_path / "work") == ""
    subprocess.run(["rm", "-rf", str(deep)], check=True)


def test_profiles_are_listed_and_removed(tmp_path: Path) -> None:
    folder = ProfileFolder(tmp_path / "profiles")
    assert folder.all() == []
    for name in ("work", "shop"):
        lock = profiles.claim(folder.of(name), HOLDER, None, mounted=True)
        if name == "work":
            os.close(lock)
    (folder.of("work") / "files" / "Cookies").write_bytes(b"1" * 10_000)
    shop, work = folder.all()
    assert (shop.name, shop.holder, shop.bytes) == ("shop", "0123abcd", 0)
    assert (work.name, work.holder) == ("work", "")
    assert work.bytes >= 10_000
    with pytest.raises(ProfileInUse):
        folder.remove("shop")
    assert folder.remove("work") is True
    assert folder.remove("work") is False
    os.close(lock)
    assert [one.name for one in folder.all()] == ["shop"]


def test_profiles_of_killed_desktops_are_closed(tmp_path: Path) -> None:
    folder = ProfileFolder(tmp_path / "profiles")
    killed, alive = folder.of("killed"), folder.of("alive")
    os.close(profiles.claim(killed, HOLDER, None, mounted=False))
    lock = profiles.claim(alive, HOLDER, None, mounted=False)
    folder.close_unused()
    assert (mode(killed), mode(alive)) == (0o700, 0o711)
    os.close(lock)


def test_a_removed_profile_cannot_be_locked(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        acquire(tmp_path / "none")
