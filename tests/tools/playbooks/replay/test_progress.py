import json
from itertools import count

import pytest

from deskhand.tools.conversation.conversation import Message, Text, ToolCall, ToolResult
from deskhand.tools.playbooks.replay.progress import (
    Purpose,
    ReplayProgress,
    StepFailure,
    call_id,
    progress_of,
    step_of,
)

UNKNOWN = "Interrupted before it gave a result. It may or may not have taken effect."
TOKENS = count()
NOT_DONE = "Not done: Ada used the desktop."


def _round(
    step: int, *answers: str | None, name: str = "left_click", purpose: Purpose = "act"
) -> list[Message]:
    """Return a reply with a call for each answer, and the answers; errors begin with ``!``."""
    token = f"{next(TOKENS)}a"
    calls = tuple(
        ToolCall(call_id(step, purpose, token, part), name, {}) for part in range(len(answers))
    )
    results = tuple(
        ToolResult(call.id, (Text(answer.removeprefix("!")),), answer.startswith("!"))
        for call, answer in zip(calls, answers, strict=True)
        if answer is not None
    )
    return [Message("assistant", (Text("intent"), *calls)), Message("user", results)]


def test_a_replay_that_has_not_begun_has_done_nothing() -> None:
    other = Message("assistant", (ToolCall("toolu_1", "left_click", {}),))
    assert progress_of([Message("user", (Text("Replay"),)), other]) == ReplayProgress()


def test_a_step_is_done_when_all_its_calls_have_results() -> None:
    messages = [*_round(-1, "started"), *_round(0, "clicked", "typed")]
    assert progress_of(messages[:2]) == ReplayProgress(-1)
    assert progress_of(messages) == ReplayProgress(0)


def test_an_error_is_the_failure_of_its_step() -> None:
    found = progress_of([*_round(0, "clicked"), *_round(1, "clicked", "!no field")])
    assert found == ReplayProgress(0, StepFailure(1, "no field"), 1)


@pytest.mark.parametrize("answer", [None, f"!{UNKNOWN}"])
def test_a_call_without_result_may_have_taken_effect(answer: str | None) -> None:
    failure = progress_of(_round(0, answer)).failure
    assert failure is not None
    assert failure.unknown


def test_a_step_that_a_person_prevented_is_tried_again() -> None:
    messages = [*_round(0, f"!{NOT_DONE}"), *_round(0, f"!{NOT_DONE}")]
    assert progress_of(messages) == ReplayProgress(None, StepFailure(0, NOT_DONE, not_sent=True), 2)
    assert progress_of([*messages, *_round(0, "clicked")]) == ReplayProgress(0)


def test_a_step_is_not_tried_again_after_a_part_of_it() -> None:
    failure = progress_of(_round(0, "clicked", f"!{NOT_DONE}")).failure
    assert failure == StepFailure(0, NOT_DONE)


def test_scrolling_in_search_is_counted_until_the_step_is_done() -> None:
    messages = [*_round(0, "a"), *_round(1, "b", purpose="seek"), *_round(1, "c", purpose="seek")]
    assert progress_of(messages) == ReplayProgress(0, seeks=("b", "c"))
    assert progress_of([*messages, *_round(1, None, purpose="seek")]).seeks == ("b", "c", "")
    assert progress_of([*messages, *_round(1, "d")]) == ReplayProgress(1)


def test_a_look_is_remembered_until_the_step_is_done() -> None:
    messages = [*_round(0, "a"), *_round(1, "b", purpose="seek"), *_round(1, "", purpose="look")]
    assert progress_of(messages) == ReplayProgress(0, looked=True, seeks=("b",))
    assert progress_of([*messages, *_round(1, "c")]) == ReplayProgress(1)


def test_a_pause_changes_nothing() -> None:
    messages = [*_round(0, "a"), *_round(1, '{"met": true}', purpose="pause")]
    assert progress_of(messages) == ReplayProgress(0)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ({"exit_code": 3, "output": "no\n"}, "the command ended with the exit code 3: no"),
        ({"exit_code": 3}, "the command ended with the exit code 3"),
        ({"success": False, "error": "not started"}, "not started"),
    ],
)
def test_a_command_that_fails_is_a_failure(value: object, problem: str) -> None:
    found = progress_of(_round(0, json.dumps(value), name="execute"))
    assert found.failure == StepFailure(0, problem)


@pytest.mark.parametrize("text", ['{"exit_code": 0}', '{"background_process_id": "p"}', "x", "3"])
def test_other_commands_are_done(text: str) -> None:
    assert progress_of(_round(0, text, name="execute")) == ReplayProgress(0)


def test_calls_of_healed_steps_perform_them_too() -> None:
    call = ToolCall(call_id(3, "act", "ab", 0, healed=True), "left_click", {})
    assert call.id == "healed-3-act-ab-0"
    result = ToolResult(call.id, (Text("done"),))
    progress = progress_of((Message("assistant", (call,)), Message("user", (result,))))
    assert progress == ReplayProgress(3)
    assert step_of(call.id) == 3
    assert step_of(call_id(3, "seek", "ab", 0)) is None
    assert step_of("call_3") is None
