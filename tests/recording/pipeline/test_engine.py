"""Recording engine with real files and a simulated clock."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from itertools import pairwise
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deskhand.recording.errors import DiskFull, TooManyRecordings, UnknownRecording
from deskhand.recording.library import metadata
from deskhand.recording.library.catalog import Catalog
from deskhand.recording.pipeline.engine import RecordingEngine
from deskhand.recording.pipeline.frame_scheduler import CHECK_WITHIN
from deskhand.recording.ports import CapturedFrame, DamageReport, RecentDamage, Rectangle
from deskhand.recording.settings import RecordingSettings
from deskhand.recording.step import Step
from deskhand.recording.video import mp4_file
from tests.recording.fakes import Picture, decoded, key_times, marked

A, B, C, D, E, F = (f"{digit}1111111-2222-3333-4444-555555555555" for digit in "abcdef")
EVERYTHING: Rectangle = (0, 0, 320, 240)
CLOCK: Rectangle = (280, 0, 316, 20)
SETTINGS = RecordingSettings(free_to_start=0, free_to_go_on=0)
EPOCH = 1_000_000.0


class Scene:
    """Engine with a simulated clock: the test advances ``now``."""

    def __init__(self, folder: Path, settings: RecordingSettings = SETTINGS) -> None:
        self.catalog = Catalog(folder)
        self.engine = RecordingEngine(self.catalog, settings, EPOCH)
        self.now = 100.0
        self.number = 0
        self.unchecked: list[DamageReport] = []

    def wait(self, seconds: float) -> None:
        """Advance the clock as the recorder's thread does, from deadline to deadline."""
        end = self.now + seconds
        while True:
            deadline = self.engine.deadline()
            if deadline is None or deadline > end:
                break
            self.now = max(self.now, deadline)
            self.take_damage(self.now - CHECK_WITHIN)
            self.engine.tick(self.now)
        self.now = end

    def show(self, *regions: Rectangle, picture: Picture | None = None) -> int:
        """Add a frame with the next number, or with a given picture."""
        self.number += 1
        shown = marked(self.number) if picture is None else picture
        self.engine.add_frame(CapturedFrame(shown, self.now, regions))
        self.engine.tick(self.now)
        return self.number

    def damage(self, *regions: Rectangle) -> None:
        """Damage the screen; a frame that shows it may come much later."""
        self.unchecked.append(DamageReport(self.now, regions))
        self.take_damage(self.now - CHECK_WITHIN)

    def take_damage(self, unchecked_before: float) -> None:
        """Pass the damage to the engine as the recorder's thread does."""
        overdue = [report for report in self.unchecked if report.time < unchecked_before]
        del self.unchecked[: len(overdue)]
        held_back = self.unchecked[0].time if self.unchecked else inf
        self.engine.add_damage(RecentDamage(tuple(overdue), held_back))

    def show_damaged(self, *regions: Rectangle) -> None:
        """Add a frame of the damage until now."""
        self.number += 1
        self.take_damage(inf)
        self.engine.write_due(self.now)
        self.engine.add_frame(CapturedFrame(marked(self.number), self.now, regions, regions))
        self.engine.tick(self.now)

    def start(self, name: str) -> None:
        self.engine.start(name, "label", self.now)
        if self.engine.needs_frame:
            self.show(EVERYTHING)

    def stop(self, name: str) -> list[tuple[float, int]]:
        """Stop a recording; return the times and numbers of its latest file."""
        self.take_damage(inf)
        self.engine.stop(name, self.now, "completed")
        return decoded(self.catalog.video(name, self.catalog.latest_session(name)[-1].index))

    def times(self, name: str) -> tuple[float, float]:
        facts = self.catalog.get(name)
        return facts["duration_s"], facts["video_s"]


