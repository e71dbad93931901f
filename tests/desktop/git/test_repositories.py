import os
import shutil
import subprocess
from pathlib import Path

import pytest

from deskhand.desktop.git.errors import Unreadable
from deskhand.desktop.git.repositories import Git, _copy_index, is_repository, root_of

ENVIRONMENT = {"PATH": os.environ["PATH"], "HOME": "/nonexistent"}
WHO = ("-c", "user.name=n", "-c", "user.email=e@x", "-c", "init.defaultBranch=main")


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *WHO, "-C", str(folder), *arguments], check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "-q")
    (folder / ".gitignore").write_text("ignored\n")
    (folder / "file").write_text("old\n")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    git(folder, "remote", "add", "origin", "https://me:secret@host/r.git")
    return folder


def test_changed_and_untracked_files_are_in_the_diff_and_ignored_ones_not(
    repository: Path,
) -> None:
    (repository / "file").write_text("new\n")
    (repository / "added").write_text("untracked\n")
    (repository / "ignored").write_text("no\n")
    found = Git(ENVIRONMENT).read(str(repository))
    assert (found.branch, found.remote_origin) == ("main", "https://host/r.git")
    assert "-old\n+new" in found.unified_diff
    assert "+untracked" in found.unified_diff
    assert "ignored" not in found.unified_diff


def test_a_change_right_after_git_add_that_keeps_the_size_is_seen(repository: Path) -> None:
    git(repository, "config", "core.trustctime", "false")
    file, index = repository / "another", repository / ".git/index"
    file.write_text("old\n")
    os.utime(file, (1e9, 1e9))
    git(repository, "add", "another")
    git(repository, "commit", "-qm", "second")
    file.write_text("new\n")
    for path in (file, index):
        os.utime(path, (1e9, 1e9))
    assert "-old\n+new" in Git(ENVIRONMENT).read(str(repository)).unified_diff


def test_reading_changes_nothing(repository: Path) -> None:
    (repository / "added").write_text("x\n")
    index = (repository / ".git/index").read_bytes()
    Git(ENVIRONMENT).read(str(repository))
    assert (repository / ".git/index").read_bytes() == index


def test_before_the_first_commit_everything_is_new(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "a\nb").write_text("x\n")
    (tmp_path / "inner").mkdir()
    git(tmp_path / "inner", "init", "-q")
    found = Git(ENVIRONMENT).read(str(tmp_path))
    assert found.branch == "main"
    assert "+x" in found.unified_diff
    assert "inner" not in found.unified_diff


def test_a_head_without_a_branch_is_called_head(repository: Path) -> None:
    git(repository, "checkout", "-q", "--detach")
    assert Git(ENVIRONMENT).read(str(repository)).branch == "HEAD"


def test_a_worktree_is_a_repository_until_its_folder_is_gone(repository: Path) -> None:
    tree = repository.parent / "tree"
    git(repository, "worktree", "add", "-q", str(tree), "-b", "side")
    (tree / "file").write_text("other\n")
    assert root_of(str(tree / "not/there")) == str(tree)
    found = Git(ENVIRONMENT).read(str(tree))
    assert found.branch == "side"
    assert "+other" in found.unified_diff
    shutil.rmtree(repository / ".git/worktrees/tree")
    assert not is_repository(tree)
    assert root_of(str(tree)) is None


def test_links_lead_to_the_real_place(repository: Path) -> None:
    link = repository.parent / "link"
    link.symlink_to(repository)
    assert root_of(str(link / "file")) == str(repository)
    (repository.parent / ".git").write_bytes(b"\xff")
    assert root_of(str(repository.parent)) is None


def test_a_long_diff_is_named_by_its_size(repository: Path) -> None:
    (repository / "big").write_text("x" * 99 + "\n")
    with (repository / "big").open("w") as file:
        file.writelines("x" * 99 + "\n" for _ in range(40_000))
    assert "too large" in Git(ENVIRONMENT).read(str(repository)).unified_diff


def test_what_git_cannot_tell_is_unreadable(repository: Path, tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match="cannot be read"):
        Git({"PATH": str(tmp_path)}).read(str(repository))
    with pytest.raises(Unreadable):
        Git(ENVIRONMENT).read(str(tmp_path))


def test_a_fifo_in_the_place_of_a_repository_or_its_index_blocks_nothing(tmp_path: Path) -> None:
    (tmp_path / "pipe").mkdir()
    os.mkfifo(tmp_path / "pipe" / ".git")
    assert not is_repository(tmp_path / "pipe")
    os.mkfifo(tmp_path / "index")
    with pytest.raises(OSError, match="is not a file"):
        _copy_index(tmp_path / "index", tmp_path / "copy")
