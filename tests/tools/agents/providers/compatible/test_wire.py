import base64
import json
from typing import Any

from deskhand.tools.agents.providers.compatible.computer_tool import TOOL
from deskhand.tools.agents.providers.compatible.wire import (
    RESULT_PICTURES,
    encoded,
    message_json,
)
from deskhand.tools.agents.providers.port import Prompt
from deskhand.tools.conversation.conversation import (
    Block,
    Image,
    Message,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from deskhand.tools.kit.support.spec import ToolSpec

Json = dict[str, Any]
SHOT = Image("f1", "image/png", 5, 5)
ADDRESS = {"url": f"data:image/png;base64,{base64.b64encode(b'png').decode()}"}
SEEN = {"type": "image_url", "image_url": ADDRESS}
SPEC = ToolSpec("execute", "Runs.", {"type": "object"})


def text(given: str) -> Json:
    return {"type": "text", "text": given}


def written(role: Any, *blocks: Block, **pictures: bytes) -> list[Json]:
    found: list[Json] = json.loads(
        b"[" + message_json(Message(role, blocks), pictures).encoded + b"]"
    )
    return found


def test_a_request_has_its_system_prompt_tools_and_messages() -> None:
    prompt = Prompt("Be good.", (), (SPEC,), True, "compatible:m")
    parts = [
        message_json(Message("user", (Text("Grüezi"),)), {}),
        message_json(Message("assistant", ()), {}),
        message_json(Message("user", (Text("On."),)), {}),
    ]
    tool = {"name": "execute", "description": "Runs.", "parameters": {"type": "object"}}
    assert json.loads(encoded(prompt, "m", parts)) == {
        "model": "m",
        "stream": True,
        "stream_options": {"include_usage": True},
        "tools": [TOOL, {"type": "function", "function": tool}],
        "messages": [
            {"role": "system", "content": "Be good."},
            {"role": "user", "content": [text("Grüezi")]},
            {"role": "user", "content": [text("On.")]},
        ],
    }


def test_little_is_required() -> None:
    body = json.loads(encoded(Prompt(" ", (), (), False, "m"), "m", []))
    assert body.keys() == {"model", "stream", "stream_options", "messages"}
    assert body["messages"] == []


def test_a_reply_goes_back_without_its_reasoning() -> None:
    click = ToolCall("a", "left_click", {"coordinate": [1, 2]}, "computer")
    (reply,) = written(
        "assistant", Thinking({"type": "thinking"}), Text("I"), Text("click."), click
    )
    assert reply["content"] == "I\n\nclick."
    (call,) = reply["tool_calls"]
    assert (call["id"], call["type"], call["function"]["name"]) == ("a", "function", "computer")
    arguments = json.loads(call["function"]["arguments"])
    assert arguments == {"action": "left_click", "coordinate": [1, 2]}


def test_a_reply_may_have_only_calls_or_only_text() -> None:
    (calling,) = written("assistant", ToolCall("a", "execute", {}))
    assert (calling["content"], len(calling["tool_calls"])) == (None, 1)
    assert written("assistant", Text("Done.")) == [{"role": "assistant", "content": "Done."}]
    assert written("assistant", Text(" ")) == []


def test_pictures_of_results_follow_all_results() -> None:
    first = ToolResult("a", (Text("Clicked."), SHOT), toolset="computer")
    second = ToolResult("b", (Text("1"), Text("2")))
    found = written("user", first, second, Text("And?"), Text(" "), SHOT, f1=b"png")
    assert found == [
        {"role": "tool", "tool_call_id": "a", "content": "Clicked."},
        {"role": "tool", "tool_call_id": "b", "content": "1\n\n2"},
        {"role": "user", "content": [text(RESULT_PICTURES), SEEN, text("And?"), SEEN]},
    ]
    assert message_json(Message("user", (first, SHOT)), {"f1": b"png"}).pictures == 2


def test_a_result_without_text_is_a_sentence() -> None:
    done, failed = written("user", ToolResult("a", ()), ToolResult("b", (), is_error=True))
    assert (done["content"], failed["content"]) == ("Done.", "The tool failed.")


def test_a_removed_picture_becomes_a_text() -> None:
    (said,) = written("user", SHOT)
    assert said["content"] == [text("[A picture that was removed: file f1]")]
    assert message_json(Message("user", (SHOT,)), {}).pictures == 0
