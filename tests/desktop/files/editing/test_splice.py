import pytest

from deskhand.desktop.files.editing.line_endings import joined, lines_of
from deskhand.desktop.files.editing.splice import Alignment, aligned, spliced


def splice(found: str, search: str, new: str) -> str:
    return joined(spliced(lines_of(found), lines_of(search), lines_of(new), "\n"))


def test_sides_are_aligned_from_their_ends() -> None:
    search, new = lines_of("a\n  b\nc\nd\n"), lines_of("a\nb\nx\ny\nd\n")
    assert aligned(search, new) == Alignment(prefix=2, suffix=1, paired=1)


def test_what_both_sides_share_stays_as_the_file_has_it() -> None:
    assert splice("\tkey  \r\n", "  key\n", "  KEY\n") == "\tKEY  \r\n"
    assert splice("\t \n\tkey\n", "\n  key\n", "\n  KEY\n") == "\t \n\tKEY\n"


def test_changed_indentation_is_written_in_the_unit_of_the_file() -> None:
    found = "\tif x {\n\t\ta()\n\t}\n"
    search = "  if x {\n    a()\n  }\n"
    assert splice(found, search, "  a()\n") == "\ta()\n"
    assert splice(found, search, "  if x {\n    if y {\n      a()\n    }\n  }\n") == (
        "\tif x {\n\t\tif y {\n\t\t\ta()\n\t\t}\n\t}\n"
    )


def test_a_replacement_in_the_manner_of_the_file_is_taken_as_it_is() -> None:
    assert splice("\t\ta()\n", "a()\n", "\t\tif x {\n\t\t\ta()\n\t\t}\n") == (
        "\t\tif x {\n\t\t\ta()\n\t\t}\n"
    )


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_an_indentation_that_is_the_edit_is_taken_as_it_is(ending: str) -> None:
    assert splice(f"\tkey{ending}", "  key\n", f"    KEY{ending}") == f"    KEY{ending}"
    assert splice("if x: \n", "if x:\n", "if x:\n    a()\n") == "if x: \n    a()\n"


def test_lines_wrapped_in_a_block_get_the_indentation_of_the_file() -> None:
    wrapped = "  if x {\n    a()\n    b()\n"
    assert splice("\ta()\n\tb()\n", "  a()\n  b()\n", wrapped) == "\tif x {\n\t\ta()\n\t\tb()\n"


@pytest.mark.parametrize(
    ("new", "result"),
    [
        ("  a\n  x\n  b\n", "\ta\n\tx\n\tb\n"),
        ("  a\nx\n  b\n", "\ta\nx\n\tb\n"),
        ("  x\n  a\n  b\n", "\tx\n\ta\n\tb\n"),
        ("  a\n  b\n    x\n", "\ta\n\tb\n\t\tx\n"),
        ("  a\n \n  b\n", "\ta\n \n\tb\n"),
    ],
)
def test_inserted_lines_are_indented_like_their_neighbours(new: str, result: str) -> None:
    assert splice("\ta\n\tb\n", "  a\n  b\n", new) == result


def test_an_inserted_line_without_neighbours_follows_the_last_pair() -> None:
    assert splice("\ta\n", "  a\n", "  x\n  y\n") == "\tx\n\ty\n"


def test_without_a_unit_the_neighbours_indentation_is_taken() -> None:
    assert splice("\t a\n", "  a\n", "  a\n  x\n") == "\t a\n\t x\n"


def test_the_suffix_goes_before_the_prefix() -> None:
    found, search = "a\n\t\tb\n", "a\n    b\n"
    assert splice(found, search, "a\n    x\n    b\n") == "a\n\t\tx\n\t\tb\n"
    assert splice(found, search, "a\n  x\n    b\n") == "a\n\tx\n\t\tb\n"


def test_a_following_line_is_not_swallowed() -> None:
    assert splice("a \n", "a\n", "b") == "b \n"
    assert splice("a\n", " a", "b\nc") == "b\nc\n"


def test_a_last_line_without_newline_stays_one() -> None:
    assert splice("a ", "a\n", "b\n") == "b "
    assert splice("a", "a\n", "b\nc\n") == "b\nc"


def test_nothing_takes_the_place_of_lines_that_are_deleted() -> None:
    assert splice("a \nb\n", "a\nb\n", "") == ""
    assert splice("a \nb\n", "a\nb\n", "b\n") == "b\n"


def test_a_blank_replacement_keeps_its_own_blanks() -> None:
    assert splice("\ta\n", "  a\n", "   \n") == "   \n"
    assert splice("  a  \n", "a\n", "\n") == "\n"
