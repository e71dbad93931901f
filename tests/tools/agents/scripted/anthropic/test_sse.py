import json
from dataclasses import replace
from typing import Any

from deskhand.tools.agents.scripted.anthropic import sse
from deskhand.tools.agents.scripted.script.player import PlayedTurn
from deskhand.tools.agents.scripted.script.prompt_cache import InputTokens
from deskhand.tools.agents.scripted.script.request import Measured, Request, SeenPicture

CALL = {
    "type": "tool_use",
    "id": "a",
    "name": "key",
    "input": {"text": "ä"},
    "toolset_name": "computer",
}
TURN = PlayedTurn(({"type": "text", "text": "Hello"}, CALL), "tool_use", 0)
PICTURE = SeenPicture(b"", Measured("image/png", 750, 10))
MESSAGES = (
    {"role": "user", "content": [{"type": "text", "text": "x" * 392, "data": "y" * 999, "n": 3}]},
)
REQUEST = Request("m", True, MESSAGES, frozenset(), True, (PICTURE,))


def read(events: list[bytes]) -> list[dict[str, Any]]:
    found = []
    for event in events:
        kind, data = event.decode().rstrip("\n").split("\n")
        found.append(json.loads(data.removeprefix("data: ")))
        assert kind == f"event: {found[-1]['type']}"
    return found


def test_events_come_in_the_order_of_the_protocol() -> None:
    events = read(list(sse.events(TURN, REQUEST, "msg_1")))
    assert [e["type"] for e in events] == [
        "message_start",
        *("content_block_start", "content_block_delta", "content_block_delta"),
        "content_block_stop",
        *("content_block_start", "content_block_delta", "content_block_delta"),
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]
    assert events[0]["message"]["content"] == []
    assert events[1]["content_block"] == {"type": "text", "text": ""}
    assert events[5]["content_block"] == {**CALL, "input": {}}
    assert json.loads("".join(e["delta"]["partial_json"] for e in events[6:8])) == CALL["input"]
    assert events[9]["delta"]["stop_reason"] == "tool_use"


def test_the_whole_message_has_the_same_content() -> None:
    message = sse.whole(TURN, REQUEST, "msg_1")
    assert message["content"] == list(TURN.content)
    assert (message["id"], message["model"], message["stop_reason"]) == ("msg_1", "m", "tool_use")


def test_tokens_are_those_that_were_counted() -> None:
    counted = sse.usage(TURN, replace(REQUEST, tokens=InputTokens(1, 2, 3)))
    assert [counted[f"{name}_tokens"] for name in ("input", "cache_read_input")] == [1, 2]
    assert counted["cache_creation_input_tokens"] == 3
    assert counted["output_tokens"] > 1
    assert sse.usage(TURN, REQUEST)["input_tokens"] == 0


def test_a_compaction_comes_in_one_delta() -> None:
    block = {"type": "compaction", "content": "All of it.", "signature": "s"}
    events = read(list(sse.events(PlayedTurn((block,), "compaction", 0), REQUEST, "msg_1")))
    assert events[1]["content_block"] == {**block, "content": None}
    assert events[2]["delta"] == {"type": "compaction_delta", "content": "All of it."}
    assert events[4]["delta"]["stop_reason"] == "compaction"
    sent = list(sse.events(PlayedTurn((block,), "compaction", 0), REQUEST, "msg_1"))
    empty = read(sse.faulty("empty_summary", sent))
    assert [e["type"] for e in empty] == [e["type"] for e in events if e != events[2]]


def test_faults_change_the_events() -> None:
    events = list(sse.events(TURN, REQUEST, "msg_1"))
    assert sse.faulty(None, events) == sse.faulty("slow", events) == events
    assert b'"partial_json": "]{' in b"".join(sse.faulty("malformed", events))
    half = sse.faulty("cut", events)
    assert half == sse.faulty("unfinished", events) == events[: len(half)]
    assert len(half) < len(events)
    assert read(sse.faulty("stream_error", events))[-1]["error"]["type"] == "overloaded_error"
    assert len(sse.faulty("cut", events[:2])) == 2


def test_a_thinking_block_comes_with_its_signature_last() -> None:
    block = {"type": "thinking", "thinking": "Hm.", "signature": "s"}
    events = read(list(sse.events(PlayedTurn((block,), "end_turn", 0), REQUEST, "msg_1")))
    assert events[1]["content_block"] == {"type": "thinking", "thinking": "", "signature": ""}
    assert "".join(e["delta"]["thinking"] for e in events[2:4]) == "Hm."
    assert events[4]["delta"] == {"type": "signature_delta", "signature": "s"}


def test_dropped_blocks_are_listed_for_requests_with_the_beta() -> None:
    dropped = [{"type": "thinking_dropped"}]
    beta = replace(REQUEST, lists_dropped=True)
    assert sse.whole(TURN, beta, "msg_1", dropped)["input_transformations"] == dropped
    assert sse.whole(TURN, beta, "msg_1")["input_transformations"] == []
    assert "input_transformations" not in sse.whole(TURN, REQUEST, "msg_1")