Staging = Callable[..., Scene]


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Staging]:
    """Return a factory of scenes with other settings; their recordings end with the test."""
    with ExitStack() as ends:

        def make(**settings: Any) -> Scene:
            scene = Scene(tmp_path, replace(SETTINGS, **settings))
            ends.callback(lambda: scene.engine.stop_all(scene.now, "closed"))
            return scene

        yield make


@pytest.fixture
def scene(stage: Staging) -> Scene:
    return stage()


def test_frames_are_shown_at_the_times_of_the_map(scene: Scene) -> None:
    scene.start(A)
    taken = {1: 0.0}
    for pause in (0.1, 0.2, 3.0, 0.5, 60.0, 0.07, 0.07):
        scene.wait(pause)
        taken[scene.show(EVERYTHING)] = scene.now - 100.0
    scene.wait(1.0)
    video = scene.stop(A)
    (part,) = scene.catalog.latest_session(A)
    times, _ = metadata.joined([part])
    for at, number in video:
        if number in taken:
            assert at == pytest.approx(times.video(taken.pop(number)), abs=0.0011)
    assert taken == {}
    assert video[-1][0] == pytest.approx(part.video_s, abs=0.0011)
    assert part.real_s == pytest.approx(64.94)


def test_a_changing_screen_plays_at_normal_speed_although_frames_are_late(scene: Scene) -> None:
    scene.start(A)
    for tenth in range(1, 600):
        scene.wait(0.1)
        if tenth % 2 == 0:
            scene.damage(EVERYTHING)
        if tenth % 15 == 0:
            scene.show_damaged(EVERYTHING)
    scene.stop(A)
    assert scene.times(A) == pytest.approx((59.9, 59.9), abs=0.0011)


def test_a_caret_and_a_clock_stay_idle_although_frames_are_late(stage: Staging) -> None:
    scene = stage(rest_after=10_000.0)
    scene.start(A)
    for tenth in range(6000):
        scene.wait(0.1)
        if tenth % 5 == 0:
            scene.damage((40, 40, 42, 60))
        if tenth % 10 == 0:
            scene.damage(CLOCK)
        if tenth % 15 == 0:
            scene.show_damaged(CLOCK)
    scene.stop(A)
    real, video = scene.times(A)
    assert (round(real), video < 4.5) == (600, True)


def test_a_minute_of_nothing_plays_as_two_seconds(scene: Scene) -> None:
    scene.start(A)
    scene.wait(60.0)
    scene.show(EVERYTHING)
    scene.stop(A)
    assert scene.times(A) == pytest.approx((60.0, 2.0), abs=0.01)


def test_an_hour_of_nothing_is_no_longer_than_a_minute_of_it(stage: Staging) -> None:
    scene = stage(rest_after=10_000.0)
    scene.start(A)
    scene.wait(3600.0)
    scene.show(EVERYTHING)
    scene.stop(A)
    assert scene.times(A) == pytest.approx((3600.0, 2.0), abs=0.01)


def test_a_caret_that_blinks_for_ten_minutes_plays_as_two_seconds(stage: Staging) -> None:
    scene = stage(rest_after=10_000.0)
    scene.start(A)
    for _ in range(1200):
        scene.wait(0.5)
        scene.show((40, 40, 42, 60))
    scene.stop(A)
    real, video = scene.times(A)
    assert (real, video < 2.01) == (600.0, True)


def test_nothing_is_encoded_while_nothing_happens(scene: Scene) -> None:
    scene.start(A)
    scene.wait(500.0)
    size = scene.catalog.video(A).stat().st_size
    scene.wait(90.0)
    assert scene.catalog.video(A).stat().st_size == size
    # The first picture, its repetition one second later, and the end.
    assert [number for _, number in scene.stop(A)] == [1, 1, 1]


def test_a_clock_does_not_keep_the_video_running(scene: Scene) -> None:
    scene.start(A)
    for _ in range(300):
        scene.wait(1.0)
        scene.show(CLOCK)
    video = scene.stop(A)
    assert scene.times(A)[1] < 4.5
    # Late ticks would share a millisecond; the very last picture is shown all the same.
    assert len(video) < 60
    assert video[-1][1] == scene.number


