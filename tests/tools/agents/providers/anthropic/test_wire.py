import base64
import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskhand.tools.agents.loop.prepared_history import prepared
from deskhand.tools.agents.providers.anthropic import wire
from deskhand.tools.agents.providers.merged_messages import picture_count, picture_ids
from deskhand.tools.agents.providers.port import Prompt
from deskhand.tools.agents.scripted.anthropic.protocol import read_request
from deskhand.tools.agents.scripted.script.picture_header import measure
from deskhand.tools.conversation.conversation import (
    Block,
    Compaction,
    Image,
    Message,
    ReplyBlock,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from deskhand.tools.kit.support.spec import ToolSpec
from tests.tools.agents.loop.fakes import encoded, screen, user

PNG = encoded(screen(size=(8, 8)))
SHOT = Image("f1", "image/png", 8, 8)
CLICK = ToolCall("c1", "left_click", {"coordinate": [1, 2]}, "computer")
RUN = ToolCall("c2", "execute", {"command": "ls"})
EXECUTE = ToolSpec("execute", "Runs a command.", {"type": "object", "properties": {}})


def request(*messages: Message, computer: bool = True, system: str = "Be good.") -> dict[str, Any]:
    prompt = Prompt(system, messages, (EXECUTE,), computer, "m", 99)
    return wire.request(prompt, {"f1": PNG})


def test_a_removed_picture_is_named_in_its_place() -> None:
    gone = Image("f2", "image/png", 8, 8)
    body = request(user("Hi."), Message("assistant", (RUN,)), answered(gone))
    (result,) = body["messages"][2]["content"]
    assert result["content"][0]["text"] == "[A picture that was removed: file f2]"


def answered(picture: Image) -> Message:
    return Message("user", (ToolResult("c2", (picture,)),))


def marks(body: dict[str, Any]) -> int:
    return json.dumps(body).count("cache_control")


def test_the_computer_is_one_entry_of_the_tools() -> None:
    body = request(user("Hi."))
    assert body["tools"] == [
        {"type": "computer_toolset_20260801"},
        {
            "name": "execute",
            "description": "Runs a command.",
            "input_schema": {"type": "object", "properties": {}},
        },
    ]
    assert (body["model"], body["max_tokens"]) == ("m", 99)
    assert [t["name"] for t in request(user("Hi."), computer=False)["tools"]] == ["execute"]


def test_a_call_and_its_result_bear_the_name_of_their_toolset() -> None:
    answers = (ToolResult("c1", (Text("ok"), SHOT), toolset="computer"), ToolResult("c2", ()))
    body = request(user("Hi."), Message("assistant", (CLICK, RUN)), Message("user", answers))
    call, plain = body["messages"][1]["content"]
    assert (call["name"], call["toolset_name"]) == ("left_click", "computer")
    assert "toolset_name" not in plain
    result, bare = body["messages"][2]["content"]
    assert (result["tool_use_id"], result["toolset_name"]) == ("c1", "computer")
    source = result["content"][1]["source"]
    assert source["media_type"] == "image/png"
    assert base64.b64decode(source["data"]) == PNG
    assert "content" not in bare


def marked(body: dict[str, Any]) -> list[str]:
    return [b["text"] for m in body["messages"] for b in m["content"] if "cache_control" in b]


def test_the_system_prompt_and_the_ends_of_two_requests_carry_cache_marks() -> None:
    body = request(user("a", "b"), Message("assistant", (Text("c"),)), user("d"))
    assert marked(body) == ["b", "d"]
    assert body["system"][0]["cache_control"] == {"type": "ephemeral"}
    assert marks(body) == 3


def test_ends_of_settled_parts_carry_cache_marks_unless_messages_were_joined() -> None:
    turns = [m for n in range(6) for m in (user(f"u{n}"), Message("assistant", (Text("c"),)))]
    prompt = Prompt("Be good.", (*turns, user("end")), (), True, "m", settled=(2, 6))
    body = wire.request(prompt, {})
    assert marked(body) == ["u1", "u3", "u5", "end"]
    assert "cache_control" not in body["system"][0]
    joined = replace(prompt, messages=(*prompt.messages, user("more")))
    assert marked(wire.request(joined, {})) == ["u4", "u5", "more"]


def test_a_blank_system_prompt_and_no_tools_are_left_out() -> None:
    body = wire.request(Prompt(" ", (user("Hi."),), (), False, "m"), {})
    assert set(body) == {"model", "max_tokens", "stream", "messages"}


def test_neighbours_of_one_role_become_one_message() -> None:
    body = request(user("a"), user("b"), Message("assistant", (Text("c"),)))
    assert [m["role"] for m in body["messages"]] == ["user", "assistant"]
    assert [b["text"] for b in body["messages"][0]["content"]] == ["a", "b"]


def test_results_come_before_other_text_and_blank_text_is_left_out() -> None:
    text = Message("user", (Text("Wait!"), Text(" "), ToolResult("c2", (Text(""), Text("ok")))))
    body = request(user("Hi."), Message("assistant", (RUN,)), text)
    kinds = [b["type"] for b in body["messages"][2]["content"]]
    assert kinds == ["tool_result", "text"]
    assert body["messages"][2]["content"][0]["content"] == [{"type": "text", "text": "ok"}]
    assert len(request(user("Hi."), Message("assistant", (Text(""),)))["messages"]) == 1


def test_a_failed_result_contains_only_text_and_its_picture_follows_all_results() -> None:
    failed = ToolResult("c2", (Text("no"), SHOT), is_error=True)
    wordless = ToolResult("c2", (SHOT,), is_error=True)
    for result, text in ((failed, "no"), (wordless, "The tool failed.")):
        body = request(user("Hi."), Message("assistant", (RUN,)), Message("user", (result,)))
        sent, picture = body["messages"][2]["content"]
        assert picture["type"] == "image"
        assert (sent["is_error"], sent["content"]) == (True, [{"type": "text", "text": text}])


def test_pictures_are_named_once_in_their_order() -> None:
    other = Image("f0", "image/png", 8, 8)
    text = (Message("user", (SHOT, ToolResult("c", (other, Text("x"), SHOT)))), user("y"))
    assert picture_ids(text) == ("f1", "f0")
    assert request(Message("user", (SHOT,)))["messages"][0]["content"][0]["type"] == "image"


def test_a_picture_without_bytes_becomes_a_line_of_text() -> None:
    gone = Image("gone", "image/png", 8, 8)
    block = request(Message("user", (gone,)))["messages"][0]["content"][0]
    assert (block["type"], block["text"]) == ("text", "[A picture that was removed: file gone]")


THOUGHT = {"type": "thinking", "thinking": "Hm.", "signature": "s"}
HIDDEN = {"type": "redacted_thinking", "data": "x"}


def test_thoughts_go_back_as_they_came_and_take_no_cache_mark() -> None:
    text = Message("assistant", (Thinking(THOUGHT), ToolCall("a", "f", {}), Thinking(HIDDEN)))
    content = request(user("x"), text)["messages"][1]["content"]
    assert (content[0], content[2]) == (THOUGHT, HIDDEN)
    assert "cache_control" not in json.dumps(content)
    assert request(user("x"), Message("assistant", (Thinking(HIDDEN),)))["messages"][1] == {
        "role": "assistant",
        "content": [HIDDEN],
    }


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ({"type": "text", "text": "Hi."}, Text("Hi.")),
        ({"type": "text", "text": ""}, None),
        ({"type": "thinking", "thinking": "Hm."}, None),
        (THOUGHT, Thinking(THOUGHT)),
        ({"type": "redacted_thinking", "data": "x"}, Thinking(HIDDEN)),
        ({"type": "song"}, None),
        (
            {"type": "tool_use", "id": "a", "name": "key", "input": {}, "toolset_name": "computer"},
            ToolCall("a", "key", {}, "computer"),
        ),
        (
            {"type": "tool_use", "id": "a", "name": "f", "input": "x"},
            ToolCall("a", "f", {"arguments": "x"}),
        ),
        ({"type": "tool_use", "id": "a", "name": "f", "input": None}, ToolCall("a", "f", {})),
    ],
)
def test_blocks_of_a_reply_are_read(block: dict[str, Any], expected: ReplyBlock | None) -> None:
    assert wire.reply_block(block) == expected


