import threading
from contextlib import suppress
from pathlib import Path

import pytest

from deskhand.desktop.files.disk import Replacement, entries, existing, replace, resolved
from deskhand.desktop.files.errors import FileError, OutsideRoots
from deskhand.desktop.files.reading import opened
from deskhand.desktop.files.roots import Roots


@pytest.fixture
def inside(tmp_path: Path) -> Path:
    folder = tmp_path / "inside"
    folder.mkdir()
    (folder / "file").write_text("mine")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").write_text("secret")
    (folder / "link").symlink_to("../outside/secret")
    (folder / "folder").symlink_to(tmp_path / "outside")
    (folder / "new").symlink_to("../outside/new")
    (folder / "loop").symlink_to("file")
    return folder


@pytest.fixture
def roots(inside: Path) -> Roots:
    return Roots.of((inside,))


ESCAPES = ["link", "folder/secret", "../outside/secret", "folder/../outside/secret"]


@pytest.mark.parametrize("path", ESCAPES)
def test_nothing_outside_is_read(path: str, inside: Path, roots: Roots) -> None:
    with pytest.raises(OutsideRoots), opened(inside / path, roots):
        pass
    with pytest.raises(OutsideRoots):
        existing(inside / path, roots)
    with pytest.raises(OutsideRoots):
        resolved(inside / path, roots)


@pytest.mark.parametrize("path", [*ESCAPES, "new", "folder/new", "folder/a/b/c", "../made"])
def test_nothing_outside_is_written(path: str, inside: Path, roots: Roots) -> None:
    outside = inside.parent / "outside"
    with pytest.raises(OutsideRoots):
        replace(inside / path, b"x", roots)
    assert [entry.name for entry in outside.iterdir()] == ["secret"]
    assert (outside / "secret").read_text() == "secret"
    assert not (inside.parent / "made").exists()


def test_directories_outside_are_not_listed(inside: Path, roots: Roots) -> None:
    for place in (inside / "folder", inside.parent):
        with pytest.raises(OutsideRoots):
            entries(place, roots)


def test_what_is_inside_is_used_as_ever(inside: Path, roots: Roots) -> None:
    with opened(inside / "loop", roots) as file:
        assert file.read() == b"mine"
    replace(inside / "a/b/c", b"x", roots)
    replace(inside / "loop", b"changed", roots)
    assert (inside / "file").read_text() == "changed"
    assert existing(inside / "loop", roots) == inside.resolve() / "file"


def test_a_root_may_be_named_by_a_link(inside: Path) -> None:
    alias = inside.parent / "alias"
    alias.symlink_to(inside)
    replace(alias / "file", b"x", Roots.of((alias,)))
    assert (inside / "file").read_bytes() == b"x"


def test_a_folder_that_is_swapped_meanwhile_takes_nothing_out(inside: Path, roots: Roots) -> None:
    """The file goes to where its folder was, wherever the path leads by then."""
    (inside / "sub").mkdir()
    with Replacement(inside / "sub" / "f", roots) as new:
        new.write(b"x")
        (inside / "sub").rename(inside / "moved")
        (inside / "sub").symlink_to("../outside")
        new.commit()
    assert (inside / "moved" / "f").read_bytes() == b"x"
    assert not (inside.parent / "outside" / "f").exists()


def test_no_race_leads_out(inside: Path, roots: Roots) -> None:
    real, link, path = inside / "real", inside / "trap", inside / "swapped"
    real.mkdir()
    (real / "secret").write_text("mine")
    path.symlink_to("real")
    over = threading.Event()

    def swap() -> None:
        while not over.is_set():
            for goal in ("../outside", "real"):
                link.symlink_to(goal)
                link.replace(path)

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        for _ in range(300):
            with suppress(FileError), opened(path / "secret", roots) as file:
                assert file.read() == b"mine"
            with suppress(FileError):
                replace(path / "fresh", b"x", roots)
    finally:
        over.set()
        thread.join()
    assert [entry.name for entry in (inside.parent / "outside").iterdir()] == ["secret"]
