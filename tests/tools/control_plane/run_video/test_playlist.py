from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskhand.tools.control_plane.errors import NoSuchVideoMoment
from deskhand.tools.control_plane.run_video.playlist import RunVideo, clip_etag, run_video
from deskhand.tools.conversation.views import FileView
from tests.tools.control_plane.fakes import file_view


def step(name: str, start: float, end: float) -> dict[str, Any]:
    return {"tool_call_id": name, "tool": "computer", "video_start": start, "video_end": end}


FIRST: dict[str, Any] = {
    "id": "c",
    "started_at": 100.0,
    "video_s": 30.0,
    "parts": [
        {"index": 1, "video_start": 0.0, "end_reason": "cap"},
        {"index": 2, "video_start": 20.0, "end_reason": "completed"},
    ],
    "steps": [step("a", 1.0, 2.0), step("b", 20.0, 21.0), step("c", 30.0, 30.0)],
    "time_map": [[0.0, 0.0], [200.0, 20.0], [210.0, 30.0]],
}
SECOND: dict[str, Any] = {
    "id": "c",
    "started_at": 1000.0,
    "video_s": 5.0,
    "steps": [step("d", 0.5, 4.0)],
    "time_map": [[0.0, 0.0], [5.0, 5.0]],
}


def files(*described: dict[str, Any]) -> list[FileView]:
    return [file_view(id=str(n), metadata=one) for n, one in enumerate(described)]


def whole(*described: dict[str, Any]) -> RunVideo:
    return run_video(list(enumerate(files(*described), start=1)))


def positions_by_call(shown: RunVideo) -> list[tuple[str, float, float]]:
    return [(s["tool_call_id"], s["video_start"], s["video_end"]) for s in shown.steps()]


def test_recordings_follow_each_other_on_one_clock() -> None:
    shown = whole(FIRST, FIRST, SECOND)
    assert [(r.index, r.begins, r.seconds) for r in shown.parts] == [
        (1, 0.0, 20.0),
        (2, 20.0, 10.0),
        (3, 30.0, 5.0),
    ]
    assert shown.seconds == 35.0
    assert positions_by_call(shown) == [
        ("a", 1.0, 2.0),
        ("b", 20.0, 21.0),
        ("c", 30.0, 30.0),
        ("d", 30.5, 34.0),
    ]
    assert [s["index"] for s in shown.steps()] == [0, 1, 2, 3]
    assert [r.end_reason for r in shown.parts] == ["cap", "completed", None]
    assert shown.positions_by_call()["d"] == (30.5, 34.0)


def test_real_time_counts_from_the_first_recording() -> None:
    assert whole(FIRST, FIRST, SECOND).time_map() == [
        (0.0, 0.0),
        (200.0, 20.0),
        (210.0, 30.0),
        (900.0, 30.0),
        (905.0, 35.0),
    ]
    assert whole().time_map() == []


def test_one_file_has_a_clock_of_its_own() -> None:
    second = whole(FIRST, FIRST, SECOND).part(2)
    assert second is not None
    assert positions_by_call(second.alone()) == [("b", 0.0, 1.0), ("c", 10.0, 10.0)]
    assert second.alone().seconds == 10.0


def test_files_keep_their_numbers_when_others_are_removed() -> None:
    one, _, three = files(FIRST, FIRST, SECOND)
    shown = run_video([(1, one), (3, three)])
    assert [r.index for r in shown.parts] == [1, 3]
    assert shown.part(2) is None
    first = shown.part(None)
    assert first is not None
    assert first.index == 1
    assert positions_by_call(shown) == [("a", 1.0, 2.0), ("d", 20.5, 24.0)]


def test_a_stretch_over_two_files_is_a_piece_of_each() -> None:
    shown = whole(FIRST, FIRST, SECOND)
    cut = shown.pieces(19.0, 31.0)
    assert [(p.file.id, p.start, p.end) for p in cut] == [
        ("0", 19.0, 20.0),
        ("1", 0.0, 10.0),
        ("2", 0.0, 1.0),
    ]
    assert [p.end for p in shown.pieces(34.0, None)] == [5.0]
    with pytest.raises(NoSuchVideoMoment, match=r"nothing lies between 40 and 50; .* 35\.000 s"):
        shown.pieces(40.0, 50.0)


def test_the_end_is_shown_by_the_last_picture() -> None:
    shown = whole(FIRST, FIRST)
    assert shown.moment(3.0) == (shown.parts[0].file, 3.0, 20.0)
    last = shown.moment(30.0)
    assert last.file.id == "1"
    assert last.start == pytest.approx(9.999)


def test_a_file_of_which_nothing_is_known_shows_nothing() -> None:
    shown = whole({})
    assert (shown.seconds, shown.steps(), shown.positions_by_call(), shown.time_map()) == (
        0.0,
        [],
        {},
        [],
    )
    with pytest.raises(NoSuchVideoMoment):
        shown.moment(0.0)
    bare = {"video_s": 3.0, "steps": [{"video_start": 1.0}]}
    assert whole(bare).steps() == [{"video_start": 1.0, "video_end": 1.0, "index": 0}]
    assert whole(bare).positions_by_call() == {}


def test_clips_of_other_bytes_or_moments_have_other_tags() -> None:
    shown = whole(FIRST, FIRST)
    (piece,) = shown.pieces(1.0, 2.0)
    (later,) = shown.pieces(1.0, 2.5)
    unnamed = file_view(id="0", sha256="")
    assert clip_etag([piece]) == clip_etag(shown.pieces(1.0, 2.0))
    assert (
        len({clip_etag([piece]), clip_etag([later]), clip_etag([piece._replace(file=unnamed)])})
        == 3
    )


lengths = st.lists(st.floats(0.1, 50.0), min_size=1, max_size=5)


@given(lengths, st.floats(0.0, 1.0), st.floats(0.0, 1.0))
def test_pieces_last_as_long_as_the_stretch(parts: Sequence[float], a: float, b: float) -> None:
    described = [{"started_at": float(n), "video_s": s} for n, s in enumerate(parts)]
    shown = whole(*described)
    start, end = sorted((a * shown.seconds, b * shown.seconds))
    if end - start > 0.01:
        cut = shown.pieces(start, end)
        assert sum(p.end - p.start for p in cut) == pytest.approx(end - start)
        assert [p.file.id for p in cut] == sorted(p.file.id for p in cut)