calls = st.builds(
    ToolCall,
    st.sampled_from("abcdefgh"),
    st.just("screenshot"),
    st.just({}),
    st.sampled_from([None, "computer"]),
)
results = st.builds(
    ToolResult,
    st.sampled_from("abcdefgh"),
    st.lists(st.sampled_from([SHOT, Text("ok"), Text("")]), max_size=2).map(tuple),
    st.booleans(),
)
text = st.lists(
    st.one_of(
        st.lists(st.one_of(st.just(Text("hm")), calls), max_size=3, unique_by=str).map(
            lambda blocks: ("assistant", blocks)
        ),
        st.lists(st.one_of(st.just(Text("hey")), results), max_size=3).map(
            lambda blocks: ("user", blocks)
        ),
    ),
    max_size=8,
)


@given(text)
def test_whatever_was_written_down_the_strict_server_takes_it(
    turns: list[tuple[str, list[Block]]],
) -> None:
    seen: set[str] = set()
    messages = [user("Go.")]
    for role, blocks in turns:
        fresh = [b for b in blocks if not isinstance(b, ToolCall) or b.id not in seen]
        kept = list({b.id if isinstance(b, ToolCall) else str(b): b for b in fresh}.values())
        seen |= {b.id for b in kept if isinstance(b, ToolCall)}
        messages.append(Message("user" if role == "user" else "assistant", tuple(kept)))
    toolsets = {b.id: b.toolset for m in messages for b in m.content if isinstance(b, ToolCall)}
    messages = [
        Message(
            m.role,
            tuple(
                ToolResult(b.call_id, b.content, b.is_error, toolsets.get(b.call_id))
                if isinstance(b, ToolResult)
                else b
                for b in m.content
            ),
        )
        for m in messages
    ]
    read_request(request(*prepared(messages, keep=None)), measure)


