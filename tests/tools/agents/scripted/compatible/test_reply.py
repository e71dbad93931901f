import json
from typing import Any

from deskhand.tools.agents.scripted.compatible.reply import DONE, events, faulty, whole
from deskhand.tools.agents.scripted.script.player import PlayedTurn
from deskhand.tools.agents.scripted.script.prompt_cache import InputTokens
from deskhand.tools.agents.scripted.script.request import Request

Json = dict[str, Any]
REQUEST = Request("m", True, (), frozenset(), True, (), tokens=InputTokens(10))
CLICK: Json = {"type": "tool_use", "id": "a", "name": "left_click", "input": {"coordinate": [1, 2]}}
TURN = PlayedTurn(
    (
        {"type": "thinking", "thinking": "Hm."},
        {"type": "text", "text": "I click."},
        {**CLICK, "toolset_name": "computer"},
        {"type": "tool_use", "id": "b", "name": "execute", "input": {"command": "ls"}},
    ),
    "tool_use",
    0,
)


def read(event: bytes) -> Json:
    found: Json = json.loads(event.removeprefix(b"data: "))
    return found


def test_a_reply_is_one_object() -> None:
    found = whole(TURN, REQUEST, "r")
    (choice,) = found["choices"]
    assert (choice["finish_reason"], choice["message"]["content"]) == ("tool_calls", "I click.")
    functions = [one["function"] for one in choice["message"]["tool_calls"]]
    assert [(f["name"], json.loads(f["arguments"])) for f in functions] == [
        ("computer", {"action": "left_click", "coordinate": [1, 2]}),
        ("execute", {"command": "ls"}),
    ]
    usage = found["usage"]
    assert usage["prompt_tokens"] == 10
    assert usage["total_tokens"] == 10 + usage["completion_tokens"]


def test_a_reply_is_chunks() -> None:
    *chunks, ended, used, done = events(TURN, REQUEST, "r")
    deltas = [read(chunk)["choices"][0]["delta"] for chunk in chunks]
    assert "".join(delta.get("reasoning_content", "") for delta in deltas) == "Hm."
    assert "".join(delta.get("content", "") for delta in deltas) == "I click."
    pieces = [one for delta in deltas for one in delta.get("tool_calls", ())]
    first = [one["function"]["arguments"] for one in pieces if one["index"] == 0]
    assert json.loads("".join(first)) == {"action": "left_click", "coordinate": [1, 2]}
    assert read(ended)["choices"][0]["finish_reason"] == "tool_calls"
    assert (read(used)["choices"], done) == ([], DONE)


def test_other_reasons_are_passed_on() -> None:
    silent = PlayedTurn((), "pause_turn", 0)
    (choice,) = whole(silent, REQUEST, "r")["choices"]
    assert choice == {
        "index": 0,
        "message": {"role": "assistant", "content": None},
        "finish_reason": "pause_turn",
    }


def test_faults_break_the_chunks() -> None:
    given = list(events(TURN, REQUEST, "r"))
    assert faulty(None, given) == given
    half = faulty("cut", given)
    assert half == faulty("unfinished", given) == given[: len(half)]
    assert all(b'"finish_reason": null' in event for event in half)
    assert read(faulty("stream_error", given)[-1])["error"]["code"] == 503
    assert any(b'"arguments": "]' in event for event in faulty("malformed", given))
