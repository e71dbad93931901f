import json
from typing import Any

import pytest

from deskhand.desktop.errors import DesktopRefused
from deskhand.desktop.mcp.calls.texts import (
    LONGEST,
    action_sentences,
    bounded,
    clipped,
    refusal_text,
    screen_sentences,
)


def test_a_long_text_keeps_head_and_tail_and_says_how_to_read_the_rest() -> None:
    text = "a" * 30_000 + "z" * 30_000
    found = clipped(text, "Read on.")
    assert len(found) <= LONGEST
    assert found.startswith("aaa")
    assert found.endswith("zzz")
    assert "40200 characters left out. Read on." in found
    assert clipped("short", "Read on.") == "short"


def test_structured_content_is_bounded() -> None:
    content = {"output": "x" * 50_000, "rows": [{"n": n, "text": "y" * 50} for n in range(2000)]}
    found = bounded(content, "Less.")
    assert len(json.dumps(found)) <= LONGEST
    assert found["clipped"] is True
    assert found["rows"][0] == content["rows"][0]
    assert bounded({"a": [1, "b"], "c": None}, "Less.") == {"a": [1, "b"], "c": None}
    deep = {"a": {str(n): "x" * 100 for n in range(2000)}}
    assert bounded(deep, "Less.") == {"clipped": True}


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (
            DesktopRefused(409, "The desktop is in use.", "Ann is in control", "human_in_control"),
            "human_in_control: Ann is in control. Wait, then look at the screen before you go on.",
        ),
        (
            DesktopRefused(409, "Another chat acts", "", "held_by_chat"),
            "held_by_chat: Another chat acts. Wait for it, or use another desktop.",
        ),
        (DesktopRefused(503, "No display."), "No display. Try again in a few seconds."),
        (DesktopRefused(400, "Unknown action: x", "In actions[1]."), "Unknown action: x In action"),
    ],
)
def test_a_refusal_says_what_to_do(error: DesktopRefused, expected: str) -> None:
    assert refusal_text(error).startswith(expected)


def test_the_actions_that_were_done_are_named() -> None:
    reply = {
        "results": [
            {"output": "left_click action performed", "clamped": True, "point": [3, 4]},
            {"output": "x=1,y=2", "clamped": False},
        ]
    }
    assert action_sentences(reply, 2) == [
        "2 of 2 actions done: left_click, x=1,y=2.",
        "A point was off the screen; (3, 4) was used.",
    ]


def test_a_failed_action_is_named_first() -> None:
    error = {"message": "Key press failed.", "detail": "No such key."}
    results: list[dict[str, Any]] = [{"output": "wait action performed"}, {"error": error}]
    reply = {"results": [*results, {"skipped": True}], "skipped": 1}
    assert action_sentences(reply, 3) == [
        "Action 2 of 3 failed: Key press failed. No such key.",
        "1 of 3 actions done: wait.",
        "1 after it were not begun.",
    ]
    assert action_sentences({"results": [{"error": None}]}, 1) == [
        "Action 1 of 1 failed: no reason given"
    ]
    assert action_sentences({}, 1) == []


def test_the_screen_is_described_without_its_picture() -> None:
    reply = {
        "settled": "quiet",
        "changed_fraction": 0.25,
        "changed_regions": [[0, 0, 5, 5]],
        "focused_after": {"title": "Terminal"},
        "frame_id": "f-1",
    }
    assert screen_sentences(reply) == [
        "The screen rests.",
        "25 % of the screen changed, in [0, 0, 5, 5].",
        'Focused window: "Terminal".',
        "Frame f-1.",
    ]


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ({"settled": "ceiling"}, "The screen was still moving at the end of the wait."),
        ({"changed_fraction": 0.0}, "Nothing on the screen changed."),
        ({"changed_fraction": 0.001}, "Less than 1 % of the screen changed."),
        ({"focused_after": None}, "No window has the keyboard."),
    ],
)
def test_each_part_of_the_description_may_be_alone(reply: dict[str, Any], expected: str) -> None:
    assert screen_sentences(reply) == [expected]


def test_the_hint_of_a_window_follows_its_title() -> None:
    window = {"id": 5, "title": "Open File", "hint": "Click Open."}
    assert screen_sentences({"focused_after": window}) == [
        'Focused window: "Open File".',
        "Click Open.",
    ]
