import os
import stat
from pathlib import Path

import pytest

from deskhand.desktop.isolation.account import Account, numbered_account
from deskhand.desktop.isolation.data_dir import DesktopDirectory, open_root, run_root
from deskhand.desktop.isolation.desktop_user import DesktopUser

ME = Account.of_one_user(DesktopUser("me", os.getuid(), os.getgid()), "shared")
OTHER = Account.of_one_user(DesktopUser("other", 12345, 12345), "user")


def test_it_is_private_and_whole(tmp_path: Path) -> None:
    folder = DesktopDirectory(tmp_path / "d")
    folder.make(ME)
    for path in (folder.path, folder.recordings, folder.work, folder.path / "home"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o700


def test_making_it_twice_keeps_what_is_in_it(tmp_path: Path) -> None:
    folder = DesktopDirectory(tmp_path / "d")
    folder.make(ME)
    (folder.work / "note").write_text("kept")
    folder.make(ME)
    assert (folder.work / "note").read_text() == "kept"


def test_a_path_too_long_for_sockets_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    folder = DesktopDirectory(tmp_path / ("x" * 120))
    with pytest.raises(OSError, match="too long"):
        folder.make(ME)
    assert not folder.path.exists()


def test_files_of_an_earlier_user_change_owner(tmp_path: Path) -> None:
    folder = DesktopDirectory(tmp_path / "d")
    folder.make(ME)
    (folder.recordings / "a").mkdir()
    (folder.recordings / "a" / "1.mp4").write_bytes(b"film")
    folder.action_journal.write_text("{}")
    foreign = tmp_path / "foreign"
    foreign.write_bytes(b"not ours")
    os.link(foreign, folder.recordings / "a" / "2.mp4")
    # Only root can, and must.
    other = OTHER if os.geteuid() == 0 else ME
    folder.make(other)
    assert (folder.recordings / "a").stat().st_uid == other.agent.uid
    assert (folder.recordings / "a" / "1.mp4").stat().st_uid == other.agent.uid
    assert folder.action_journal.stat().st_uid == other.agent.uid
    assert foreign.stat().st_uid == ME.agent.uid


def test_journals_of_an_earlier_version_are_found_where_they_are_now(tmp_path: Path) -> None:
    folder, foreign = DesktopDirectory(tmp_path / "d"), tmp_path / "foreign"
    folder.path.mkdir()
    foreign.write_text("not ours")
    (folder.path / "calls.jsonl").write_text("calls")
    # The agent owned the directory.
    (folder.path / "tool-calls.jsonl").symlink_to(foreign)
    folder.make(ME)
    assert folder.action_journal.read_text() == "calls"
    assert not folder.detached_journal.exists()
    (folder.path / "tool-calls.jsonl").unlink()
    os.link(foreign, folder.path / "tool-calls.jsonl")
    (folder.path / "calls.jsonl").write_text("later")
    folder.make(ME)
    assert folder.action_journal.read_text() == "calls"
    assert not folder.detached_journal.exists()


def test_a_link_in_the_place_of_a_part_is_replaced_and_its_target_kept(
    tmp_path: Path,
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir(mode=0o755)
    folder = DesktopDirectory(tmp_path / "d")
    folder.make(ME)
    for part in (folder.recordings, folder.work):
        part.rmdir()
        part.symlink_to(outside)
    folder.make(OTHER if os.geteuid() == 0 else ME)
    assert folder.work.is_dir()
    assert not folder.work.is_symlink()
    facts = outside.stat()
    assert (stat.S_IMODE(facts.st_mode), facts.st_uid) == (0o755, ME.agent.uid)


def test_clearing_keeps_recordings_only(tmp_path: Path) -> None:
    folder = DesktopDirectory(tmp_path / "d")
    folder.make(ME)
    (folder.recordings / "1.mp4").write_bytes(b"film")
    (folder.path / "api.sock").touch()
    folder.clear()
    assert [path.name for path in folder.path.iterdir()] == ["recordings"]


def test_clearing_keeps_the_journals_that_hold_a_call_if_asked_to(tmp_path: Path) -> None:
    folder = DesktopDirectory(tmp_path / "d")
    for _ in range(2):
        folder.make(ME)
        folder.action_journal.write_text("a call")
        folder.detached_journal.write_text("")
        folder.clear(keep_calls=True)
        assert list(folder.path.iterdir()) == [folder.journals]
    (folder.path / "secret").write_text("of another user")
    folder.detached_journal.unlink()
    folder.detached_journal.symlink_to(folder.path / "secret")
    folder.clear(keep_calls=True)
    assert list(folder.path.iterdir()) == [folder.journals]
    folder.clear()
    assert not folder.path.exists()


def test_a_folder_that_the_user_chose_is_not_in_the_run_root(tmp_path: Path) -> None:
    assert DesktopDirectory(tmp_path / "0123abcd").is_in(tmp_path)
    assert not DesktopDirectory(tmp_path / "mine" / "d").is_in(tmp_path)


def test_clearing_removes_an_empty_folder_and_twice_is_fine(tmp_path: Path) -> None:
    folder = DesktopDirectory(tmp_path / "d")
    folder.make(ME)
    folder.clear()
    folder.clear()
    assert not folder.path.exists()


def test_a_link_is_removed_and_its_target_kept(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    folder = DesktopDirectory(tmp_path / "d")
    folder.make(ME)
    (folder.path / "link").symlink_to(outside)
    folder.clear()
    assert outside.exists()


def test_the_run_root_is_short_and_private(tmp_path: Path) -> None:
    assert run_root(0, {}) == Path("/var/lib/deskhand/desktops")
    assert run_root(1000, {"XDG_RUNTIME_DIR": str(tmp_path)}) == tmp_path / "deskhand"
    assert run_root(1000, {"XDG_RUNTIME_DIR": "/nowhere"}).name == "deskhand-1000"
    assert run_root(0, {"DESKHAND_RUN_DIR": str(tmp_path)}) == tmp_path
    os.close(open_root(tmp_path / "root"))
    assert stat.S_IMODE((tmp_path / "root").stat().st_mode) == 0o711


def test_a_run_root_behind_an_own_link_is_used(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "root").symlink_to("disk")
    os.close(open_root(tmp_path / "root"))
    assert stat.S_IMODE((tmp_path / "disk").stat().st_mode) == 0o711


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to other users")
def test_a_run_root_of_another_user_is_refused(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir(mode=0o700)
    os.chown(root, 12345, 12345)
    with pytest.raises(PermissionError, match="belongs to another user"):
        open_root(root)
    assert stat.S_IMODE(root.stat().st_mode) == 0o700


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give directories to other users")
@pytest.mark.parametrize("separated", [True, False])
def test_the_sockets_of_the_buses_are_in_a_directory_of_their_user(
    tmp_path: Path, separated: bool
) -> None:
    folder = DesktopDirectory(tmp_path / "d")
    account = numbered_account(7, browser_separated=separated)
    folder.make(account)
    facts = (folder.path / "run" / "bus" / "at-spi").stat()
    owner = account.service if separated else account.agent
    assert (facts.st_uid, facts.st_gid) == (owner.uid, account.agent.gid)
    assert stat.S_IMODE(facts.st_mode) == 0o710


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give directories to other users")
def test_the_agent_owns_no_directory_that_holds_a_name_of_the_service(tmp_path: Path) -> None:
    folder, account = DesktopDirectory(tmp_path / "d"), numbered_account(7)
    folder.make(account)
    names = ["", *(str(path.relative_to(folder.path)) for path in folder.path.rglob("*"))]
    owners = {name: (folder.path / name).stat().st_uid for name in names}
    agents = {name for name, uid in owners.items() if uid == account.agent.uid}
    assert {"home", "work", "tmp", "run/agent"} <= agents
    assert owners[""] == owners["run"] == 0
    assert {owners[name] for name in ("recordings", "logs", "journals", "run/service")} == {
        account.service.uid
    }
    assert stat.S_IMODE((folder.path / "recordings").stat().st_mode) == 0o700
    for name in owners:
        above = os.path.dirname(name)  # noqa: PTH120 - of a text
        assert owners[name] == account.agent.uid or above not in agents
