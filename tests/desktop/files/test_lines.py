import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskhand.desktop.files.lines import (
    BINARY_PROBE,
    CUT_MARK,
    Bounds,
    Excerpt,
    LineReader,
    is_binary,
)

MANY = 1 << 62
small_texts = st.text(alphabet="ab\n\té☃", max_size=60)


def read(
    text: bytes, first: int = 1, count: int = MANY, bounds: Bounds | None = None, size: int = 7
) -> Excerpt:
    reader = LineReader(first, count, bounds or Bounds())
    for at in range(0, len(text), size):
        reader.feed(text[at : at + size])
    return reader.finish()


def test_lines_are_numbered_and_joined() -> None:
    assert read(b"one\ntwo\nthree").content == "1\tone\n2\ttwo\n3\tthree"


@pytest.mark.parametrize(
    ("text", "total"), [(b"", 0), (b"\n", 1), (b"a", 1), (b"a\n", 1), (b"a\n\n", 2), (b"\na", 2)]
)
@pytest.mark.parametrize("first", [1, 2, 9])
def test_a_final_newline_begins_no_further_line(text: bytes, total: int, first: int) -> None:
    assert read(text, first).total_lines == total


def test_a_range_is_picked_and_the_rest_counted() -> None:
    text = b"".join(b"line %d\n" % number for number in range(1, 10_001))
    found = read(text, 5_000, 2, size=1000)
    assert found == Excerpt("5000\tline 5000\n5001\tline 5001", 2, 10_000, None, None)


def test_a_range_may_end_with_an_unfinished_line() -> None:
    assert read(b"a\nb\nc", 2, 2).content == "2\tb\n3\tc"
    assert read(b"a\nb\nc", 1, 1).total_lines == 3


@pytest.mark.parametrize("size", range(1, 6))
def test_long_lines_are_cut_between_characters(size: int) -> None:
    bounds = Bounds(line_bytes=4)
    assert read("ab☃d\nok".encode(), bounds=bounds, size=size).content == f"1\tab{CUT_MARK}\n2\tok"
    assert read("a☃\n".encode(), bounds=bounds, size=size).content == "1\ta☃"
    assert read("a☃b\n".encode(), bounds=bounds, size=size).content == f"1\ta☃{CUT_MARK}"
    assert read(b"\x80" * 9, bounds=bounds, size=size).content.endswith(CUT_MARK)


def test_too_many_lines_say_where_to_continue() -> None:
    found = read(b"a\n" * 10, 3, bounds=Bounds(lines=4))
    assert (found.lines, found.next_line, found.full, found.total_lines) == (4, 7, "lines", 10)


def test_too_many_bytes_say_where_to_continue() -> None:
    found = read(b"abcd\n" * 10, bounds=Bounds(content_bytes=13))
    assert found.content == "1\tabcd\n2\tabcd"
    assert (found.next_line, found.full, found.total_lines) == (3, "bytes", 10)


def test_one_line_is_given_however_small_the_bound() -> None:
    found = read(b"abcd\nefgh\n", bounds=Bounds(content_bytes=1))
    assert (found.content, found.next_line) == ("1\tabcd", 2)


def test_a_last_line_that_does_not_fit_is_continued_at() -> None:
    assert read(b"a\nb", bounds=Bounds(lines=1)).next_line == 2


@given(small_texts, st.integers(1, 8), st.integers(1, 8))
def test_byte_by_byte_is_the_same_as_at_once(text: str, first: int, count: int) -> None:
    data = text.encode()
    assert read(data, first, count, size=1) == read(data, first, count, size=1000)


@given(small_texts, st.integers(1, 8), st.integers(1, 8))
def test_it_gives_what_splitting_gives(text: str, first: int, count: int) -> None:
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    wanted = list(enumerate(lines, 1))[first - 1 : first - 1 + count]
    found = read(text.encode(), first, count)
    assert found.content == "\n".join(f"{number}\t{line}" for number, line in wanted)
    assert found.total_lines == len(lines)


@given(small_texts, st.integers(1, 9), st.integers(1, 40))
def test_paging_gives_every_line_once(text: str, most_lines: int, most_bytes: int) -> None:
    bounds = Bounds(lines=most_lines, content_bytes=most_bytes)
    pages, at = [], 1
    while True:
        page = read(text.encode(), at, bounds=bounds)
        pages.append(page.content)
        if page.next_line is None:
            break
        at = page.next_line
    assert "\n".join(pages) == read(text.encode()).content


def test_a_nul_near_the_start_is_binary() -> None:
    assert is_binary(b"ab\0")
    assert not is_binary(b"a" * BINARY_PROBE + b"\0")
