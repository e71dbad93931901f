from hypothesis import given, settings
from hypothesis import strategies as st

from deskhand.tools.store.retention import DAY, Kept, RetentionLimits, Room, expired

NOW = 1_000 * DAY
WIDE = Room(free=10**12, whole=10**12)
LIMITS = RetentionLimits()


def kept(
    name: int,
    kind: str = "recording",
    *,
    days: float = 0,
    size: int = 1000,
    chat: str | None = None,
    pinned: bool = False,
    in_history: bool = False,
) -> Kept:
    return Kept(str(name), kind, size, NOW - days * DAY + name, chat, pinned, in_history)


def gone(files: list[Kept], room: Room = WIDE, limits: RetentionLimits = LIMITS) -> list[str]:
    return [file.id for file in expired(files, NOW + 50, room, limits)]


def test_recordings_go_after_ninety_days_unless_pinned() -> None:
    files = [
        kept(1, days=91),
        kept(2, days=89),
        kept(3, days=400, pinned=True),
        kept(4, "thumbnail", days=91),
        kept(5, "attachment", days=400),
        kept(6, "step", days=400),
        kept(7, "picture", days=91),
    ]
    assert gone(files) == ["1", "4", "7"]


def test_too_many_bytes_of_recordings_take_the_oldest() -> None:
    files = [kept(i, days=2, size=4_000_000_000) for i in range(1, 8)]
    assert gone(files) == ["1", "2"]
    pinned = [kept(1, days=2, size=4_000_000_000, pinned=True), *files[1:]]
    assert gone(pinned) == ["2", "3"]


def test_a_disk_that_fills_up_takes_the_oldest_recordings_only() -> None:
    files = [kept(i, days=2, size=40) for i in (1, 2, 3)]
    files += [kept(4, "attachment", days=2, size=40), kept(5, days=0.9, size=40)]
    assert gone(files, Room(free=50, whole=1000)) == ["1", "2"]
    assert gone(files, Room(free=0, whole=10**9)) == ["1", "2", "3"]


def test_a_chat_keeps_its_twenty_newest_attachments_and_the_pinned() -> None:
    files = [kept(i, "attachment", chat="a") for i in range(23)]
    files += [kept(40 + i, "attachment", chat="b") for i in range(5)]
    files += [kept(100 + i, chat="a") for i in range(30)]
    assert gone(files) == ["0", "1", "2"]
    files[1] = kept(1, "attachment", chat="a", pinned=True)
    assert gone(files) == ["0", "2", "3"]


def test_pictures_of_steps_are_thinned_evenly() -> None:
    files = [kept(i, "step", chat="a", size=100_000_000) for i in range(8)]
    assert gone(files) == ["1", "2", "3", "5", "6", "7"]
    assert gone(files[:3]) == []
    assert gone([kept(1, "step", chat="a", size=10**9)]) == []


def test_pictures_that_the_next_request_contains_stay() -> None:
    files = [
        kept(i, "step", chat="a", size=100_000_000, in_history=i in (1, 4, 7)) for i in range(8)
    ]
    assert gone(files) == ["2", "3", "5", "6"]
    assert gone([kept(1, "step", chat="a", size=10**9, in_history=True)] * 2) == []


@settings(max_examples=50)
@given(
    st.lists(
        st.builds(
            Kept,
            st.integers(0, 10**9).map(str),
            st.sampled_from(["recording", "thumbnail", "attachment", "step", "other"]),
            st.integers(0, 10**10),
            st.floats(0, NOW),
            st.sampled_from(["a", "b", None]),
            st.booleans(),
            st.booleans(),
        ),
        max_size=30,
        unique_by=lambda file: file.id,
    ),
    st.integers(0, 10**10),
)
def test_what_is_left_keeps_the_limits_and_what_is_pinned(files: list[Kept], free: int) -> None:
    room = Room(free, 10**10)
    removed = expired(files, NOW, room, LIMITS)
    assert not any(file.pinned or file.kind == "other" for file in removed)
    assert not any(file.in_history for file in removed if file.kind == "step")
    assert len(set(removed)) == len(removed)
    left = [file for file in files if file not in removed and not file.pinned]
    for chat in ("a", "b", None):
        listed = [f for f in files if f.kind == "attachment" and f.chat_id == chat]
        free_to_go = [f for f in left if f.kind == "attachment" and f.chat_id == chat]
        assert len(free_to_go) <= 20
        assert len(listed) > 20 or not any(f in removed for f in listed)
    recordings = [f for f in left if f.kind in ("recording", "thumbnail")]
    assert all(f.created_at >= NOW - 90 * DAY for f in recordings)
    old = [f for f in recordings if f.created_at < NOW - 1.001 * DAY]
    assert not old or sum(f.size for f in recordings) <= LIMITS.recording_bytes
    assert expired([f for f in files if f not in removed], NOW, WIDE, LIMITS) == []
