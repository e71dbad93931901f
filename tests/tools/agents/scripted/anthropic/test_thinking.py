"""The fields of a request about thinking."""

from typing import Any

import pytest

from deskhand.tools.agents.scripted.anthropic.thinking import check_thinking, check_turn
from deskhand.tools.agents.scripted.script.request import InvalidRequest

NEWER, OLDER = "claude-opus-5-5", "claude-sonnet-4-5"
BUDGET = {"type": "enabled", "budget_tokens": 2048}
BINDING = "thinking-binding-controls-2026-08-01"


def body(model: str, **fields: Any) -> dict[str, Any]:
    return {"model": model, "max_tokens": 8000, **fields}


@pytest.mark.parametrize(
    ("model", "thinking"),
    [
        (NEWER, {"type": "adaptive", "display": "summarized"}),
        ("claude-opus-4-8", {"type": "disabled"}),
        ("claude-opus-4-8", BUDGET),
        (OLDER, BUDGET),
        (OLDER, {"type": "disabled"}),
        ("test", {"type": "adaptive"}),
        (OLDER, None),
    ],
)
def test_each_generation_accepts_its_thinking(model: str, thinking: Any) -> None:
    assert check_thinking(body(model, thinking=thinking), frozenset()) is False


@pytest.mark.parametrize(
    ("model", "thinking", "problem"),
    [
        (NEWER, {"type": "disabled"}, "thinking.type: disabled is not supported"),
        (NEWER, BUDGET, "thinking.type: enabled is not supported"),
        (OLDER, {"type": "adaptive"}, "thinking.type: adaptive is not supported"),
        (OLDER, {"type": "enabled"}, "thinking.budget_tokens: must be a whole number"),
        (OLDER, {"type": "enabled", "budget_tokens": 1000}, "thinking.budget_tokens: must"),
        (OLDER, {"type": "enabled", "budget_tokens": 8000}, "thinking.budget_tokens: must"),
        (NEWER, {"type": "adaptive", "budget_tokens": 1024}, "thinking.budget_tokens: is for"),
        (NEWER, {"type": "perhaps"}, "thinking.type: must be one of"),
        (NEWER, {"type": "adaptive", "display": "loud"}, "thinking.display: must be one of"),
        (NEWER, {"type": "adaptive", "display": "updates"}, "thinking.display: Extra inputs"),
        (NEWER, {"type": "adaptive", "block_binding": {}}, "thinking.block_binding: Extra"),
    ],
)
def test_other_thinking_is_refused(model: str, thinking: dict[str, Any], problem: str) -> None:
    with pytest.raises(InvalidRequest, match=problem):
        check_thinking(body(model, thinking=thinking), frozenset())


def test_an_effort_is_for_models_without_a_budget() -> None:
    effort = {"output_config": {"effort": "low"}}
    assert check_thinking(body(NEWER, **effort), frozenset()) is False
    with pytest.raises(InvalidRequest, match="is not supported by claude-sonnet-4-5"):
        check_thinking(body(OLDER, **effort), frozenset())
    with pytest.raises(InvalidRequest, match="must be one of low, medium"):
        check_thinking(body(NEWER, output_config={"effort": "huge"}), frozenset())


def test_blocks_of_another_prefix_are_dropped_on_request() -> None:
    for behavior, drops in (("drop_block", True), ("error", False)):
        thinking = {
            "type": "adaptive",
            "block_binding": {"prefix_mismatch_behavior": behavior},
        }
        assert check_thinking(body(NEWER, thinking=thinking), frozenset({BINDING})) is drops


ASKED = {"role": "user", "content": [{"type": "text", "text": "Go."}]}
RESULT = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}]}
PLAIN = {"role": "assistant", "content": [{"type": "tool_use"}]}
THOUGHT = {"role": "assistant", "content": [{"type": "thinking"}, {"type": "tool_use"}]}


@pytest.mark.parametrize(
    "messages",
    [
        [ASKED],
        [ASKED, THOUGHT, RESULT],
        [ASKED, THOUGHT, RESULT, PLAIN, RESULT],
        [ASKED, PLAIN, RESULT, PLAIN, ASKED],
        [THOUGHT, RESULT],
    ],
)
def test_a_turn_that_began_with_thinking_may_have_a_budget(messages: list[dict[str, Any]]) -> None:
    check_turn(BUDGET, messages)


def test_thinking_cannot_begin_within_a_turn() -> None:
    messages = [ASKED, PLAIN, RESULT, THOUGHT, RESULT]
    with pytest.raises(InvalidRequest, match=r"messages\.1\.content\.0\.type: Expected `thinking`"):
        check_turn(BUDGET, messages)
    check_turn({"type": "adaptive"}, messages)
    check_turn(None, messages)
