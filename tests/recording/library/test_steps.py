from hypothesis import given
from hypothesis import strategies as st

from deskhand.recording.library.steps import (
    chapters,
    chapters_from_rows,
    marks,
    merged,
    restored,
    step_rows,
    stored,
)
from deskhand.recording.step import Step
from deskhand.recording.timing.timeline import TimeMap

TIMES = TimeMap(((0.0, 0.0), (10.0, 10.0), (110.0, 12.0), (120.0, 22.0)))


def test_reports_of_one_call_from_two_sides_become_one_step() -> None:
    seen = Step(tool_call_id="t1", action="left_click", started=5.0, ended=5.2, text="")
    reported = Step(
        tool_call_id="t1", tool="computer", title="Open the menu", started=4.9, ended=5.4
    )
    for order in ((seen, reported), (reported, seen)):
        (step,) = merged(order)
        assert step.action == "left_click"
        assert step.title == "Open the menu"
        assert (step.started, step.ended) == (5.0, 5.2)


def test_a_later_report_of_the_same_call_replaces_what_it_knows_better() -> None:
    first = Step(tool_call_id="t1", tool="execute", started=1.0, ended=1.0)
    later = Step(tool_call_id="t1", tool="execute", error="exit 1", started=1.0, ended=9.0)
    assert merged((first, later)) == (later,)


def test_two_actions_of_one_batch_stay_two_steps() -> None:
    steps = (
        Step(tool_call_id="t1", action="type", started=1.0),
        Step(tool_call_id="t1", action="key", started=2.0),
    )
    assert merged(steps) == steps


def test_steps_without_a_call_id_are_never_merged() -> None:
    assert len(merged((Step(started=1.0), Step(started=1.0)))) == 2


def test_steps_come_in_order_of_time() -> None:
    steps = merged((Step(title="b", started=2.0), Step(title="a", started=1.0)))
    assert [step.title for step in steps] == ["a", "b"]


def test_rows_have_calendar_times_and_video_times() -> None:
    step = Step(tool="computer", action="wait", started=60.0, ended=115.0, native_point=(3, 4))
    (row,) = step_rows((step,), TIMES, 1_000_000.0)
    assert row["index"] == 0
    assert (row["started_at"], row["ended_at"]) == (1_000_060.0, 1_000_115.0)
    assert (row["video_start"], row["video_end"]) == (11.0, 17.0)
    assert row["native_point"] == (3, 4)
    assert "started" not in row


def test_chapters_reach_to_the_next_step() -> None:
    steps = (
        Step(title="Look", started=1.0, ended=2.0),
        Step(action="type", text="hello", started=60.0, ended=61.0),
    )
    assert chapters(steps, TIMES) == (
        "WEBVTT\n\n"
        "1\n00:00:01.000 --> 00:00:11.000\nLook\n\n"
        "2\n00:00:11.000 --> 00:00:22.000\ntype hello\n"
    )


def test_rows_give_the_same_chapters_as_their_steps() -> None:
    steps = (Step(title="Look", started=0.5, ended=1.0), Step(tool="execute", started=9.0, ended=9))
    rows = step_rows(steps, TIMES, 1000.0)
    assert chapters_from_rows(rows, TIMES.end[1]) == chapters(steps, TIMES)


def test_a_chapter_at_the_very_end_can_still_be_seen() -> None:
    text = chapters((Step(tool="execute", started=120.0, ended=120.0),), TIMES)
    assert "00:00:22.000 --> 00:00:22.200\nexecute" in text


def test_a_caption_cannot_break_out_of_its_cue() -> None:
    nasty = Step(title="a\n\n00:00:00.000 --> 99:00:00.000\n<b>&", error="boom", started=0.0)
    text = chapters((nasty,), TIMES)
    assert "a 00:00:00.000 --&gt; 99:00:00.000 &lt;b&gt;&amp; (failed)" in text
    assert text.count("-->") == 1


def test_a_step_without_texts_has_a_caption() -> None:
    assert "\nstep\n" in chapters((Step(),), TIMES)


def test_hours_are_written_out() -> None:
    day = TimeMap(((0.0, 0.0), (90_000.0, 90_000.0)))
    assert "25:00:00.000 -->" in chapters((Step(started=90_000.0),), day)


def test_keys_of_a_later_version_are_ignored() -> None:
    assert restored({"tool": "x", "mood": "good"}) == Step(tool="x")


points = st.none() | st.tuples(st.integers(0, 4000), st.integers(0, 4000))


@given(
    st.builds(
        Step,
        tool_call_id=st.text(),
        title=st.text(),
        text=st.text(),
        native_point=points,
        model_point=points,
        started=st.floats(0, 1e6),
        changed_fraction=st.none() | st.floats(0, 1),
        error=st.none() | st.text(min_size=1),
    )
)
def test_a_stored_step_comes_back_as_it_was(step: Step) -> None:
    assert restored(stored(step)) == step


def test_steps_are_chapters_at_their_place_in_the_video() -> None:
    times = TimeMap(((0.0, 0.0), (10.0, 1.0)))
    made = [
        Step(title="Open\nit", started=5.0),
        Step(action="type", text="x", error="no", started=9),
    ]
    assert marks(made, times) == [(0.5, "Open it"), (0.9, "type x (failed)")]
