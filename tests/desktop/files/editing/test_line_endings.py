import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskhand.desktop.files.editing.line_endings import (
    TextLine,
    converted,
    dominant,
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
    ("text", "ending"), [("", "\n"), ("a\r\nb\n", "\n"), ("a\r\nb\r\nc\n", "\r\n"), ("\n", "\n")]
)
def test_the_dominant_ending_needs_a_majority(text: str, ending: str) -> None:
    assert dominant(text) == ending


def test_endings_are_collected_and_converted() -> None:
    assert endings("a\r\nb\n") == {"\r\n", "\n"}
    assert endings("a") == set()
    assert converted("a\r\nb\n", "\r\n") == "a\r\nb\r\n"
    assert converted("a\r\nb\n", "\n") == "a\nb\n"
