import pytest

from deskhand.tools.conversation.conversation import Text, ToolCall
from deskhand.tools.kit.support.call_result import NO_ROOM, CallResult
from deskhand.tools.kit.support.spec import ToolOutcome


@pytest.mark.parametrize(
    ("outcome", "failure"),
    [
        (ToolOutcome({"exit_code": 0}), None),
        (ToolOutcome({"success": True}), None),
        (ToolOutcome({"success": False, "error": "no disk"}), "no disk"),
        (ToolOutcome({"success": False}), "The call failed."),
        (ToolOutcome(error="no tool"), "no tool"),
    ],
)
def test_failures_are_found_in_errors_and_in_values(
    outcome: ToolOutcome, failure: str | None
) -> None:
    assert CallResult.of(ToolCall("1", "execute", {}), outcome).failure == failure


def test_the_step_keeps_that_a_disk_has_no_room() -> None:
    call = ToolCall("1", "write_file", {})
    assert CallResult.of(call, ToolOutcome(error="full", no_room=True)).details == {NO_ROOM: True}
    assert CallResult.of(call, ToolOutcome(error="gone")).details == {}


def test_the_model_reads_the_value_as_json_or_the_error() -> None:
    call = ToolCall("1", "execute", {}, toolset="computer")
    done = CallResult.of(call, ToolOutcome({"output": "Grüße"})).result
    assert (done.content, done.is_error) == ((Text('{"output": "Grüße"}'),), False)
    failed = CallResult.of(call, ToolOutcome(error="gone")).result
    assert (failed.content, failed.is_error, failed.toolset) == ((Text("gone"),), True, "computer")


def test_results_of_the_browser_are_texts_beside_its_state() -> None:
    call = ToolCall("1", "find", {}, toolset="browser")
    state: dict[str, object] = {"tabs": []}
    done = CallResult.of(call, ToolOutcome({"text": "ref_1", "browser_state": state})).result
    assert (done.content, done.browser_state) == ((Text("ref_1"),), state)
    failed = CallResult.of(call, ToolOutcome(error="stale")).result
    assert (failed.content, failed.browser_state) == ((Text("stale"),), None)
