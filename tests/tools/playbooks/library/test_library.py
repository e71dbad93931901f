from pathlib import Path

import pytest

from deskhand.tools.playbooks.errors import BadPlaybook, PlaybookExists, UnknownPlaybook
from deskhand.tools.playbooks.library.library import PlaybookLibrary

TEXT = "name: order\nversion: 1\nsteps:\n  - {action: key, keys: a}\n"


@pytest.fixture
def library(tmp_path: Path) -> PlaybookLibrary:
    return PlaybookLibrary(tmp_path / "playbooks")


def test_a_stored_playbook_is_listed_and_read(library: PlaybookLibrary, tmp_path: Path) -> None:
    assert library.names() == ()
    library.save(TEXT, {"patches/1.png": b"picture"})
    assert library.names() == ("order",)
    assert library.text("order") == TEXT
    assert library.load("order").steps[0].keys == "a"
    assert (Path(library.folder("order")) / "patches/1.png").read_bytes() == b"picture"
    assert not list(tmp_path.rglob(".new-*"))


def test_a_playbook_is_replaced_only_on_demand(library: PlaybookLibrary) -> None:
    library.save(TEXT)
    with pytest.raises(PlaybookExists, match="there is a playbook 'order' already"):
        library.save(TEXT)
    library.save(TEXT.replace("keys: a", "keys: b"), replace=True)
    assert library.load("order").steps[0].keys == "b"


@pytest.mark.parametrize("name", ["../order", "", "Order", "a/b", "order2"])
def test_an_unknown_name_is_refused_with_the_known_ones(
    library: PlaybookLibrary, name: str
) -> None:
    library.save(TEXT)
    with pytest.raises(UnknownPlaybook, match="there are order"):
        library.load(name)


def test_a_playbook_that_a_person_broke_is_listed_with_its_error(library: PlaybookLibrary) -> None:
    library.save(TEXT)
    path = Path(library.folder("order")) / "playbook.yaml"
    path.write_text(TEXT.replace("keys", "kyes"))
    (entry,) = library.list()
    assert entry.playbook is None
    assert "line 4: the step has no key 'kyes'; did you mean 'keys'?" in entry.error
    path.write_bytes(b"\xff")
    assert "cannot be read" in library.list()[0].error
    path.write_text(TEXT.replace("name: order", "name: other"))
    with pytest.raises(BadPlaybook, match="its name is 'other'"):
        library.load("order")


def test_a_playbook_is_removed_with_its_pictures(library: PlaybookLibrary) -> None:
    library.save(TEXT, {"patches/1.png": b"picture"})
    library.remove("order")
    assert library.names() == ()
    with pytest.raises(UnknownPlaybook, match="there are none"):
        library.remove("order")


def test_an_unreadable_text_is_not_stored(library: PlaybookLibrary) -> None:
    with pytest.raises(BadPlaybook):
        library.save("name: order")
    assert library.names() == ()