def test_frames_just_before_activity_are_shown_too(scene: Scene) -> None:
    scene.start(A)
    for _ in range(60):
        scene.wait(1.0)
        scene.show(CLOCK)
    ticked = scene.number
    scene.wait(0.2)
    changed = scene.show(EVERYTHING)
    scene.wait(1.0)
    video = {number: at for at, number in reversed(scene.stop(A))}
    assert video[changed] - video[ticked] == pytest.approx(0.2, abs=0.0011)


def test_a_moving_pointer_is_activity(scene: Scene) -> None:
    scene.start(A)
    for _ in range(20):
        scene.wait(0.5)
        scene.show()
    scene.stop(A)
    assert scene.times(A) == pytest.approx((10.0, 10.0), abs=0.01)


def test_input_plays_at_normal_speed_although_nothing_changes(scene: Scene) -> None:
    scene.start(A)
    for _ in range(20):
        scene.wait(0.5)
        scene.engine.input(scene.now)
    scene.stop(A)
    assert scene.times(A) == pytest.approx((10.0, 10.0), abs=0.01)


def test_input_of_a_person_plays_at_normal_speed_and_is_a_step(scene: Scene) -> None:
    scene.start(A)
    scene.wait(60.0)
    for _ in range(20):
        scene.wait(0.25)
        scene.engine.human_input(scene.now)
    scene.wait(60.0)
    scene.engine.human_input(scene.now)
    scene.stop(A)
    assert scene.times(A)[1] == pytest.approx(2.0 + 4.75 + 2.0, abs=0.02)
    first, second = scene.catalog.get(A)["steps"]
    assert (first["tool"], first["title"]) == ("human", "A person used the desktop")
    assert first["video_start"] == pytest.approx(2.0, abs=0.01)
    assert first["video_end"] == pytest.approx(6.75, abs=0.01)
    assert second["video_start"] == pytest.approx(8.75, abs=0.01)


def test_a_person_keeps_recordings_from_resting(scene: Scene) -> None:
    scene.start(A)
    for _ in range(3):
        scene.wait(500.0)
        scene.engine.human_input(scene.now)
    assert list(scene.engine.active) == [A]
    scene.wait(601.0)
    assert list(scene.engine.active) == []


def test_steps_are_placed_on_the_video(scene: Scene) -> None:
    scene.start(A)
    scene.wait(60.0)
    scene.show(EVERYTHING)
    scene.engine.add_step(
        Step(tool_call_id="t1", action="left_click", started=scene.now - 0.1, ended=scene.now),
        scene.now,
    )
    scene.wait(1.0)
    scene.stop(A)
    facts = scene.catalog.get(A)
    (step,) = facts["steps"]
    assert step["started_at"] == EPOCH + 159.9
    assert step["video_end"] == pytest.approx(2.0, abs=0.01)
    assert step["video_end"] - step["video_start"] == pytest.approx(0.1)
    assert "left_click" in scene.catalog.steps_vtt(A)
    assert "left_click" in (mp4_file.description(scene.catalog.video(A)) or "")


def test_steps_and_long_videos_get_keyframes(scene: Scene) -> None:
    scene.start(A)
    for second in range(40):
        for _ in range(4):
            scene.wait(0.25)
            scene.show(EVERYTHING)
        if second == 23:
            scene.engine.add_step(Step(started=scene.now, ended=scene.now), scene.now)
    scene.stop(A)
    keys = key_times(scene.catalog.video(A))
    assert keys[0] == 0.0
    assert all(later - earlier <= 10.3 for earlier, later in pairwise(keys))
    assert any(24.0 <= key <= 24.3 for key in keys)
    assert len(keys) == 5


