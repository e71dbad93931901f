import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskhand.tools.agents.providers.anthropic.stream import StreamedReply
from deskhand.tools.agents.providers.port import ModelReply, Usage
from deskhand.tools.agents.providers.reply_errors import FailedReply, UnreadableReply
from deskhand.tools.conversation.conversation import (
    Compaction,
    ReplyBlock,
    Text,
    Thinking,
    ToolCall,
)

Json = dict[str, Any]
START: Json = {"type": "message_start", "message": {"usage": {"input_tokens": 7}}}
STOP: Json = {"type": "message_stop"}
USED: Json = {"output_tokens": 5, "input_tokens": None, "cache_read_input_tokens": 2}


def begun(index: int, block: Json) -> Json:
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index: int, kind: str, **fields: str) -> Json:
    expected = {"type": f"{kind}_delta", **fields}
    return {"type": "content_block_delta", "index": index, "delta": expected}


def ended(reason: str | None) -> Json:
    return {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": USED}


def call(*pieces: str) -> list[Json]:
    block = {"type": "tool_use", "id": "a", "name": "key", "input": {}}
    inputs = [delta(1, "input_json", partial_json=piece) for piece in pieces]
    return [begun(1, block), *inputs, {"type": "content_block_stop", "index": 1}]


WORDS = [
    begun(0, {"type": "text", "text": ""}),
    delta(0, "text", text="Grü"),
    {"type": "ping"},
    delta(0, "text", text="ße"),
]
WHOLE = [START, *WORDS, *call('{"text": ', '"ä"}'), ended("tool_use"), STOP]


def wire(*events: Json, newline: str = "\n") -> bytes:
    texts = (f"event: {e['type']}\ndata: {json.dumps(e, ensure_ascii=False)}\n\n" for e in events)
    return ": a comment\n\n".join(texts).replace("\n", newline).encode()


def read(*events: Json) -> ModelReply | None:
    return read_bytes(wire(*events))


def read_bytes(*pieces: bytes) -> ModelReply | None:
    reply = StreamedReply()
    for piece in pieces:
        list(reply.feed(piece))
    return reply.result()


def content(*events: Json) -> tuple[ReplyBlock, ...]:
    reply = read(*events)
    assert reply is not None
    return reply.content


def test_a_reply_is_put_together() -> None:
    reply = StreamedReply()
    assert [reply.text for has_text in reply.feed(wire(*WHOLE)) if has_text] == ["Grü", "Grüße"]
    assert reply.result() == ModelReply(
        (Text("Grüße"), ToolCall("a", "key", {"text": "ä"})), "tool_use", Usage(7, 5, 2)
    )


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_bytes_may_come_one_at_a_time(newline: str) -> None:
    reply = StreamedReply()
    expected = [
        word for byte in wire(*WHOLE, newline=newline) for word in reply.feed(bytes([byte]))
    ]
    # All but the ping.
    assert len(expected) == len(WHOLE) - 1
    assert reply.result() == read(*WHOLE)


@given(st.lists(st.integers(0, len(wire(*WHOLE)))))
def test_where_the_bytes_are_cut_makes_no_difference(cuts: list[int]) -> None:
    data = wire(*WHOLE)
    places = [0, *sorted(cuts), len(data)]
    pieces = [data[start:end] for start, end in pairwise(places)]
    assert read_bytes(*pieces) == read(*WHOLE)


def test_a_thought_keeps_its_seal() -> None:
    thought = [
        begun(0, {"type": "thinking", "thinking": "", "signature": ""}),
        delta(0, "thinking", thinking="Hm"),
        delta(0, "thinking", thinking="m."),
        delta(0, "signature", signature="sealed"),
    ]
    expected = {"type": "thinking", "thinking": "Hmm.", "signature": "sealed"}
    assert content(START, *thought, ended("end_turn"), STOP) == (Thinking(expected),)


def test_what_is_new_in_the_protocol_is_passed_over() -> None:
    news = [begun(2, {"type": "newest"}), delta(0, "citations"), {"type": "weather"}]
    assert content(START, *WORDS, *news, ended("end_turn"), STOP) == (Text("Grüße"),)


def test_a_reply_without_text_calls_or_a_reason_ends_the_turn() -> None:
    assert read(START, ended(None), STOP) == ModelReply((), "end_turn", Usage(7, 5, 2))


def test_a_call_without_input_has_no_arguments() -> None:
    assert content(START, *call(""), ended("tool_use"), STOP) == (ToolCall("a", "key", {}),)


@pytest.mark.parametrize("text", ['{"text": "a', "]", "[" * 100_000])
def test_input_that_is_no_json_is_an_error_only_where_nothing_cut_it(text: str) -> None:
    with pytest.raises(UnreadableReply):
        read(START, *call(text), ended("tool_use"), STOP)
    cut = content(START, *call(text), ended("max_tokens"), STOP)
    assert cut == (ToolCall("a", "key", {}),)
    # Only the last call may be cut, and only by a limit.
    for events in (
        (*call(text), begun(2, {"type": "text", "text": "x"}), ended("max_tokens")),
        (*call(text), ended("new_reason")),
    ):
        with pytest.raises(UnreadableReply):
            read(START, *events, STOP)


@pytest.mark.parametrize(
    "events",
    [
        [WORDS[0]],
        [START, delta(3, "text", text="to no block")],
        [START, begun(0, {"type": "text"}), delta(0, "text", text="x")],
        [{"type": "message_start"}],
        [{"type": "error"}],
        [START, {"type": "message_delta", "delta": {}}],
    ],
)
def test_events_out_of_order_or_form_are_no_reply(events: list[Json]) -> None:
    with pytest.raises(UnreadableReply):
        read(*events, STOP)


@pytest.mark.parametrize("data", ["[]", "3", "{", '"text"', "{}"])
def test_data_that_are_no_event_are_no_reply(data: str) -> None:
    with pytest.raises(UnreadableReply):
        read_bytes(f"data: {data}\n\n".encode())


def test_an_error_in_the_stream_is_raised_with_its_message() -> None:
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Too much."}}
    reply = StreamedReply()
    assert list(reply.feed(wire(START, *WORDS, error, *call("{}")))) == [False, False, True, True]
    with pytest.raises(FailedReply) as caught:
        reply.result()
    assert (caught.value.kind, caught.value.message) == ("overloaded_error", "Too much.")


@pytest.mark.parametrize("length", range(len(WHOLE)))
def test_a_stream_that_ends_before_its_end_is_no_reply(length: int) -> None:
    assert read(*WHOLE[:length]) is None


def test_reported_changes_of_the_request_are_counted() -> None:
    dropped = {"type": "thinking_dropped", "path": "messages.1.content.0"}
    start = {**START, "message": {**START["message"], "input_transformations": [dropped] * 2}}
    again = {**ended("end_turn"), "input_transformations": [dropped] * 3}
    for events, count in (
        ((START, ended(None)), 0),
        ((start, ended(None)), 2),
        ((start, again), 3),
    ):
        reply = read(*events, STOP)
        assert reply is not None
        assert reply.usage.dropped_thinking == count


@pytest.mark.parametrize(
    ("content", "expected"),
    [("All.", {"content": "All.", "encrypted_content": "xy"}), (None, None)],
)
def test_a_compaction_comes_as_one_block(
    content: str | None, expected: dict[str, str] | None
) -> None:
    block = {"type": "compaction", "content": None, "signature": "s"}
    start = {"type": "content_block_start", "index": 0, "content_block": block}
    delta = {"type": "compaction_delta", "content": content, "encrypted_content": "xy"}
    sent = {"type": "content_block_delta", "index": 0, "delta": delta}
    reply = read(START, start, sent, ended("compaction"), STOP)
    assert reply is not None
    assert reply.stop_reason == "compaction"
    assert reply.content == (() if expected is None else (Compaction({**block, **expected}),))


def test_a_thought_is_shown_as_a_paragraph_of_its_own() -> None:
    reply = StreamedReply()
    deltas = [
        START,
        {
            "type": "content_block_start",
            "index": 0,
            "content_block": {"type": "thinking", "thinking": "", "signature": ""},
        },
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "thinking_delta", "thinking": "I look."},
        },
        {
            "type": "content_block_start",
            "index": 1,
            "content_block": {"type": "text", "text": ""},
        },
        *[
            {
                "type": "content_block_delta",
                "index": 1,
                "delta": {"type": "text_delta", "text": text},
            }
            for text in ("I ", "click.")
        ],
    ]
    data = b"".join(b"data: " + json.dumps(delta).encode() + b"\n\n" for delta in deltas)
    list(reply.feed(data))
    assert reply.text == "I look.\n\nI click."
