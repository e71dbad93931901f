import json
from typing import Any

import pytest

from deskhand.tools.agents.scripted.openai import reply
from deskhand.tools.agents.scripted.script.player import PlayedTurn
from deskhand.tools.agents.scripted.script.prompt_cache import InputTokens
from deskhand.tools.agents.scripted.script.request import Request

Json = dict[str, Any]
TEXT: Json = {"type": "text", "text": "Hello."}
THOUGHT: Json = {"type": "thinking", "thinking": "Hm.", "signature": "s"}
WAIT: Json = {
    "type": "tool_use",
    "id": "c",
    "name": "wait",
    "input": {},
    "toolset_name": "computer",
}
EXECUTE: Json = {"type": "tool_use", "id": "f", "name": "execute", "input": {"command": "ls"}}


def request(tokens: InputTokens | None = None) -> Request:
    return Request("m", True, (), frozenset(), True, (), tokens=tokens)


def turn(*content: Json, stop_reason: str = "end_turn") -> PlayedTurn:
    return PlayedTurn(content, stop_reason, 0)


def events(played: PlayedTurn) -> list[Json]:
    return [json.loads(e.split(b"data: ")[1]) for e in reply.events(played, request(), "1")]


def test_consecutive_computer_calls_are_one_item_unless_their_ids_are_equal() -> None:
    content = [THOUGHT, WAIT, {**WAIT, "id": "d"}, EXECUTE, WAIT, WAIT, TEXT]
    items = reply.items_of(content, "1")
    assert [item["type"] for item in items] == [
        *("reasoning", "computer_call", "function_call", "computer_call", "computer_call"),
        "message",
    ]
    assert len(items[1]["actions"]) == 2
    assert [item["id"] for item in items[:2]] == ["rs_10", "cu_11"]


def test_safety_checks_are_those_of_all_calls() -> None:
    checked = {**WAIT, "checks": [{"id": "sc"}]}
    (item,) = reply.items_of([checked], "1")
    assert item["pending_safety_checks"] == [{"id": "sc"}]


def test_a_stream_has_the_events_of_each_item_in_order() -> None:
    silent = {**THOUGHT, "thinking": ""}
    found = events(turn(THOUGHT, silent, TEXT, EXECUTE, WAIT))
    assert [one["type"].removeprefix("response.") for one in found] == [
        *("created", "in_progress"),
        *("output_item.added", *["reasoning_summary_text.delta"] * 2, "output_item.done"),
        *("output_item.added", "output_item.done"),
        *("output_item.added", *["output_text.delta"] * 2, "output_item.done"),
        *("output_item.added", *["function_call_arguments.delta"] * 2, "output_item.done"),
        *("output_item.added", "output_item.done"),
        "completed",
    ]
    assert [one["sequence_number"] for one in found] == list(range(len(found)))


@pytest.mark.parametrize(
    ("stop_reason", "kind"),
    [
        ("max_tokens", "response.incomplete"),
        ("pause_turn", "response.incomplete"),
        ("refusal", "response.completed"),
        ("model_context_window_exceeded", "response.failed"),
    ],
)
def test_each_end_has_its_event(stop_reason: str, kind: str) -> None:
    assert events(turn(TEXT, stop_reason=stop_reason))[-1]["type"] == kind


def test_a_refusal_is_a_part_of_its_own() -> None:
    found = events(turn(TEXT, stop_reason="refusal"))
    assert found[3]["type"] == "response.refusal.delta"
    assert found[-1]["response"]["output"][0]["content"][0]["type"] == "refusal"


def test_the_input_includes_the_tokens_of_the_cache() -> None:
    usage = reply.usage(turn(TEXT), request(InputTokens(1, 20, 300)))
    assert usage["input_tokens"] == 321
    assert usage["input_tokens_details"] == {"cached_tokens": 20, "cache_write_tokens": 300}
    assert reply.usage(turn(TEXT), request())["input_tokens"] == 0


@pytest.mark.parametrize("kind", ["cut", "unfinished", "stream_error", "malformed", None])
def test_a_faulty_stream_is_no_reply(kind: str | None) -> None:
    whole = list(reply.events(turn(TEXT), request(), "1"))
    faulty = reply.faulty(kind, whole)
    assert (faulty == whole) is (kind is None)
    if kind == "malformed":
        with pytest.raises(ValueError, match="Expecting"):
            json.loads(faulty[2].split(b"data: ")[1])
    elif kind is not None:
        assert b"response.completed" not in b"".join(faulty)


def test_a_call_of_the_browser_is_a_function() -> None:
    used = {"type": "tool_use", "id": "b", "name": "find", "input": {"query": "x"}}
    (item,) = reply.items_of([{**used, "toolset_name": "browser"}], "1")
    assert (item["type"], item["name"]) == ("function_call", "browser")
    assert json.loads(item["arguments"]) == {"action": "find", "query": "x"}