def test_several_recordings_share_the_pictures_and_have_their_own_times(scene: Scene) -> None:
    scene.start(A)
    scene.wait(5.0)
    scene.show(EVERYTHING)
    scene.wait(40.0)
    scene.start(B)
    scene.wait(1.0)
    last = scene.show(EVERYTHING)
    scene.wait(1.0)
    first = scene.stop(A)
    scene.wait(1.0)
    second = scene.stop(B)
    assert second[0] == (0.0, last - 1)
    assert scene.times(B) == pytest.approx((3.0, second[-1][0]), abs=0.0011)
    shown = {number: at for at, number in reversed(second)}
    # 1 s of idle: 0.3 s on both sides and 0.4 s at twenty times the speed.
    assert shown[last] == pytest.approx(0.62, abs=0.0011)
    assert [number for _, number in first if number == last]


def test_a_recording_that_starts_late_shows_what_is_on_the_screen_then(scene: Scene) -> None:
    scene.start(A)
    for _ in range(120):
        scene.wait(1.0)
        scene.show(CLOCK)
    scene.start(B)
    scene.wait(0.5)
    assert scene.stop(B)[0] == (0.0, scene.number)


def test_starting_twice_changes_nothing(scene: Scene) -> None:
    scene.start(A)
    scene.wait(1.0)
    scene.start(A)
    scene.wait(1.0)
    scene.stop(A)
    assert scene.times(A)[0] == 2.0
    assert len(scene.catalog.parts(A)) == 1


def test_a_stopped_recording_starts_anew_and_the_old_file_stays(scene: Scene) -> None:
    scene.start(A)
    scene.wait(1.0)
    old = scene.stop(A)
    scene.start(A)
    scene.wait(3.0)
    scene.stop(A)
    assert scene.times(A)[0] == 3.0
    assert scene.catalog.get(A)["take"] == 2
    assert decoded(scene.catalog.video(A, 1)) == old


def test_a_sixth_recording_is_refused(scene: Scene) -> None:
    for name in (A, B, C, D, E):
        scene.start(name)
    with pytest.raises(TooManyRecordings):
        scene.start(F)
    assert scene.engine.active == (A, B, C, D, E)
    assert not scene.engine.knows(F)


def test_stopping_an_unknown_recording_is_an_error(scene: Scene) -> None:
    with pytest.raises(UnknownRecording):
        scene.engine.stop(A, 0.0, "completed")


def test_without_free_space_no_recording_begins(stage: Staging) -> None:
    scene = stage(free_to_start=1 << 60, free_share=1.0)
    with pytest.raises(DiskFull):
        scene.start(A)
    assert scene.engine.active == ()


def test_a_disk_that_fills_up_ends_recordings_while_they_can_be_closed(stage: Staging) -> None:
    scene = stage(free_to_go_on=1 << 60, free_share=4.0)
    scene.start(A)
    scene.wait(1.0)
    scene.show(EVERYTHING)
    scene.wait(6.0)
    scene.show(EVERYTHING)
    facts = scene.catalog.get(A)
    assert (facts["end_reason"], facts["complete"]) == ("disk_full", False)
    assert len(decoded(scene.catalog.video(A))) > 1


def test_after_ten_idle_minutes_a_recording_rests_and_goes_on_with_the_next_step(
    scene: Scene,
) -> None:
    scene.start(A)
    scene.wait(601.0)
    assert scene.engine.active == ()
    assert scene.catalog.get(A)["end_reason"] == "idle"
    scene.wait(1000.0)
    scene.engine.add_step(Step(tool="execute", started=scene.now, ended=scene.now), scene.now)
    assert A in scene.engine.active
    assert scene.engine.needs_frame
    scene.show(EVERYTHING)
    scene.wait(2.0)
    scene.stop(A)
    facts = scene.catalog.get(A)
    assert [part["end_reason"] for part in facts["parts"]] == ["idle", "completed"]
    assert facts["parts"][1]["video_start"] == facts["parts"][0]["video_s"]
    assert facts["complete"]
    assert facts["duration_s"] == pytest.approx(1603.0)


