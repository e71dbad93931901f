import os
from pathlib import Path

import pytest

from deskhand.tools.control_plane.access_probe import first_problem
from deskhand.tools.control_plane.process_user import (
    ProcessUser,
    StaysRoot,
    acting_as,
    process_user,
)


def test_all_that_this_user_can_use_is_no_problem(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "desktop.log").touch()
    (tmp_path / "link").symlink_to("/nowhere")
    assert first_problem(tmp_path, []) == {}


def test_the_first_path_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    found = first_problem(tmp_path, [tmp_path / "token"])
    assert found == {"path": str(tmp_path / "token"), "reason": "No such file or directory"}
    assert first_problem(tmp_path / "none", [])["path"] == str(tmp_path / "none")


@pytest.mark.root
def test_root_stays_root_without_a_user(tmp_path: Path) -> None:
    found = process_user("", tmp_path)
    assert isinstance(found, StaysRoot)
    assert "run_as is empty" in found.because
    found = process_user("no-such-user", tmp_path)
    assert isinstance(found, StaysRoot)
    assert found.because == "there is no user no-such-user"
    assert "useradd" in found.remedy


@pytest.mark.root
def test_a_directory_out_of_reach_is_named_and_stays_roots(tmp_path: Path) -> None:
    folder = tmp_path / "root" / "data"
    folder.mkdir(parents=True)
    (tmp_path / "root").chmod(0o700)
    found = process_user("nobody", folder)
    assert isinstance(found, StaysRoot)
    assert found.because.startswith("the user nobody cannot ")
    assert folder.stat().st_uid == 0


@pytest.mark.root
def test_files_are_made_with_the_rights_of_the_user_and_root_comes_back(tmp_path: Path) -> None:
    with acting_as(None):
        assert os.geteuid() == 0
    groups = os.getgroups()
    tmp_path.chmod(0o777)
    # The folders above are root's alone: a path without them.
    folder = os.open(tmp_path, os.O_RDONLY)
    try:
        user = _nobody()
        with acting_as(user):
            assert (os.geteuid(), os.getegid(), os.getgroups()) == (user.uid, user.gid, [])
            os.close(os.open("made", os.O_CREAT | os.O_WRONLY, dir_fd=folder))
    finally:
        os.close(folder)
    assert (os.geteuid(), os.getegid(), os.getgroups()) == (0, 0, groups)
    assert (tmp_path / "made").stat().st_uid == user.uid


def _nobody() -> ProcessUser:
    return ProcessUser("nobody", 65534, 65534, "/nonexistent")
