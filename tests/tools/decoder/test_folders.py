import os
from pathlib import Path

import pytest

from deskhand.tools.decoder.folders import lent


def test_only_regular_files_come_back(tmp_path: Path) -> None:
    secret, folder = tmp_path / "secret", tmp_path / "folder"
    secret.write_text("mine")
    secret.chmod(0o604)
    (folder / "inner").mkdir(parents=True)
    with lent(folder, None):
        (folder / "inner" / "video").write_text("good")
        (folder / "inner" / "video").chmod(0o777)
        (folder / "link").symlink_to(secret)
        (folder / "inner" / "folder").symlink_to(tmp_path)
        os.link(secret, folder / "hard")
        os.mkfifo(folder / "pipe")
    assert sorted(path.name for path in folder.rglob("*")) == ["inner", "video"]
    assert (folder / "inner" / "video").stat().st_mode & 0o7777 == 0o600
    assert secret.stat().st_mode & 0o7777 == 0o604


def test_a_file_that_had_two_names_before_comes_back(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "video").write_text("good")
    os.link(folder / "video", tmp_path / "stored")
    with lent(folder, None):
        pass
    assert (folder / "video").read_text() == "good"


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="needs the capability CAP_CHOWN")
def test_the_user_owns_the_folder_meanwhile(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "video").write_text("")
    with lent(folder, 64_990):
        assert folder.stat().st_uid == (folder / "video").stat().st_uid == 64_990
    assert folder.stat().st_uid == (folder / "video").stat().st_uid == 0