def test_an_animation_does_not_count_as_activity(scene: Scene) -> None:
    scene.start(A)
    for _ in range(610):
        scene.wait(1.0)
        scene.show(EVERYTHING)
    assert scene.engine.active == ()


def test_a_resting_recording_is_stopped_as_it_is(scene: Scene) -> None:
    scene.start(A)
    scene.wait(601.0)
    scene.engine.stop(A, scene.now, "completed")
    assert scene.catalog.get(A)["end_reason"] == "idle"
    scene.engine.input(scene.now)
    assert scene.engine.active == ()


def noise(seed: int) -> Picture:
    return np.random.default_rng(seed).integers(0, 255, (240, 320, 4), dtype=np.uint8)


def test_a_recording_near_its_cap_loses_quality_and_then_goes_on_in_a_next_part(
    stage: Staging,
) -> None:
    scene = stage(largest_file=1_500_000)
    scene.start(A)
    for seed in range(150):
        scene.wait(1 / 15)
        scene.show(EVERYTHING, picture=noise(seed))
    scene.wait(0.5)
    scene.stop(A)
    facts = scene.catalog.get(A)
    reasons = [part["end_reason"] for part in facts["parts"]]
    assert reasons[-1] == "completed"
    assert len(reasons) > 1
    assert set(reasons[:-1]) == {"cap"}
    assert facts["complete"]
    assert all(part["bytes"] <= 1_500_000 for part in facts["parts"])
    assert facts["video_s"] == pytest.approx(facts["duration_s"], abs=0.1)
    for part in facts["parts"]:
        assert len(decoded(scene.catalog.video(A, part["index"]))) > 1


def test_quality_changes_inside_a_file_that_still_decodes(stage: Staging) -> None:
    scene = stage(largest_file=4_000_000, animation_after=1e6)
    scene.start(A)
    shown = 0
    while scene.engine.fps == 15 and shown < 400:
        scene.wait(1 / 15)
        scene.show(EVERYTHING, picture=noise(shown))
        shown += 1
    assert shown < 400
    numbers = []
    for _ in range(5):
        scene.wait(0.1)
        numbers.append(scene.show(EVERYTHING))
    scene.wait(0.5)
    assert [number for _, number in scene.stop(A)[-6:-1]] == numbers


def test_all_end_when_the_display_is_lost(scene: Scene) -> None:
    scene.start(A)
    scene.start(B)
    scene.wait(1.0)
    scene.engine.stop_all(scene.now, "display_lost")
    assert scene.engine.active == ()
    for name in (A, B):
        facts = scene.catalog.get(name)
        assert (facts["end_reason"], facts["complete"]) == ("display_lost", False)
        assert decoded(scene.catalog.video(name))


def test_the_thumbnail_is_the_most_detailed_frame(scene: Scene) -> None:
    scene.start(A)
    scene.wait(2.0)
    scene.show(EVERYTHING, picture=noise(1))
    scene.wait(2.0)
    scene.show(EVERYTHING, picture=marked(0))
    scene.wait(1.0)
    scene.stop(A)
    # Noise is hard to compress: a plain picture of this size takes about 1.5 KB.
    assert scene.catalog.thumbnail(A).stat().st_size > 10_000


def test_a_placeholder_frame_never_becomes_the_thumbnail(scene: Scene) -> None:
    scene.start(A)
    scene.wait(2.0)
    whole = CapturedFrame(noise(1), scene.now, (EVERYTHING,), placeholder=True)
    scene.engine.add_frame(whole)
    scene.wait(2.0)
    scene.stop(A)
    assert scene.catalog.thumbnail(A).stat().st_size < 10_000


