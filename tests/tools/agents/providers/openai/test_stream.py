import json
from itertools import pairwise
from typing import Any

import pytest

from deskhand.tools.agents.providers.openai.stream import ResponseStream, compaction_of
from deskhand.tools.agents.providers.port import ModelReply, Usage
from deskhand.tools.agents.providers.reply_errors import FailedReply, UnreadableReply
from deskhand.tools.conversation.conversation import Compaction, Text, Thinking, ToolCall

Json = dict[str, Any]
SAID: Json = {"type": "message", "content": [{"type": "output_text", "text": "Hi, ä."}]}
CALL: Json = {"type": "function_call", "call_id": "f", "name": "execute", "arguments": "{}"}


def done(index: int, item: Json) -> Json:
    return {"type": "response.output_item.done", "output_index": index, "item": item}


def delta(text: str, kind: str = "output_text") -> Json:
    return {"type": f"response.{kind}.delta", "delta": text}


def ended(kind: str = "completed", **response: Any) -> Json:
    return {"type": f"response.{kind}", "response": response}


def stream_of(*events: Json | bytes) -> bytes:
    parts = (one if isinstance(one, bytes) else json.dumps(one).encode() for one in events)
    return b"".join(b"event: x\ndata: " + part + b"\n\n" for part in parts)


def read(*events: Json | bytes) -> ModelReply | None:
    reply = ResponseStream()
    list(reply.feed(stream_of({"type": "response.created"}, *events)))
    return reply.result()


def test_a_reply_is_the_same_in_any_pieces() -> None:
    data = stream_of(delta("Hi,"), delta(" ä."), done(1, CALL), done(0, SAID), ended())
    whole = ResponseStream()
    assert list(whole.feed(data)) == [True, True, False, False, False]
    assert whole.text == "Hi, ä."
    content = (Thinking(SAID), Text("Hi, ä."), Thinking(CALL), ToolCall("f", "execute", {}))
    assert whole.result() == ModelReply(content, "tool_use", Usage())
    for first, second in pairwise(range(0, len(data) + 1, 1)):
        assert second - first == 1
    pieces = ResponseStream()
    for index in range(len(data)):
        list(pieces.feed(data[index : index + 1]))
    assert pieces.result() == whole.result()


def test_the_tokens_of_the_cache_are_counted_apart() -> None:
    details = {"cached_tokens": 60, "cache_write_tokens": 30}
    usage = {"input_tokens": 100, "input_tokens_details": details, "output_tokens": 7}
    usage |= {"output_tokens_details": {"reasoning_tokens": 4}}
    reply = read(ended(usage=usage, input_transformations=[{"id": "rs"}]))
    assert reply is not None
    assert reply.usage == Usage(10, 7, 60, 30, 1, thinking_tokens=4)


@pytest.mark.parametrize(
    ("event", "stop_reason"),
    [
        (ended(), "end_turn"),
        (ended("incomplete", incomplete_details={"reason": "max_output_tokens"}), "max_tokens"),
        (ended("incomplete", incomplete_details={"reason": "content_filter"}), "refusal"),
        (ended("incomplete", incomplete_details={"reason": "max_messages"}), "pause_turn"),
        (ended("incomplete", incomplete_details={"reason": "steered"}), "pause_turn"),
        (ended("incomplete", incomplete_details={"reason": "new"}), "pause_turn"),
    ],
)
def test_each_end_has_its_stop_reason(event: Json, stop_reason: str) -> None:
    reply = read(done(0, SAID), event)
    assert reply is not None
    assert reply.stop_reason == stop_reason


def test_a_refusal_is_text_and_a_stop_reason() -> None:
    refused = {"type": "message", "content": [{"type": "refusal", "refusal": "No."}]}
    reply = read(delta("No.", "refusal"), done(0, refused), ended())
    assert reply is not None
    assert (reply.content[1:], reply.stop_reason) == ((Text("No."),), "refusal")


def test_a_call_that_was_cut_off_is_left_out() -> None:
    cut = {**CALL, "arguments": '{"com', "status": "incomplete"}
    event = ended("incomplete", incomplete_details={"reason": "max_output_tokens"})
    reply = read(done(0, {**SAID, "status": "incomplete"}), done(1, cut), event)
    assert reply is not None
    assert [type(block) for block in reply.content] == [Thinking, Text]


def test_of_the_actions_that_end_a_cut_reply_one_is_left_for_the_loop_to_leave_out() -> None:
    actions = [{"type": "type", "text": one} for one in "ab"]
    first, last = (
        {"type": "computer_call", "call_id": one, "actions": actions} for one in ("c", "d")
    )
    event = ended("incomplete", incomplete_details={"reason": "max_output_tokens"})
    reply = read(done(0, first), done(1, last), event)
    assert reply is not None
    calls = [block.id for block in reply.content if isinstance(block, ToolCall)]
    assert calls == ["c-0", "c-1", "d-1"]


def test_a_reply_without_its_end_is_incomplete() -> None:
    assert read(delta("Hi"), done(0, SAID)) is None


@pytest.mark.parametrize(
    ("event", "kind"),
    [
        ({"type": "error", "code": "rate_limit_exceeded", "message": "x"}, "rate_limit_exceeded"),
        ({"type": "error", "code": None, "message": "x"}, "server_error"),
        ({"type": "error", "error": {"code": "server_error", "message": "x"}}, "server_error"),
        (ended("failed", error={"code": "invalid_image", "message": "x"}), "invalid_image"),
        (ended("failed", error=None), "server_error"),
    ],
)
def test_an_error_is_reported_at_the_end(event: Json, kind: str) -> None:
    reply = ResponseStream()
    assert list(reply.feed(stream_of(event, delta("late"), ended()))) == []
    with pytest.raises(FailedReply) as caught:
        reply.result()
    assert caught.value.kind == kind


@pytest.mark.parametrize(
    "event",
    [
        b"{",
        b"[]",
        b"3",
        {"no": "type"},
        {"type": "response.output_item.done", "item": {}},
        {"type": "response.completed"},
        delta("x") | {"delta": None},
        {"type": "error"},
    ],
)
def test_a_malformed_event_is_reported_at_the_end(event: Json | bytes) -> None:
    with pytest.raises(UnreadableReply):
        read(event, ended())


@pytest.mark.parametrize("item", [{**CALL, "arguments": "{"}, {"type": "function_call"}])
def test_a_malformed_item_is_reported_at_the_end(item: Json) -> None:
    with pytest.raises(UnreadableReply):
        read(done(0, item), ended())


def test_a_compaction_has_all_items_of_its_answer() -> None:
    items = [{"type": "message", "role": "user"}, {"type": "compaction", "encrypted_content": "x"}]
    answer = {"output": items, "usage": {"input_tokens": 7, "output_tokens": 2}}
    reply = compaction_of(json.dumps(answer).encode())
    assert reply.content == tuple(Compaction(item) for item in items)
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (7, 2)


@pytest.mark.parametrize("body", [b"{", b"[]", b"{}", b'{"output": 3}', b'{"output": [3]}'])
def test_a_malformed_compaction_is_unreadable(body: bytes) -> None:
    with pytest.raises(UnreadableReply):
        compaction_of(body)
