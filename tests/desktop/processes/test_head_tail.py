from threading import Lock, Thread
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskhand.desktop.processes.head_tail import FORMATTED, LINE, LINE_MARK, HeadTailBuffer
from tests.given import CASES, assert_contains, assert_subset, expected, filled, named

OWN_TEST = (
    "headtail/ten_writers_1000_lines_each",
    "headtail/raw_bytes_is_a_copy",
    "headtail/multibyte_cut_at_head_boundary",
)

writes_of_any_bytes = st.lists(st.binary(max_size=50), max_size=30)


@pytest.mark.parametrize("name", [name for name in named("headtail") if name not in OWN_TEST])
def test_a_given_case_of_the_buffer(name: str) -> None:
    case, expect = CASES[name], expected(name)
    buffer = HeadTailBuffer(case["setup"]["max_head"], case["setup"]["max_tail"])
    for item in filled(case["request"]["writes"], {}):
        written = buffer.write(item.encode())
        assert written == expect.get("each_write_returns", len(item.encode()))
    shown = buffer.snapshot()
    check(shown.text, vars(shown.truncated) if shown.truncated else None, expect)
    assert buffer.total == expect.get("total", buffer.total)
    assert buffer.stored == expect.get("stored", buffer.stored)


def check(text: str, truncated: dict[str, Any] | None, expect: dict[str, Any]) -> None:
    assert text == expect.get("output", text)
    assert text.endswith(expect.get("output_suffix", ""))
    assert_contains(text, expect.get("output_contains", []))
    assert len(text.encode()) == expect.get("output_bytes", len(text.encode()))
    assert_subset(text.splitlines(), expect.get("lines", text.splitlines()))
    assert_subset(truncated, expect.get("truncated", truncated))


def test_what_is_returned_is_a_copy() -> None:
    buffer = HeadTailBuffer()
    buffer.write(b"original")
    copy = bytearray(buffer.raw())
    copy[:] = b"another!"
    assert buffer.raw() == b"original"