def test_a_frame_without_an_active_recording_is_ignored(scene: Scene) -> None:
    scene.show(EVERYTHING)
    scene.engine.tick(scene.now)
    assert scene.engine.deadline() is None
    assert scene.engine.fps == 15


def test_a_deleted_recording_is_forgotten(scene: Scene) -> None:
    scene.start(A)
    scene.stop(A)
    scene.engine.forget(A)
    assert not scene.engine.knows(A)


def test_one_broken_file_does_not_disturb_the_others(scene: Scene) -> None:
    scene.start(A)
    scene.wait(1.0)
    scene.start(B)
    # Nothing can be created where a file lies: the start fails and leaves the rest alone.
    (scene.catalog.folder / C).write_text("")
    scene.start(C)
    assert scene.engine.active == (A, B)
    scene.wait(1.0)
    scene.show(EVERYTHING)
    assert len(scene.stop(A)) > 1
    assert len(scene.stop(B)) > 1


def test_an_animation_has_a_lower_frame_rate_until_input_comes(scene: Scene) -> None:
    scene.start(A)
    for _ in range(70):
        scene.wait(0.1)
        scene.show(EVERYTHING)
    assert scene.engine.fps == 5
    scene.engine.input(scene.now)
    assert scene.engine.fps == 15


def test_a_journal_that_cannot_be_written_ends_its_own_recording_only(scene: Scene) -> None:
    (scene.catalog.folder / A).mkdir()
    journal = scene.catalog.paths(A, 1).journal
    os.mkfifo(journal)
    reader = os.open(journal, os.O_RDONLY | os.O_NONBLOCK)
    scene.start(A)
    scene.start(B)
    os.close(reader)
    for _ in range(30):
        scene.wait(0.1)
        scene.show(EVERYTHING)
    assert scene.engine.active == (B,)
    facts = scene.catalog.get(A)
    assert (facts["end_reason"], facts["video_s"] > 1.0) == ("failed", True)
    assert len(scene.stop(B)) > 1


def test_where_the_folder_is_lost_recordings_end(stage: Staging) -> None:
    scene = stage(sync_every=0.0)
    scene.start(A)
    shutil.rmtree(scene.catalog.folder)
    scene.show(EVERYTHING)
    assert scene.engine.active == ()


def test_a_start_that_failed_leaves_no_old_picture_behind(scene: Scene) -> None:
    (scene.catalog.folder / A).write_text("")
    scene.start(A)
    assert scene.engine.active == ()
    scene.wait(60.0)
    (scene.catalog.folder / A).unlink()
    scene.engine.start(A, "label", scene.now)
    assert scene.engine.needs_frame
    shown = scene.show(EVERYTHING)
    assert scene.stop(A)[0] == (0.0, shown)


def test_a_recording_without_a_journal_does_not_begin(scene: Scene) -> None:
    (scene.catalog.folder / A).mkdir()
    scene.catalog.paths(A, 1).journal.symlink_to("/dev/full")
    scene.start(A)
    assert scene.engine.active == ()
    assert list((scene.catalog.folder / A).iterdir()) == []


def test_a_step_from_a_clock_that_is_ahead_does_not_affect_later_frames(scene: Scene) -> None:
    scene.start(A)
    scene.engine.add_step(Step(started=scene.now, ended=scene.now + 3600.0), scene.now)
    for _ in range(70):
        scene.wait(0.1)
        scene.show(EVERYTHING)
    assert scene.engine.fps == 5


def test_resting_recordings_resume_although_the_files_of_one_were_removed(scene: Scene) -> None:
    scene.start(A)
    scene.start(B)
    scene.wait(700.0)
    assert not scene.engine.active
    shutil.rmtree(scene.catalog.folder / A)
    scene.engine.input(scene.now)
    assert scene.engine.active == (A, B)
    scene.show(EVERYTHING)
    assert len(scene.stop(A)) > 0
    assert len(scene.stop(B)) > 0
