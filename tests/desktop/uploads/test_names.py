import pytest

from deskhand.desktop.errors import InvalidAction
from deskhand.desktop.uploads.names import LONGEST, checked_name, free_name


@pytest.mark.parametrize("name", ["report.pdf", "..a", ".profile", "ü" * 127])
def test_a_file_name_is_accepted(name: str) -> None:
    assert checked_name(name) == name


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "/etc/passwd", "a\0b", "ü" * 128])
def test_what_is_no_file_name_is_refused(name: str) -> None:
    with pytest.raises(InvalidAction, match='"name" must'):
        checked_name(name)


@pytest.mark.parametrize(
    ("name", "taken", "free"),
    [
        ("a.pdf", (), "a.pdf"),
        ("a.pdf", ("a.pdf",), "a (1).pdf"),
        ("a.pdf", ("a.pdf", "a (1).pdf"), "a (2).pdf"),
        ("a.tar.gz", ("a.tar.gz",), "a.tar (1).gz"),
        (".profile", (".profile",), ".profile (1)"),
        ("notes", ("notes",), "notes (1)"),
    ],
)
def test_a_taken_name_gets_a_number(name: str, taken: tuple[str, ...], free: str) -> None:
    assert free_name(name, taken) == free


def test_a_long_name_with_a_number_is_no_longer_than_a_name_may_be() -> None:
    name = "ü" * 125 + ".pdf"
    found = free_name(name, (name,))
    assert found == "ü" * 123 + " (1).pdf"
    assert len(found.encode()) <= LONGEST
