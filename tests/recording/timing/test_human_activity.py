from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from deskhand.recording.step import Step
from deskhand.recording.timing.human_activity import PAUSE, TITLE, TOOL, HumanActivity


def stretch(started: float, ended: float) -> Step:
    return Step(tool=TOOL, title=TITLE, started=started, ended=ended)


def test_inputs_that_follow_each_other_are_one_step() -> None:
    presence = HumanActivity()
    assert [presence.input(at) for at in (10.0, 11.0, 10.5, 13.9)] == [None] * 4
    assert presence.ended(16.0) is None
    assert presence.ended(17.0) == stretch(10.0, 13.9)
    assert presence.ended(99.0) is None


def test_after_a_pause_another_step_begins() -> None:
    presence = HumanActivity()
    presence.input(10.0)
    assert presence.input(20.0) == stretch(10.0, 10.0)
    assert presence.finish() == stretch(20.0, 20.0)
    assert presence.finish() is None


@given(st.lists(st.floats(0, 1000), min_size=1).map(sorted))
def test_every_input_lies_in_exactly_one_step(times: list[float]) -> None:
    presence = HumanActivity()
    steps = [step for at in times if (step := presence.input(at)) is not None]
    last = presence.finish()
    assert last is not None
    steps.append(last)
    for at in times:
        assert sum(step.started <= at <= step.ended for step in steps) == 1
    for earlier, later in pairwise(steps):
        assert later.started > earlier.ended + PAUSE