def test_counts_are_exact_with_many_writers() -> None:
    buffer, lock = HeadTailBuffer(), Lock()

    def write(number: int) -> None:
        for _ in range(1000):
            with lock:
                buffer.write(f"goroutine-{number:02}: data\n".encode())

    writers = [Thread(target=write, args=(number,)) for number in range(10)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert buffer.total == 190_000
    assert buffer.snapshot().text


def test_a_character_is_not_cut_at_the_border_of_the_head() -> None:
    buffer = HeadTailBuffer(head=4, tail=4)
    buffer.write("aaa☃bbbbbbbb".encode())
    assert buffer.snapshot().text == "aaa\n\n... [omitted 7 bytes] ...\n\nbbbb"


@pytest.mark.parametrize("char", ["é", "☃", "😀"])
@pytest.mark.parametrize("head", range(4, 12))
@pytest.mark.parametrize("tail", range(4, 9))
def test_characters_are_whole_on_both_sides(char: str, head: int, tail: int) -> None:
    buffer = HeadTailBuffer(head, tail)
    buffer.write((char * 50).encode())
    shown = buffer.snapshot()
    assert "\ufffd" not in shown.text
    assert shown.truncated
    kept = shown.text.count(char) * len(char.encode())
    assert shown.truncated.omitted_bytes + kept == buffer.total


def test_nothing_is_nothing() -> None:
    buffer = HeadTailBuffer()
    assert buffer.snapshot().text == ""
    assert buffer.snapshot().truncated is None
    assert buffer.read(0).data == b""


def test_head_and_tail_join_without_a_seam() -> None:
    buffer = HeadTailBuffer(head=4, tail=8)
    buffer.write(b"0123456789")
    shown = buffer.snapshot()
    assert shown.text == "0123456789"
    assert shown.truncated
    assert (shown.truncated.original_bytes, shown.truncated.omitted_bytes) == (10, 0)
    assert (shown.truncated.retained_bytes, shown.truncated.cut_lines) == (10, 0)


@pytest.mark.parametrize(("size", "is_told"), [(9, False), (10, False), (11, True)])
def test_output_that_fits_into_the_head_is_unchanged(size: int, is_told: bool) -> None:
    buffer = HeadTailBuffer(head=10, tail=10)
    buffer.write(b"x" * size)
    assert (buffer.snapshot().truncated is not None) is is_told


def test_a_long_line_within_the_head_is_cut_and_nothing_is_omitted() -> None:
    buffer = HeadTailBuffer()
    buffer.write(b"x" * (LINE + 1))
    assert buffer.snapshot().text.endswith(LINE_MARK.decode())
    assert buffer.snapshot().truncated is None


def test_a_line_across_the_seam_is_cut_once() -> None:
    buffer = HeadTailBuffer(head=1000, tail=4000)
    buffer.write(b"x" * 3000)
    shown = buffer.snapshot()
    assert shown.text == "x" * (LINE - len(LINE_MARK)) + LINE_MARK.decode()
    assert shown.truncated
    assert (shown.truncated.omitted_bytes, shown.truncated.cut_lines) == (0, 1)


def test_noise_in_the_head_that_is_too_long_when_shown_loses_its_middle() -> None:
    buffer = HeadTailBuffer()
    buffer.write(b"\xff\xff\n" * 5_000 + b"end")
    shown = buffer.snapshot()
    assert shown.text.endswith("end")
    assert shown.truncated
    assert shown.truncated.omitted_bytes > 0


@pytest.mark.parametrize("noise", [b"\xff", b"\xe2\x98", b"\xff\n", b"\x80" * 3000 + b"\n"])
@pytest.mark.parametrize("size", [1_000, 20_000, 32_768, 90_000])
def test_noise_stays_within_the_budget(noise: bytes, size: int) -> None:
    buffer = HeadTailBuffer()
    buffer.write((noise * size)[:size])
    assert len(buffer.snapshot().text.encode()) <= FORMATTED


def test_the_newest_bytes_survive_the_budget() -> None:
    buffer = HeadTailBuffer()
    for number in range(5000):
        buffer.write(b"%020d\n" % number)
    shown = buffer.snapshot()
    assert len(shown.text.encode()) <= FORMATTED
    assert shown.text.endswith("04999\n")
    assert shown.text.startswith("0" * 20)


@pytest.mark.parametrize("line", [b"a" * 3000 + b"\n", "ä".encode() * 5000])
def test_long_lines_over_the_budget_still_fit(line: bytes) -> None:
    buffer = HeadTailBuffer(formatted=600, head=9000, tail=9000)
    buffer.write(line * 20)
    assert len(buffer.snapshot().text.encode()) <= 600


@given(writes_of_any_bytes, st.integers(0, 20), st.integers(1, 20))
def test_it_keeps_what_a_naive_model_keeps(writes: list[bytes], head: int, tail: int) -> None:
    buffer = HeadTailBuffer(head, tail, recent=30)
    for data in writes:
        buffer.write(data)
    whole = b"".join(writes)
    first = whole[:head]
    assert buffer.raw() == first + whole[len(first) :][-tail:]
    assert buffer.total == len(whole)


@given(st.binary(max_size=200), st.integers(0, 20), st.integers(1, 20))
def test_byte_by_byte_is_the_same_as_at_once(data: bytes, head: int, tail: int) -> None:
    at_once, by_byte = (HeadTailBuffer(head, tail, recent=30) for _ in range(2))
    at_once.write(data)
    for byte in data:
        by_byte.write(bytes([byte]))
    assert by_byte.snapshot() == at_once.snapshot()
    assert by_byte.read(0, 1000) == at_once.read(0, 1000)


@given(st.text(max_size=60), st.integers(0, 20), st.integers(1, 20))
def test_valid_text_never_shows_broken_characters(text: str, head: int, tail: int) -> None:
    buffer = HeadTailBuffer(head, tail)
    buffer.write(text.encode())
    shown = buffer.snapshot().text
    assert shown.count("\ufffd") <= text.count("\ufffd")


@given(writes_of_any_bytes, st.integers(0, 20), st.integers(1, 8))
def test_a_reader_that_polls_gets_every_byte_once(
    writes: list[bytes], head: int, limit: int
) -> None:
    buffer = HeadTailBuffer(head, 5, recent=60)
    cursor, read = 0, b""
    for data in writes:
        buffer.write(data)
        while True:
            chunk = buffer.read(cursor, limit)
            assert chunk.gap_bytes == 0
            read += chunk.data
            cursor = chunk.next_cursor
            if not chunk.has_more:
                break
    assert read == b"".join(writes)


def test_a_late_reader_gets_the_count_of_bytes_that_it_missed() -> None:
    buffer = HeadTailBuffer(head=4, tail=4, recent=10)
    buffer.write(b"abcdefghijklmnopqrstuvwxyz")
    first = buffer.read(0)
    assert (first.data, first.gap_bytes, first.has_more) == (b"abcd", 0, True)
    rest = buffer.read(first.next_cursor)
    assert (rest.data, rest.cursor, rest.gap_bytes) == (b"qrstuvwxyz", 16, 12)
    assert not rest.has_more
    assert buffer.read(99).cursor == 26


def test_a_chunk_ends_between_characters() -> None:
    buffer = HeadTailBuffer()
    buffer.write("aé☃".encode())
    assert buffer.read(0, 2).data == b"a"
    assert buffer.read(3, 1).data == "☃".encode()[:1]


def test_the_rest_of_a_character_is_waited_for_when_a_reader_wants_whole_ones() -> None:
    buffer = HeadTailBuffer()
    buffer.write(b"a\xe2\x82")
    assert buffer.read(0, whole=True).data == b"a"
    assert buffer.read(0).data == b"a\xe2\x82"
    # Alone it is given out: a reader that waits for output would be woken for nothing for ever.
    assert buffer.read(1, whole=True).data == b"\xe2\x82"


def newest(data: bytes, buffer: HeadTailBuffer | None = None) -> str:
    buffer = buffer or HeadTailBuffer()
    buffer.write(data)
    return buffer.snapshot(newest=True).text


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (b"1 %\r50 %\r100 %\ndone\n", "100 %\ndone\n"),
        (b"1 %\r100 %\r", "100 %\r"),
        (b"a\r\nb\r\r\nc", "a\r\nb\r\r\nc"),
        (b"\n\n", "\n\n"),
    ],
)
def test_of_a_line_that_was_overwritten_models_see_the_last_frame(data: bytes, shown: str) -> None:
    assert newest(data) == shown


