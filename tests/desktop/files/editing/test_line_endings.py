import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskhand.desktop.files.editing.line_endings import (
    TextLine,
    ended,
    ending_at,
    endings,
    joined,
    lines_of,
)


@given(st.text(alphabet="ab \t\r\n\x0c\u2028", max_size=40))
def test_lines_put_together_are_the_text(text: str) -> None:
    assert joined(lines_of(text)) == text


def test_a_line_is_split_into_its_parts() -> None:
    assert lines_of(" \ta b \r\n\t \n") == [
        TextLine(" \t", "a b", " ", "\r\n"),
        TextLine("\t ", "", "", "\n"),
    ]
    assert lines_of("\t\n")[0].blank
    assert not lines_of("a")[0].blank


def test_a_carriage_return_alone_ends_nothing() -> None:
    assert len(lines_of("a\rb")) == 1


@pytest.mark.parametrize(
    ("text", "position", "ending"),
    [
        ("", 0, "\n"),
        ("a\r\nb\n", 0, "\r\n"),
        ("a\r\nb\n", 3, "\n"),
        ("a\r\nb", 4, "\r\n"),
        ("\n", 0, "\n"),
    ],
)
def test_a_line_without_ending_has_that_of_the_line_before(
    text: str, position: int, ending: str
) -> None:
    assert ending_at(text, position) == ending


def test_endings_are_collected() -> None:
    assert endings("a\r\nb\n") == {"\r\n", "\n"}
    assert endings("a") == set()


def test_mixed_endings_are_not_changed() -> None:
    new = lines_of("a\r\nb\n")
    assert ended(new, lines_of("a\nb\n"), ["\n", "\n"]) == new


@pytest.mark.parametrize(
    ("new", "ended_as"),
    [
        ("a\nb\nc\n", "a\nb\r\nc\n"),
        ("a\nB\nc\n", "a\nB\r\nc\n"),
        ("a\nb\nmore\nc\n", "a\nb\r\nmore\r\nc\n"),
        ("first\na\nb\nc", "first\na\nb\r\nc"),
        ("c\n", "c\n"),
    ],
)
def test_each_line_gets_the_ending_of_the_line_that_it_replaces(new: str, ended_as: str) -> None:
    found = ended(lines_of(new), lines_of("a\nb\nc\n"), ["\n", "\r\n", "\n"])
    assert joined(found) == ended_as


def test_lines_of_a_file_with_one_ending_get_that() -> None:
    found = ended(lines_of("x\ny\n"), lines_of("a\nb\n"), ["\r\n", "\r\n"])
    assert joined(found) == "x\r\ny\r\n"
