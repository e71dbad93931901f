import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskhand.vncbridge.http.ranges import (
    MOST_PLAYED,
    Span,
    Unsatisfiable,
    if_range_matches,
    parse_range,
    select,
)


@pytest.mark.parametrize(
    ("header", "span"),
    [
        (None, None),
        ("bytes=0-", (0, 100)),
        ("bytes=0-0", (0, 1)),
        ("Bytes = 10 - 19 ", (10, 20)),
        ("bytes=90-900", (90, 100)),
        ("bytes=-1", (99, 100)),
        ("bytes=-900", (0, 100)),
        ("bytes=-", None),
        ("bytes=9-8", None),
        ("bytes=0-1,4-5", None),
        ("items=0-1", None),
        ("bytes=a-b", None),
        ("bytes=٣-٤", None),
        ("bytes=" + "9" * 5000 + "-", None),
    ],
)
def test_a_header_names_a_part_or_nothing(header: str | None, span: Span | None) -> None:
    assert parse_range(header, 100) == span


@pytest.mark.parametrize(
    ("header", "size"), [("bytes=100-", 100), ("bytes=-0", 100), ("bytes=-5", 0), ("bytes=0-", 0)]
)
def test_what_lies_behind_the_end_cannot_be_sent(header: str, size: int) -> None:
    with pytest.raises(Unsatisfiable):
        parse_range(header, size)


@given(st.text(max_size=20), st.integers(0, 50))
def test_no_header_is_too_odd(header: str, size: int) -> None:
    try:
        span = parse_range("bytes=" + header, size)
    except Unsatisfiable:
        return
    assert span is None or 0 <= span.start < span.end <= size


@given(st.integers(0, 49), st.integers(0, 99))
def test_what_is_there_is_sent(start: int, end: int) -> None:
    span = parse_range(f"bytes={start}-{end}", 50)
    assert span == (None if end < start else Span(start, min(end + 1, 50)))


@pytest.mark.parametrize(
    ("header", "answer"),
    [(None, True), ('"a"', True), ('W/"a"', False), ("Thu, 1", True), ('"b"', False)],
)
def test_parts_of_two_versions_are_never_mixed(header: str | None, answer: bool) -> None:
    assert if_range_matches(header, '"a"', "Thu, 1") is answer


def test_a_date_that_the_bytes_do_not_have_never_matches() -> None:
    assert not if_range_matches("", '"a"')
    assert not if_range_matches("Thu, 1", '"a"')


def test_a_range_is_selected_with_its_headers() -> None:
    assert select({}, 9, '"a"') == (200, (0, 9), {"Content-Length": "9"})
    part = {"Content-Length": "2", "Content-Range": "bytes 1-2/9"}
    assert select({"range": "bytes=1-2"}, 9, '"a"') == (206, (1, 3), part)
    stale = {"range": "bytes=1-2", "if-range": '"b"'}
    assert select(stale, 9, '"a"', "Thu, 1").status == 200
    with pytest.raises(Unsatisfiable):
        select({"range": "bytes=9-"}, 9, '"a"')


@pytest.mark.parametrize("kind", ["video", "audio"])
def test_a_player_of_a_page_gets_four_mebibytes_at_a_time(kind: str) -> None:
    player = {"range": "bytes=100-", "sec-fetch-dest": kind}
    found = select(player, 100 << 20, '"a"')
    assert found.status == 206
    assert found.span == Span(100, 100 + MOST_PLAYED)
    assert found.headers["Content-Length"] == str(MOST_PLAYED)
    # What is left is given whole, and other clients get what they request.
    assert select({**player, "range": "bytes=0-"}, 5, '"a"').span == Span(0, 5)
    assert select({"range": "bytes=0-"}, 100 << 20, '"a"').span == Span(0, 100 << 20)
