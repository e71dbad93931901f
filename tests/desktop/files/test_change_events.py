import struct

from deskhand.desktop.files.change_events import (
    CLOSE_WRITE,
    CREATE,
    DELETE,
    IS_DIR,
    MODIFY,
    MOVED_FROM,
    MOVED_TO,
    OVERFLOW,
    Change,
    InotifyEvent,
    changes,
    parse_events,
)


def raw(watch: int, mask: int, cookie: int = 0, name: bytes = b"") -> bytes:
    padded = name + b"\0" * (-len(name) % 16)
    return struct.pack("iIII", watch, mask, cookie, len(padded)) + padded


def test_notices_are_read_from_their_bytes() -> None:
    data = raw(1, CREATE | IS_DIR, name=b"folder") + raw(2, MODIFY, name=b"\xff")
    first, second = parse_events(data)
    assert first == InotifyEvent(1, CREATE | IS_DIR, 0, b"folder")
    assert first.is_dir
    assert second == InotifyEvent(2, MODIFY, 0, b"\xff")
    # Whatever is cut off, nothing is made up.
    for end in range(len(data)):
        assert len(list(parse_events(data[:end]))) <= 2


def seen(*masks: int, cookie: int = 0) -> list[Change]:
    return changes(
        [(f"/{at}", InotifyEvent(1, mask, cookie, b"")) for at, mask in enumerate(masks)]
    )


def test_each_kind_is_told() -> None:
    assert seen(CREATE, DELETE | IS_DIR, MODIFY, OVERFLOW) == [
        Change("created", "/0"),
        Change("deleted", "/1", is_dir=True),
        Change("modified", "/2"),
        Change("overflow", "/3"),
    ]
    assert seen(0) == []


def test_both_halves_of_a_move_are_one_change() -> None:
    (moved,) = seen(MOVED_FROM, MOVED_TO, cookie=7)
    assert moved.to_json() == {"kind": "moved", "path": "/1", "is_dir": False, "from": "/0"}


def test_half_a_move_is_an_arrival_or_a_departure() -> None:
    assert seen(MOVED_FROM, cookie=7) == [Change("deleted", "/0")]
    assert seen(MOVED_TO, cookie=7) == [Change("created", "/0")]


def test_writes_in_a_row_are_one_change() -> None:
    writes = [("/f", InotifyEvent(1, mask, 0, b"")) for mask in (MODIFY, MODIFY, CLOSE_WRITE)]
    assert [change.to_json() for change in changes(writes)] == [
        {"kind": "modified", "path": "/f", "is_dir": False}
    ]