def test_the_provider_is_asked_to_drop_blocks_only_with_the_header_for_it() -> None:
    prompt = Prompt("", (user("x"),), (), False, "m")
    body = wire.request(prompt, {}, drop_block=True)
    binding = {"prefix_mismatch_behavior": "drop_block"}
    assert body["thinking"] == {"type": "adaptive", "block_binding": binding}
    assert wire.headers(prompt, drop_block=True) == {
        "anthropic-beta": "thinking-binding-controls-2026-08-01"
    }
    plain = wire.request(prompt, {})
    assert "thinking" not in plain
    assert wire.headers(prompt, drop_block=False) == {}


def test_pictures_of_a_request_are_counted() -> None:
    text = (Message("user", (SHOT, ToolResult("c", (Text("x"), SHOT)))), user("é"))
    assert picture_count(text) == 2


def test_the_bytes_of_a_message_stay_the_same_while_its_mark_moves_on() -> None:
    messages = (user("é"), Message("assistant", (CLICK,)), answered(SHOT))
    parts = [wire.message_part(message, {"f1": PNG}) for message in messages]
    prompt = Prompt("Be good.", messages, (EXECUTE,), True, "m", 99)
    body = wire.encoded(prompt, parts)
    assert json.loads(body) == wire.request(prompt, {"f1": PNG})
    assert [part.data in body for part in parts] == [False, True, False]
    assert [part.pictures for part in parts] == [0, 0, 1]
    assert parts[0].data == '{"role":"user","content":[{"type":"text","text":"é"}]}'.encode()


def test_a_text_that_has_no_utf8_is_sent_escaped() -> None:
    part = wire.message_part(user("a\udc80b"), {})
    assert json.loads(part.data)["content"][0]["text"] == "a\udc80b"
    assert part.data.isascii()


def test_a_message_without_content_is_left_out() -> None:
    assert wire.message_part(user("  "), {}) == wire.MessagePart("user", b"")


def test_a_summary_of_the_provider_goes_back_as_it_came_with_its_beta() -> None:
    block = {"type": "compaction", "content": "All.", "signature": "s"}
    messages = (Message("assistant", (Compaction(block), RUN)), answered(SHOT))
    body = request(*messages)
    assert body["messages"][0]["content"][0] == block
    assert "compaction" not in body
    needed = {"anthropic-beta": "compact-2026-09-04"}
    prompt = Prompt("", messages, (), False, "m")
    assert wire.headers(prompt, drop_block=False) == needed
    both = {"anthropic-beta": "thinking-binding-controls-2026-08-01,compact-2026-09-04"}
    empty = Prompt("", (), (), False, "m")
    assert wire.headers(empty, drop_block=True, compact=True) == both
    assert wire.reply_block(block) == Compaction(block)
    assert wire.reply_block({**block, "content": None}) is None


def test_a_summary_is_asked_for_by_a_field_of_the_request() -> None:
    prompt = Prompt("Be good.", (user("x"),), (), False, "m")
    parts = [wire.message_part(user("x"), {})]
    plain = json.loads(wire.encoded(prompt, parts))
    asked = json.loads(wire.encoded(prompt, parts, compact=True))
    assert asked == {**plain, "compaction": {"type": "summarize"}}


