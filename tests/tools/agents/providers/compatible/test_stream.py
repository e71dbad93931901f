import json
from typing import Any

import pytest

from deskhand.tools.agents.providers.compatible.stream import END_REASONS, CompletionStream
from deskhand.tools.agents.providers.port import ModelReply, Usage
from deskhand.tools.agents.providers.reply_errors import FailedReply, UnreadableReply
from deskhand.tools.conversation.conversation import Text, ToolCall

Json = dict[str, Any]


def delta(**given: Any) -> Json:
    return {"choices": [{"index": 0, "delta": given, "finish_reason": None}]}


def end(reason: str = "stop") -> Json:
    return {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}


def piece(index: int | None, call_id: str | None = None, **function: str) -> Json:
    known = {"index": index, "id": call_id, "function": function}
    return delta(tool_calls=[{key: value for key, value in known.items() if value is not None}])


def event(chunk: object) -> bytes:
    return f"data: {json.dumps(chunk)}\n\n".encode()


def streamed(*chunks: object) -> CompletionStream:
    stream = CompletionStream(tools=("execute",), nonce="n")
    for chunk in chunks:
        list(stream.feed(event(chunk)))
    return stream


def read(*chunks: object) -> ModelReply:
    reply = streamed(*chunks).result()
    assert reply is not None
    return reply


def test_texts_grow_and_reasoning_is_left_out() -> None:
    stream = CompletionStream(tools=("execute",), nonce="n")
    chunks = [delta(reasoning_content="Hm."), delta(content="Hé"), delta(content="llo"), end()]
    data = b"".join(map(event, chunks)) + b"data: [DONE]\n\n"
    assert [new for byte in data for new in stream.feed(bytes([byte]))] == [
        False,
        True,
        True,
        False,
    ]
    reply = stream.result()
    assert reply is not None
    assert (reply.content, reply.stop_reason) == ((Text("Héllo"),), "end_turn")


def test_calls_are_put_together() -> None:
    reply = read(
        piece(0, "a", name="computer", arguments='{"action": "left_'),
        piece(1, "b", name="execute"),
        piece(0, arguments='click", "coordinate": [1, 2]}'),
        piece(1, arguments=""),
        end("tool_calls"),
    )
    assert reply.stop_reason == "tool_use"
    assert reply.content == (
        ToolCall("a", "left_click", {"coordinate": [1, 2]}, "computer"),
        ToolCall("b", "execute", {}),
    )


def test_calls_without_indexes_or_ids_stay_apart() -> None:
    whole = '{"command": "ls"}'
    pieces = [piece(None, one, name="execute", arguments=whole) for one in (None, "a", "a")]
    reply = read(*pieces, end())
    assert reply.stop_reason == "tool_use"
    ids = [block.id for block in reply.content if isinstance(block, ToolCall)]
    assert ids == ["n-0", "a", "a"]


def test_arguments_that_are_no_object_are_refused_by_every_tool() -> None:
    (call,) = read(piece(0, "a", name="execute", arguments="[1]"), end()).content
    assert call == ToolCall("a", "execute", {"arguments": [1]})
    (call,) = read(piece(0, "a", name="execute", arguments="null"), end()).content
    assert call == ToolCall("a", "execute", {})


def test_arguments_may_be_cut_only_at_the_limit() -> None:
    cut = piece(0, "a", name="execute", arguments='{"command": "l')
    reply = read(cut, end("length"))
    assert (reply.stop_reason, reply.content) == ("max_tokens", (ToolCall("a", "execute", {}),))
    with pytest.raises(UnreadableReply, match="arguments"):
        read(cut, end("tool_calls"))


def test_a_call_that_is_cut_before_others_is_left_out() -> None:
    pieces = (
        piece(0, "a", name="list_agents", arguments='{"limit": '),
        piece(1, "b", name="execute", arguments='{"command": "ls"}'),
        piece(2, "c", name="execute", arguments="{"),
    )
    reply = read(*pieces, end("length"))
    assert reply.content == (
        ToolCall("b", "execute", {"command": "ls"}),
        ToolCall("c", "execute", {}),
    )


@pytest.mark.parametrize(("reason", "ours"), [*END_REASONS.items(), ("tired", "tired")])
def test_each_reason_for_the_end_has_one_of_ours(reason: str, ours: str) -> None:
    assert read(delta(content="a"), end(reason)).stop_reason == ours


def test_usage_is_normalised() -> None:
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 7,
        "prompt_tokens_details": {"cached_tokens": 60},
        "completion_tokens_details": {"reasoning_tokens": 2},
    }
    expected = Usage(40, 7, 60, thinking_tokens=2)
    assert read(end(), {"choices": [], "usage": usage}).usage == expected
    assert read(end()).usage == Usage()


def test_an_answer_without_a_reason_is_incomplete() -> None:
    assert streamed(delta(content="a")).result() is None


@pytest.mark.parametrize(
    ("error", "kind"), [({"code": 503}, "503"), ({"type": "busy"}, "busy"), ({"a": 1}, "")]
)
def test_an_error_within_the_stream_is_reported_at_its_end(error: Json, kind: str) -> None:
    stream = streamed(delta(content="a"), {"error": {**error, "message": "no"}}, delta(content="b"))
    assert stream.text == "a"
    with pytest.raises(FailedReply) as caught:
        stream.result()
    assert (caught.value.kind, caught.value.message) == (kind, "no")


@pytest.mark.parametrize("chunk", [[], {"choices": 5}, {"choices": [{"delta": {"content": 5}}]}])
def test_an_unreadable_event_is_reported_at_the_end(chunk: object) -> None:
    with pytest.raises(UnreadableReply):
        streamed(chunk).result()
