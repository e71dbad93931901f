"""Calls of the browser toolset as a function."""

from deskhand.tools.agents.providers import browser_tool
from deskhand.tools.conversation.conversation import Text, ToolCall, ToolResult

MEMBER = ToolCall("1", "find", {"query": "x"}, "browser")
FUNCTION = ToolCall("1", "browser", {"action": "find", "query": "x"})


def test_calls_are_converted_both_ways() -> None:
    assert browser_tool.as_function(MEMBER) == FUNCTION
    assert browser_tool.as_member(FUNCTION) == MEMBER
    spare = ToolCall("1", "browser", {"action": "find", "query": "x", "tab_id": None})
    assert browser_tool.as_member(spare) == MEMBER


def test_an_argument_does_not_replace_the_member_of_a_call() -> None:
    call = ToolCall("1", "find", {"query": "x", "action": "javascript_exec"}, "browser")
    found = browser_tool.as_function(call).arguments
    assert found == {"action": "find", "query": "x", "find.action": "javascript_exec"}


def test_other_calls_stay_as_they_are() -> None:
    for call in (
        ToolCall("1", "browser", {"action": 5}),
        ToolCall("1", "execute", {"action": "find"}),
        ToolCall("1", "find", {}, "computer"),
        MEMBER,
    ):
        assert browser_tool.as_member(call) == call
    computer = ToolCall("1", "key", {}, "computer")
    assert browser_tool.as_function(computer) == computer


def test_the_entry_enables_what_is_off_by_default() -> None:
    configs = {"file_upload": {"enabled": True}, "javascript_exec": {"enabled": True}}
    assert browser_tool.entry() == {"type": "browser_toolset_20260801", "configs": configs}
    assert browser_tool.has_toolset("computer_toolset_20260801")
    assert not browser_tool.has_toolset("computer_20250124")


def test_the_state_is_a_text_for_models_without_the_toolset() -> None:
    state = {
        "tabs": [
            {"tab_id": "t1", "title": "A", "url": "http://a/"},
            {"tab_id": "t2", "title": "B", "url": "", "active": True},
        ],
        "state_changes": [
            {"type": "tab_opened", "tab_id": "t2"},
            {"type": "download_completed", "download_id": "d", "url": "u", "path": "/p"},
        ],
    }
    result = ToolResult("1", (Text("Done."),), toolset="browser", browser_state=state)
    first, text = browser_tool.result_content(result)
    assert first == Text("Done.")
    assert isinstance(text, Text)
    assert text.text.splitlines() == [
        *('Tab t1: "A" http://a/', 'Tab t2, active: "B"'),
        *("Changed: tab opened t2", "Changed: download completed /p u"),
    ]
    dialogs = {"tabs": [_with_dialog("alert", "Hi"), _with_dialog("print", "")]}
    assert browser_tool.state_text(dialogs).splitlines() == [
        *(
            'Tab t1: "A"  (waits for its dialog alert: "Hi")',
            'Tab t1: "A"  (waits for its dialog print)',
        ),
    ]
    assert browser_tool.state_text({}) == "No tab is open."
    plain = ToolResult("1", (Text("x"),))
    assert browser_tool.result_content(plain) == plain.content


def test_the_provider_of_the_toolset_gets_dialogs_as_text() -> None:
    plain = {"tab_id": "t2", "title": "B", "url": ""}
    state = {"tabs": [_with_dialog("alert", "Hi"), plain], "state_changes": [{"type": "x"}]}
    known, rest = browser_tool.toolset_content(state)
    assert known == {**state, "tabs": [{"tab_id": "t1", "title": "A", "url": ""}, plain]}
    assert rest == 'Tab t1 (waits for its dialog alert: "Hi")'


def _with_dialog(kind: str, message: str) -> dict[str, object]:
    return {"tab_id": "t1", "title": "A", "url": "", "dialog": {"type": kind, "message": message}}
