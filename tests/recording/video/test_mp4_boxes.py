import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskhand.recording.video.mp4_boxes import (
    Chapter,
    boxed,
    chapter_list,
    fragment,
    padding,
    shifted,
    thinned,
    walk,
    with_chapters,
)

KINDS = st.sampled_from([b"free", b"skip", b"mdat", b"abcd"])
LISTS = st.lists(st.tuples(KINDS, st.binary(max_size=40)), max_size=6)


def index(*tables: bytes, user: bytes | None = None) -> bytes:
    nested = b"".join(tables)
    for kind in (b"stbl", b"minf", b"mdia", b"trak"):
        nested = boxed(kind, nested)
    return boxed(b"moov", boxed(b"mvhd", b"head") + nested + (user or b""))


def table(kind: bytes, width: int, *places: int) -> bytes:
    rows = b"".join(place.to_bytes(width, "big") for place in places)
    return boxed(kind, bytes(4) + len(places).to_bytes(4, "big") + rows)


@given(LISTS)
def test_boxes_are_found_as_they_were_made(made: list[tuple[bytes, bytes]]) -> None:
    data = b"".join(boxed(kind, contents) for kind, contents in made)
    found = [(box.kind, data[box.body : box.end]) for box in walk(data)]
    assert found == made
    assert [box.start for box in walk(data)][:1] == ([0] if made else [])


@given(LISTS)
def test_at_every_cut_the_whole_boxes_before_it_are_found(
    made: list[tuple[bytes, bytes]],
) -> None:
    data = b"".join(boxed(kind, contents) for kind, contents in made)
    ends = [box.end for box in walk(data)]
    for cut in range(len(data)):
        assert [box.end for box in walk(data[:cut])] == [end for end in ends if end <= cut]


@given(st.binary(max_size=80))
def test_invalid_data_end_the_walk(data: bytes) -> None:
    assert all(box.start < box.body <= box.end <= len(data) for box in walk(data))


def test_a_long_length_has_eight_bytes_of_its_own() -> None:
    data = b"\0\0\0\1mdat" + (20).to_bytes(8, "big") + b"abcd" + boxed(b"free", b"")
    (long, free) = walk(data)
    assert (data[long.body : long.end], free.kind) == (b"abcd", b"free")


def test_a_moov_box_moves_with_its_frames_and_keeps_its_length() -> None:
    before = index(table(b"stco", 4, 48, 4096), table(b"co64", 8, 1 << 33))
    after = shifted(before, 1000)
    assert after == index(table(b"stco", 4, 1048, 5096), table(b"co64", 8, (1 << 33) + 1000))
    assert shifted(after, -1000) == before


def test_an_offset_that_does_not_fit_is_refused() -> None:
    with pytest.raises(OverflowError):
        shifted(index(table(b"stco", 4, 0xFFFFFFFF)), 1)


def test_chapters_join_an_existing_udta_box() -> None:
    chapters = [Chapter(0.0, "open"), Chapter(1.5, "näher")]
    user = boxed(b"udta", boxed(b"meta", b"tool"))
    listed = chapter_list(chapters)
    joined = index(user=boxed(b"udta", boxed(b"meta", b"tool") + listed))
    assert with_chapters(index(user=user), chapters) == joined
    assert with_chapters(index(), chapters) == index(user=boxed(b"udta", listed))
    assert with_chapters(index(user=user), []) == index(user=user)


def test_a_list_of_chapters_is_written_as_players_read_it() -> None:
    expected = b"\1\0\0\0" + bytes(4) + b"\1" + (15_000_000).to_bytes(8, "big") + b"\2\xc3\xa4"
    assert chapter_list([Chapter(1.5, "ä")]) == boxed(b"chpl", expected)


def test_a_long_title_is_cut_between_two_letters() -> None:
    row = chapter_list([Chapter(0.0, "ä" * 200)])[8 + 9 + 8 :]
    assert row[0] == 254
    assert row[1:].decode() == "ä" * 127


@given(st.integers(0, 3000))
def test_a_file_has_255_chapters_at_most_and_always_the_first(count: int) -> None:
    chapters = [Chapter(float(i), "") for i in range(count)]
    kept = thinned(chapters)
    assert len(kept) <= 255
    assert list(kept[:1]) == chapters[:1]
    assert count > 255 or kept == chapters


def test_padding_is_as_long_as_asked() -> None:
    assert [len(padding(size)) for size in (8, 9, 100)] == [8, 9, 100]


@pytest.mark.parametrize("key", [True, False])
def test_a_fragment_has_one_frame_whose_units_begin_with_their_length(key: bool) -> None:
    access_unit = b"\0\0\0\1abc\0\0\1de"
    built = fragment(access_unit, number=7, start=1000, at=90, key=key)
    size = int.from_bytes(built[:4], "big")
    assert (built[4:8], built[size + 4 : size + 8]) == (b"moof", b"mdat")
    assert built[size + 8 :] == b"\0\0\0\3abc" + b"\0\0\0\2de"
    # The trun box gives the offset of the data from the start of the moof box.
    offset = built.index(b"trun") + 4 + 8
    assert int.from_bytes(built[offset : offset + 4], "big") == size + 8


def test_a_fragment_of_a_key_frame_differs_in_its_sample_flags_only() -> None:
    frames = [fragment(b"\0\0\1abc", number=1, start=0, at=0, key=key) for key in (True, False)]
    different = [
        index for index, pair in enumerate(zip(*frames, strict=True)) if len(set(pair)) > 1
    ]
    head = frames[0].index(b"tfhd")
    assert different
    assert all(head < index < frames[0].index(b"tfdt") for index in different)