def test_a_model_that_thinks_is_asked_to_show_it_and_how_much() -> None:
    prompt = Prompt("", (Message("user", (Text("Go."),)),), (), False, "claude-opus-5-5")
    parts = [wire.message_part(message, {}) for message in prompt.messages]
    body = json.loads(wire.encoded(prompt, parts, drop_block=True, effort="low"))
    assert body["thinking"] == {
        "type": "adaptive",
        "display": "summarized",
        "block_binding": {"prefix_mismatch_behavior": "drop_block"},
    }
    assert body["output_config"] == {"effort": "low"}
    older = replace(prompt, model="claude-haiku-4-5")
    asked = json.loads(wire.encoded(older, parts, effort="low"))
    assert asked["thinking"] == {"type": "enabled", "budget_tokens": 2048}
    assert "output_config" not in asked


def test_reasoning_of_another_provider_is_left_out() -> None:
    content = Thinking({"type": "reasoning", "id": "rs"}), Text("Hi.")
    part = wire.message_part(Message("assistant", content), {})
    assert json.loads(part.data)["content"] == [{"type": "text", "text": "Hi."}]


def test_a_model_with_an_older_tool_gets_its_form_of_calls_results_and_header() -> None:
    messages = (user("x"), Message("assistant", (CLICK,)), answered(SHOT))
    prompt = Prompt("", messages, (EXECUTE,), True, "claude-opus-4-5")
    body = wire.request(prompt, {"f1": PNG})
    assert body["tools"][0]["type"] == "computer_20251124"
    (call,), (result,) = (message["content"] for message in body["messages"][1:])
    assert call["name"] == "computer"
    assert call["input"]["action"] == CLICK.name
    assert "toolset_name" not in {**call, **result}
    assert wire.headers(prompt, drop_block=False) == {"anthropic-beta": "computer-use-2025-11-24"}
    # Without the tool there is no beta to ask for.
    alone = Prompt("", messages, (EXECUTE,), False, "claude-opus-4-5")
    assert wire.headers(alone, drop_block=False) == {}
    older = {"type": "tool_use", "id": "t", "name": "computer", "input": {"action": "screenshot"}}
    assert wire.reply_block(older) == ToolCall("t", "screenshot", {}, "computer")


BROWSER = ToolSpec("browser", "Use pages.", {"type": "object", "properties": {}})
FIND = ToolCall("c3", "find", {"query": "x"}, "browser")
STATE = {"tabs": [{"tab_id": "t1", "title": "A", "url": "http://a/", "active": True}]}
FOUND = ToolResult("c3", (Text("ref_1"),), toolset="browser", browser_state=STATE)


def browsed(model: str, result: ToolResult = FOUND) -> dict[str, Any]:
    messages = (user("Hi."), Message("assistant", (FIND,)), Message("user", (result,)))
    return wire.request(Prompt("Be good.", messages, (BROWSER,), True, model, 99), {})


def test_the_browser_is_a_toolset_with_its_state_in_results() -> None:
    body = browsed("claude-opus-5-5")
    assert body["tools"][1]["type"] == "browser_toolset_20260801"
    (call,) = body["messages"][1]["content"]
    assert (call["name"], call["toolset_name"]) == ("find", "browser")
    (result,) = body["messages"][2]["content"]
    assert result["toolset_name"] == "browser"
    assert result["content"][1] == {"type": "browser_state", **STATE}
    read_request(body, measure)


def test_a_dialog_is_a_text_beside_the_state() -> None:
    tab = {**STATE["tabs"][0], "dialog": {"type": "alert", "message": "Hi"}}
    body = browsed("claude-opus-5-5", replace(FOUND, browser_state={"tabs": [tab]}))
    (result,) = body["messages"][2]["content"]
    said = 'Tab t1 (waits for its dialog alert: "Hi")'
    assert result["content"][1:] == [
        *({"type": "text", "text": said}, {"type": "browser_state", **STATE}),
    ]
    read_request(body, measure)


def test_a_failed_result_has_no_state() -> None:
    body = browsed("claude-opus-5-5", replace(FOUND, is_error=True, content=()))
    (result,) = body["messages"][2]["content"]
    assert [block["type"] for block in result["content"]] == ["text"]
    read_request(body, measure)
    alone = browsed("claude-opus-5-5", replace(FOUND, content=()))
    assert len(alone["messages"][2]["content"][0]["content"]) == 1


def test_models_with_an_older_tool_get_a_function_and_the_state_in_words() -> None:
    body = browsed("claude-sonnet-4-5")
    assert body["tools"][1]["name"] == "browser"
    (call,) = body["messages"][1]["content"]
    assert (call["name"], call["input"]) == ("browser", {"action": "find", "query": "x"})
    (result,) = body["messages"][2]["content"]
    assert "toolset_name" not in result
    assert result["content"][1]["text"] == 'Tab t1, active: "A" http://a/'
