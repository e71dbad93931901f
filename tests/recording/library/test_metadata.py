from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskhand.recording.library import metadata
from deskhand.recording.library.metadata import Part
from deskhand.recording.step import Step
from deskhand.recording.timing.timeline import TimeMap

PART = Part(recording_id="r", index=1, session_number=1, label="child", started_at=1000.0)
STEP = Step(tool_call_id="t", action="type", text="hé", started=1.0, ended=2.0)
JOURNAL = [
    metadata.opened_line(PART),
    metadata.points_line([(1.0, 1.0), (2.0, 2.0)]),
    metadata.step_line(STEP),
    metadata.points_line([(30.0, 3.4)]),
]


def closed(
    index: int, started_at: float, reason: metadata.EndReason, session_number: int = 1
) -> Part:
    return Part(
        recording_id="r",
        index=index,
        session_number=session_number,
        label="",
        started_at=started_at,
        points=((0.0, 0.0), (10.0, 4.0)),
        steps=(Step(tool=f"s{index}", started=5.0, ended=6.0),),
        size=100 * index,
        end_reason=reason,
    )


def test_a_journal_restores_the_part() -> None:
    part = metadata.replay(JOURNAL)
    assert part == replace(PART, points=((0.0, 0.0), (2.0, 2.0), (30.0, 3.4)), steps=(STEP,))
    assert part is not None
    assert (part.real_s, part.video_s) == (30.0, 3.4)
    assert not part.complete


def test_a_journal_cut_anywhere_loses_at_most_its_last_line() -> None:
    text = "".join(JOURNAL)
    whole = 0
    for length in range(len(text) + 1):
        found = metadata.replay(text[:length].splitlines())
        restored = 0 if found is None else 1 + len(found.points) + len(found.steps)
        assert restored >= whole
        whole = restored
    assert whole == 5


def test_a_journal_without_its_first_line_restores_nothing() -> None:
    assert metadata.replay(JOURNAL[1:]) is None
    assert metadata.replay([]) is None


def test_lines_that_are_no_entries_are_ignored() -> None:
    assert metadata.replay([JOURNAL[0], "[1, 2]", "7", "nul"]) == PART


def test_a_document_is_read_back() -> None:
    part = replace(PART, points=((0.0, 0.0), (2.0, 1.0)), steps=(STEP,), end_reason="completed")
    assert metadata.read(metadata.document(part)) == part
    assert part.complete


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"knots": 1, "steps": []}'])
def test_text_that_is_no_document_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        metadata.read(text)


@pytest.mark.parametrize("reason", ["display_lost", "service_lost", "disk_full", "failed", None])
def test_a_part_that_ended_badly_is_not_complete(reason: metadata.EndReason | None) -> None:
    assert not replace(PART, end_reason=reason).complete


def test_only_the_newest_session_counts() -> None:
    first, second = closed(1, 0.0, "completed"), closed(2, 50.0, "completed", session_number=2)
    third = closed(3, 90.0, "cap", session_number=2)
    assert metadata.latest_session([third, first, second]) == (second, third)


def test_parts_play_one_after_another() -> None:
    both = [closed(1, 1000.0, "idle"), closed(2, 1100.0, "completed")]
    times, steps = metadata.joined(both)
    assert times.points == ((0.0, 0.0), (10.0, 4.0), (100.0, 4.0), (110.0, 8.0))
    assert [(step.tool, times.video(step.started)) for step in steps] == [("s1", 2.0), ("s2", 6.0)]


def test_a_part_that_follows_at_once_leaves_no_gap() -> None:
    both = [closed(1, 1000.0, "cap"), closed(2, 1009.9999, "completed")]
    times, _ = metadata.joined(both)
    assert times.end == (20.0, 8.0)


def test_metadata_have_the_documented_fields() -> None:
    both = [closed(1, 1000.0, "idle"), closed(2, 1100.0, "completed")]
    facts = metadata.summary(both, "/recordings/r")
    assert facts["status"] == "stored"
    assert facts["end_reason"] == "completed"
    assert facts["complete"] is True
    assert (facts["duration_s"], facts["video_s"], facts["bytes"]) == (110.0, 8.0, 300)
    assert [(row["index"], row["video_start"]) for row in facts["parts"]] == [(1, 0.0), (2, 4.0)]
    assert facts["video_url"] == "/recordings/r/video?part=1"
    assert facts["time_map"][-1] == (110.0, 8.0)
    assert [step["video_start"] for step in facts["steps"]] == [2.0, 6.0]
    first, second = (f"{PART.recording_id}/{index}" for index in (1, 2))
    assert facts["recording_status"] == "stored"
    assert facts["recording_file_id"] == first
    assert facts["recording_file_ids"] == [first, second]
    assert [row["file_id"] for row in facts["parts"]] == [first, second]


def test_metadata_describe_the_newest_session_and_list_the_files_of_earlier_ones() -> None:
    again = replace(closed(2, 1100.0, "completed"), session_number=2)
    facts = metadata.summary([closed(1, 1000.0, "completed"), again], "/x")
    assert (facts["take"], facts["video_s"]) == (2, 4.0)
    assert facts["recording_file_ids"] == [f"{PART.recording_id}/2"]
    assert facts["earlier_file_ids"] == [f"{PART.recording_id}/1"]


def test_an_active_recording_has_the_status_recording() -> None:
    facts = metadata.summary([PART], "/x")
    assert (facts["status"], facts["end_reason"], facts["complete"]) == ("recording", None, False)


def test_chapters_of_all_parts_are_one_list() -> None:
    text = metadata.vtt([closed(1, 1000.0, "idle"), closed(2, 1100.0, "completed")])
    assert text.count("-->") == 2
    assert "00:00:06.000 --> 00:00:08.000\ns2" in text


@given(st.lists(st.tuples(st.floats(0.01, 5.0), st.sampled_from([0.05, 1.0])), max_size=30))
def test_simplifying_keeps_the_map(pieces: list[tuple[float, float]]) -> None:
    points = [(0.0, 0.0)]
    for length, slope in pieces:
        real, video = points[-1]
        points += [(real + length, video + slope * length)] * 2
    straight = TimeMap(metadata.simplified(points))
    whole = TimeMap(tuple(dict.fromkeys(points)))
    for real, video in points:
        assert straight.video(real) == pytest.approx(video, abs=1e-4)
    assert straight.end == whole.end
    assert len(straight.points) <= len(whole.points)


def test_a_stretch_of_the_whole_video_is_found_in_its_parts() -> None:
    first = replace(PART, index=1, points=((0.0, 0.0), (9.0, 4.0)))
    second = replace(PART, index=2, points=((0.0, 0.0), (3.0, 3.0)))
    both = [first, second]
    assert metadata.pieces(both, 1.0, 2.0) == [(first, 1.0, 2.0)]
    assert metadata.pieces(both, 3.0, 5.0) == [(first, 3.0, 4.0), (second, 0.0, 1.0)]
    assert metadata.pieces(both, 4.0, 99.0) == [(second, 0.0, 3.0)]
    assert metadata.pieces(both, 2.0, 2.0) == metadata.pieces(both, 7.0, 8.0) == []


def test_steps_become_chapters_of_their_file() -> None:
    step = Step(action="left_click", started=2.0, ended=2.5)
    part = replace(PART, points=((0.0, 0.0), (4.0, 2.0)), steps=(step,))
    assert metadata.chapters_of(part) == [(1.0, "left_click")]
