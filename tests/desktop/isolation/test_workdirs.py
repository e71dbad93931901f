import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from deskhand.desktop.isolation.workdirs import DEFAULT_ACL, GROUPS, Workdirs


def workdirs(tmp_path: Path) -> Workdirs:
    return Workdirs(tmp_path / "work", tmp_path / "data")


def test_a_working_directory_in_the_data_directory_is_refused(tmp_path: Path) -> None:
    data = tmp_path / "data"
    (tmp_path / "link").symlink_to(data)
    for folder in (data, data / "work", tmp_path / "link" / "work"):
        with pytest.raises(OSError, match="lies in the data directory"):
            Workdirs(folder, data)
    Workdirs(tmp_path / "data-of-others", data)


def test_a_root_chat_keeps_its_directory_until_it_is_removed(tmp_path: Path) -> None:
    found = workdirs(tmp_path).of("x")
    (found.path / "notes").write_text("kept")
    # Another process has no memory of the first.
    assert workdirs(tmp_path).of("x") == found
    assert (found.path / "notes").read_text() == "kept"
    workdirs(tmp_path).remove("x")
    workdirs(tmp_path).remove("x")
    assert not found.path.exists()


@pytest.mark.root
def test_each_root_chat_has_a_group_of_its_own(tmp_path: Path) -> None:
    found = [workdirs(tmp_path).of(name) for name in ("x", "y")]
    groups = [one.group or 0 for one in found]
    assert groups == sorted({*groups} & {*GROUPS})
    for one in found:
        assert stat.S_IMODE(one.path.stat().st_mode) == 0o2770
        assert os.getxattr(one.path, "system.posix_acl_default") == DEFAULT_ACL
        options = ("--workdir", str(one.path), "--workdir-group", str(one.group))
        assert one.options() == options
    workdirs(tmp_path).remove("x")
    assert workdirs(tmp_path).of("z").group == groups[0]
    assert stat.S_IMODE((tmp_path / "work").stat().st_mode) == 0o711


@pytest.mark.root
def test_new_files_belong_to_the_group_whatever_the_umask_is(tmp_path: Path) -> None:
    found = workdirs(tmp_path).of("x")
    before = os.umask(0o077)
    try:
        (found.path / "below").mkdir()
        (found.path / "below" / "file").touch()
    finally:
        os.umask(before)
    for path, rights in ((found.path / "below", 0o770), (found.path / "below" / "file", 0o660)):
        assert path.stat().st_gid == found.group
        assert stat.S_IMODE(path.stat().st_mode) & 0o777 == rights


@pytest.mark.root
def test_several_control_planes_use_one_folder_at_once(tmp_path: Path) -> None:
    def groups_of(plane: int) -> list[int | None]:
        kept = []
        for number in range(40):
            found = workdirs(tmp_path).of(f"{plane}-{number}")
            if number % 2:
                workdirs(tmp_path).remove(found.path.name)
            else:
                kept.append(found.group)
        return kept

    with ThreadPoolExecutor(4) as pool:
        groups = [group for found in pool.map(groups_of, range(4)) for group in found]
    assert len(set(groups)) == len(groups) == 80
