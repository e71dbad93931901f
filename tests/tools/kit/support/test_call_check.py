from deskhand.tools.conversation.conversation import ToolCall
from deskhand.tools.kit.support.call_check import refusal_of
from deskhand.tools.kit.write_file import WriteFileTool


def test_a_call_that_its_tool_would_refuse_is_refused() -> None:
    tool = WriteFileTool()
    good = {"path": "/a", "content": ""}
    assert refusal_of(ToolCall("1", "write_file", good), tool) == ""
    assert refusal_of(ToolCall("1", "write_file", {"path": "/a"}), tool) == "content is required"


def test_a_call_of_the_computer_is_checked_by_its_member() -> None:
    assert refusal_of(ToolCall("1", "screenshot", {}, "computer"), None) == ""
    typed = ToolCall("1", "type", {"txt": "a"}, "computer")
    assert refusal_of(typed, None) == "type: unknown argument txt: did you mean text?"


def test_of_another_call_nothing_is_known() -> None:
    assert refusal_of(ToolCall("1", "other", {"a": 1}), None) == ""
