import json
from typing import Any

import pytest

from deskhand.tools.agents.providers.gemini.stream import (
    ASKED_AGAIN,
    END_REASONS,
    REFUSED,
    FailedAnswer,
    StreamedAnswer,
)
from deskhand.tools.agents.providers.port import ModelReply, Usage
from deskhand.tools.agents.providers.reply_errors import FailedReply, UnreadableReply
from deskhand.tools.conversation.conversation import SafetyCheck, Text, Thinking, ToolCall

Json = dict[str, Any]
STOP: Json = {"candidates": [{"finishReason": "STOP"}]}


def parts(*given: Json) -> Json:
    return {"candidates": [{"content": {"role": "model", "parts": list(given)}}]}


def call(name: str, given_id: str | None = "c1", **args: Any) -> Json:
    return {"functionCall": {"name": name, "args": args, **({"id": given_id} if given_id else {})}}


def event(chunk: Json) -> bytes:
    return f"data: {json.dumps(chunk)}\r\n\r\n".encode()


def streamed(*chunks: Json, tools: tuple[str, ...] = ("execute",)) -> StreamedAnswer:
    answer = StreamedAnswer((1280, 720), tools=tools, nonce="n")
    for chunk in chunks:
        list(answer.feed(event(chunk)))
    return answer


def read(*chunks: Json, tools: tuple[str, ...] = ("execute",)) -> ModelReply:
    reply = streamed(*chunks, tools=tools).result()
    assert reply is not None
    return reply


def test_texts_continue_and_are_announced() -> None:
    answer = StreamedAnswer((1280, 720), tools=(), nonce="n")
    data = event(parts({"text": "Hé"})) + event(parts({"text": "llo"})) + event(STOP)
    announced = [new for byte in data for new in answer.feed(bytes([byte]))]
    assert announced == [True, True, False]
    assert answer.text == "Héllo"
    reply = answer.result()
    assert reply is not None
    assert (reply.content, reply.stop_reason) == ((Text("Héllo"),), "end_turn")


def test_a_part_with_a_signature_is_kept_beside_its_text() -> None:
    signed = {"text": "Done.", "thoughtSignature": "QQ=="}
    empty = {"text": "", "thoughtSignature": "Qg=="}
    reply = read(parts({"text": "a"}, signed), parts({"text": "b"}), parts(empty), STOP)
    assert reply.content == (
        Text("a"),
        Thinking({"type": "gemini_part", "part": signed}),
        Text("Done."),
        Text("b"),
        Thinking({"type": "gemini_part", "part": empty}),
    )


def test_a_signature_alone_is_kept() -> None:
    empty = {"text": "", "thoughtSignature": "Qg=="}
    assert read(parts(empty), STOP).content == (Thinking({"type": "gemini_part", "part": empty}),)


def test_of_the_members_that_end_a_cut_reply_one_is_left_for_the_loop_to_leave_out() -> None:
    typed = call("type_text_at", "c2", x=1, y=2, text="a")
    end: Json = {"candidates": [{"finishReason": "MAX_TOKENS"}]}
    reply = read(parts(call("navigate", "c1", url="a.test"), typed), end)
    calls = [block.id for block in reply.content if isinstance(block, ToolCall)]
    assert calls == ["c1.1", "c1", "c2"]
    assert read(parts({"text": "a"}), end).content == (Text("a"),)


def test_an_empty_part_is_nothing() -> None:
    assert read(parts({"text": "a"}, {"text": ""}, {"executableCode": {}}), STOP).content == (
        Text("a"),
    )


def test_a_thought_is_no_text() -> None:
    thought = {"text": "Hm.", "thought": True}
    reply = read(parts(thought, {"text": "Hi"}), STOP)
    assert reply.content == (Thinking({"type": "gemini_part", "part": thought}), Text("Hi"))


def test_a_function_is_kept_beside_its_calls() -> None:
    part = call("navigate", url="http://a.test/", intent="Read it")
    reply = read(parts(part), STOP)
    assert reply.stop_reason == "tool_use"
    assert reply.content == (
        Thinking({"type": "gemini_part", "part": part, "calls": ["c1.1", "c1"]}),
        ToolCall("c1.1", "key", {"text": "ctrl+l"}, "computer", (), "Read it"),
        ToolCall("c1", "type", {"text": "http://a.test/\n"}, "computer", (), "Read it"),
    )


