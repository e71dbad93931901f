"""The format of a pack, byte by byte."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskhand.tools.store.errors import BadPack
from deskhand.tools.store.packs.pack import (
    HEADER_BYTES,
    MAGIC,
    MOST_INDEX_BYTES,
    PackedPicture,
    head,
    index_bytes,
    object_name,
    pictures_of,
)

PICTURES = st.lists(st.tuples(st.text(), st.binary(max_size=50), st.text()), max_size=8)


def packed(pictures: list[tuple[str, bytes, str]]) -> bytes:
    facts = [(file_id, len(data), description) for file_id, data, description in pictures]
    return head(facts) + b"".join(data for _, data, _ in pictures)


def read(pack: bytes) -> tuple[PackedPicture, ...]:
    end = HEADER_BYTES + index_bytes(pack[:HEADER_BYTES])
    return pictures_of(pack[HEADER_BYTES:end])


def test_the_bytes_of_a_pack_are_these() -> None:
    index = b'[{"id": "a", "size": 3, "description": "one"}, {"id": "b", "size": 1, '
    index += b'"description": "two"}]'
    whole = packed([("a", b"PNG", "one"), ("b", b"!", "two")])
    assert whole == b"DHPACK1\n\0\0\0\0\0\0\0\x5c" + index + b"PNG!"
    assert read(whole) == (PackedPicture("a", 108, 3, "one"), PackedPicture("b", 111, 1, "two"))


@given(PICTURES)
def test_each_picture_is_where_the_index_says(pictures: list[tuple[str, bytes, str]]) -> None:
    whole = packed(pictures)
    found = [
        (one.id, whole[one.start : one.start + one.size], one.description) for one in read(whole)
    ]
    assert found == pictures


def test_every_cut_of_the_index_is_refused() -> None:
    whole = packed([("a", b"", "one")])
    for end in range(HEADER_BYTES):
        with pytest.raises(BadPack, match="does not begin"):
            index_bytes(whole[:end])
    for end in range(HEADER_BYTES, len(whole)):
        with pytest.raises(BadPack, match="cannot be read"):
            pictures_of(whole[HEADER_BYTES:end])
    assert pictures_of(whole[HEADER_BYTES:])


def test_every_changed_byte_of_the_beginning_is_refused() -> None:
    header = packed([])[:HEADER_BYTES]
    for place in range(len(MAGIC)):
        with pytest.raises(BadPack):
            index_bytes(header[:place] + b"\xff" + header[place + 1 :])


def test_an_index_that_is_too_long_is_refused() -> None:
    most = MAGIC + MOST_INDEX_BYTES.to_bytes(8, "big")
    assert index_bytes(most) == MOST_INDEX_BYTES
    with pytest.raises(BadPack, match="its index has 67108865 bytes"):
        index_bytes(MAGIC + (MOST_INDEX_BYTES + 1).to_bytes(8, "big"))


@pytest.mark.parametrize(
    "index",
    [
        *(b"", b"\xff", b"1", b"{}x", b"[1]", b'["a"]', b"[{}]"),
        *(
            json.dumps([{"id": "a", "size": size, "description": ""}]).encode()
            for size in (-1, "1", 1.5, None)
        ),
    ],
)
def test_what_is_no_index_is_refused(index: bytes) -> None:
    with pytest.raises(BadPack):
        pictures_of(index)


def test_a_pack_has_its_name_where_files_have_theirs() -> None:
    assert object_name("0a1b.pack") == "0a/0a1b.pack"