@pytest.mark.parametrize("frames", [1_000, 10_000])
def test_a_progress_bar_is_at_its_end_whatever_its_length(frames: int) -> None:
    bar = b"\r".join(b"%05d of %05d" % (one, frames) for one in range(frames + 1))
    assert newest(b"begin\n" + bar).endswith(f"\n{frames:05} of {frames:05}")


@pytest.mark.parametrize("length", [5_000, 50_000])
@pytest.mark.parametrize("end", [b"", b"\n"])
def test_models_see_the_end_of_the_last_line(length: int, end: bytes) -> None:
    shown = newest(b"x" * length + b" ERROR" + end)
    assert shown.encode().endswith(b"x" * (LINE - 6) + b" ERROR" + end)
    assert LINE_MARK.decode() in shown
    assert len(shown.encode()) <= FORMATTED


def test_lines_before_the_last_one_are_cut_at_their_ends() -> None:
    data = b"a" * (LINE + 1) + b"\nlast"
    buffer = HeadTailBuffer()
    assert newest(data, buffer) == buffer.snapshot().text


def test_the_end_of_a_long_line_begins_with_a_whole_character() -> None:
    shown = newest("é".encode() * 5_000 + b"!")
    assert shown.endswith("é!")
    assert "\N{REPLACEMENT CHARACTER}" not in shown