def test_a_tool_of_ours_may_have_the_name_of_a_predefined_function() -> None:
    _, found = read(parts(call("click", x=1)), STOP, tools=("click",)).content
    assert found == ToolCall("c1", "click", {"x": 1})


def test_calls_without_ids_get_different_ones() -> None:
    reply = read(parts(call("a"), call("b"), call("c", None), call("d", None)), STOP)
    calls = [block for block in reply.content if isinstance(block, ToolCall)]
    assert [one.id for one in calls] == ["c1", "c1", "n-4", "n-6"]


def test_the_first_call_of_a_function_asks_for_the_confirmation() -> None:
    asked = {"decision": "require_confirmation", "explanation": "It pays."}
    reply = read(parts(call("navigate", url="u", safety_decision=asked)), STOP)
    first, second = (block for block in reply.content if isinstance(block, ToolCall))
    assert first.checks == (SafetyCheck("", "require_confirmation", "It pays."),)
    assert second.checks == ()


@pytest.mark.parametrize(
    ("decision", "checks"),
    [
        ({"decision": "regular"}, ()),
        (None, ()),
        ("ask", (SafetyCheck("", "require_confirmation", "ask"),)),
        ({"decision": "require_confirmation"}, (SafetyCheck("", "require_confirmation", ""),)),
    ],
)
def test_only_a_decision_that_needs_a_person_is_a_check(
    decision: object, checks: tuple[SafetyCheck, ...]
) -> None:
    reply = read(parts(call("execute", safety_decision=decision, a=1)), STOP)
    assert reply.content[1] == ToolCall("c1", "execute", {"a": 1}, None, checks)


def test_usage_is_normalised() -> None:
    usage = {
        "promptTokenCount": 100,
        "cachedContentTokenCount": 70,
        "toolUsePromptTokenCount": 5,
        "candidatesTokenCount": 10,
        "thoughtsTokenCount": 3,
    }
    reply = read(parts({"text": "a"}), {**STOP, "usageMetadata": usage})
    assert reply.usage == Usage(35, 13, 70, thinking_tokens=3)


@pytest.mark.parametrize(("reason", "ours"), sorted(END_REASONS.items()))
def test_each_reason_for_the_end_has_one_of_ours(reason: str, ours: str) -> None:
    reply = read(parts({"text": "a"}), {"candidates": [{"finishReason": reason}]})
    assert reply.stop_reason == ours


def test_an_unknown_reason_is_passed_on() -> None:
    assert read({"candidates": [{"finishReason": "TIRED"}]}).stop_reason == "tired"


@pytest.mark.parametrize(
    ("reason", "again"), [*((r, True) for r in sorted(ASKED_AGAIN)), *((r, False) for r in REFUSED)]
)
def test_some_reasons_are_failures(reason: str, again: bool) -> None:
    with pytest.raises(FailedAnswer) as caught:
        read({"candidates": [{"finishReason": reason}]})
    assert caught.value.again is again


def test_an_empty_answer_is_asked_for_again() -> None:
    with pytest.raises(FailedAnswer, match="empty") as caught:
        read(STOP)
    assert caught.value.again


@pytest.mark.parametrize("message", ["SAFETY", "Not this."])
def test_a_blocked_prompt_is_refused(message: str) -> None:
    feedback = {"blockReason": "SAFETY"}
    feedback |= {"blockReasonMessage": message} if message != "SAFETY" else {}
    with pytest.raises(FailedAnswer, match=f"blocked the prompt: {message}") as caught:
        read({"promptFeedback": feedback})
    assert not caught.value.again


def test_an_answer_without_a_reason_is_incomplete() -> None:
    assert streamed(parts({"text": "a"})).result() is None


def test_an_error_within_the_stream_is_reported_at_its_end() -> None:
    error = {"error": {"code": 503, "message": "busy"}}
    answer = streamed(parts({"text": "a"}), error, parts({"text": "b"}))
    assert answer.text == "a"
    with pytest.raises(FailedReply) as caught:
        answer.result()
    assert (caught.value.kind, caught.value.message) == ("503", "busy")


@pytest.mark.parametrize("data", [b"data: {\n\n", b"data: []\n\n", b'data: {"candidates": 5}\n\n'])
def test_an_unreadable_event_is_reported_at_the_end(data: bytes) -> None:
    answer = streamed()
    list(answer.feed(data))
    with pytest.raises(UnreadableReply):
        answer.result()
