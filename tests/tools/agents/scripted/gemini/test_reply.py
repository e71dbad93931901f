import json
from typing import Any

from deskhand.tools.agents.scripted.gemini.reply import events, faulty, parts_of, whole
from deskhand.tools.agents.scripted.script.player import PlayedTurn
from deskhand.tools.agents.scripted.script.prompt_cache import InputTokens
from deskhand.tools.agents.scripted.script.request import Measured, Request, SeenPicture

Json = dict[str, Any]
SEEN = SeenPicture(b"", Measured("image/png", 1000, 1000))
REQUEST = Request("m", True, (), frozenset(), True, (), tokens=InputTokens(10, 5))
DECISION = {"decision": "require_confirmation", "explanation": "It pays."}


def click(**more: Any) -> Json:
    given = {"coordinate": [640, 72]}
    used = {"type": "tool_use", "id": "a", "name": "left_click", "input": given}
    return {**used, "toolset_name": "computer", **more}


def turn(*parts: Json, reason: str = "end_turn") -> PlayedTurn:
    return PlayedTurn(tuple({"type": "part", "part": part} for part in parts), reason, 0)


def read(event: bytes) -> Json:
    found: Json = json.loads(event.removeprefix(b"data: "))
    return found


def test_blocks_become_parts() -> None:
    plain = {"type": "tool_use", "id": "b", "name": "execute", "input": {"command": "ls"}}
    blocks = (
        {"type": "thinking", "thinking": "Hm."},
        {"type": "thinking", "thinking": ""},
        {"type": "text", "text": "I click."},
        click(checks=[{"id": "1", "code": "a", "message": "It pays."}]),
        plain,
    )
    args = {"x": 500, "y": 100, "intent": "I click.", "safety_decision": DECISION}
    assert parts_of(PlayedTurn(blocks, "tool_use", 0), REQUEST) == [
        {"text": "Hm.", "thought": True},
        {"text": "I click."},
        {"functionCall": {"id": "a", "name": "click", "args": args}},
        {"functionCall": {"id": "b", "name": "execute", "args": {"command": "ls"}}},
    ]


def test_points_are_those_of_the_newest_picture() -> None:
    seen = Request("m", True, (), frozenset(), True, (SEEN,))
    (part,) = parts_of(PlayedTurn((click(),), "tool_use", 0), seen)
    assert part["functionCall"]["args"] == {"x": 640, "y": 72, "intent": "Next: click."}


def test_a_reply_is_whole_or_in_events() -> None:
    played = turn({"text": "Hm.", "thought": True}, {"text": "Hello"}, {"text": "!"})
    usage = {
        "promptTokenCount": 15,
        "cachedContentTokenCount": 5,
        "candidatesTokenCount": 8,
        "thoughtsTokenCount": 0,
        "totalTokenCount": 23,
    }
    end = {"usageMetadata": usage, "modelVersion": "m", "responseId": "r"}
    parts = [{"text": "Hm.", "thought": True}, {"text": "Hello"}, {"text": "!"}]
    assert whole(played, REQUEST, "r") == {
        "candidates": [
            {"finishReason": "STOP", "index": 0, "content": {"role": "model", "parts": parts}}
        ],
        **end,
    }
    *pieces, last = (read(event) for event in events(played, REQUEST, "r"))
    texts = [piece["candidates"][0]["content"]["parts"][0]["text"] for piece in pieces]
    assert texts == ["Hm.", "He", "llo", "!"]
    assert last == {"candidates": [{"finishReason": "STOP", "index": 0}], **end}


def test_reasons_are_the_providers() -> None:
    def reason(given: str) -> str:
        found: str = whole(turn(reason=given), REQUEST, "r")["candidates"][0]["finishReason"]
        return found

    assert [reason(one) for one in ("tool_use", "refusal", "recitation")] == [
        "STOP",
        "SAFETY",
        "RECITATION",
    ]


def test_a_blocked_prompt_has_no_candidates() -> None:
    blocked = turn({"text": "a"}, reason="blocked")
    (event,) = (read(one) for one in events(blocked, REQUEST, "r"))
    assert event["promptFeedback"] == {"blockReason": "PROHIBITED_CONTENT"}
    assert "candidates" not in event
    assert "candidates" not in whole(blocked, REQUEST, "r")


def test_faults_break_the_events() -> None:
    given = list(events(turn({"text": "Hello"}), REQUEST, "r"))
    assert len(given) == 3
    assert faulty(None, given) == given
    assert faulty("cut", given) == faulty("unfinished", given) == given[:1]
    first, error = faulty("stream_error", given)
    assert first == given[0]
    assert read(error)["error"]["code"] == 503
    (malformed,) = faulty("malformed", given)
    assert read(malformed)["candidates"][0]["finishReason"] == "MALFORMED_FUNCTION_CALL"


def test_a_call_of_the_browser_is_a_function() -> None:
    used = {"type": "tool_use", "id": "a", "name": "find", "input": {"query": "x"}}
    blocks = ({**used, "toolset_name": "browser"},)
    (part,) = parts_of(PlayedTurn(blocks, "tool_use", 0), REQUEST)
    args = {"action": "find", "query": "x"}
    assert part == {"functionCall": {"id": "a", "name": "browser", "args": args}}
