"""How a request asks an Anthropic model to think."""

from typing import Any

import pytest

from deskhand.tools.agents.providers.anthropic.thinking import thinking_fields
from deskhand.tools.agents.providers.model_table import model_facts
from deskhand.tools.agents.providers.port import Prompt
from deskhand.tools.conversation.conversation import Message, Text, Thinking, ToolCall, ToolResult
from tests.tools.agents.loop.fakes import user

NEWER, OLDER = "claude-opus-5-5", "claude-sonnet-4-5"
THOUGHT = Thinking({"type": "thinking", "thinking": "Hm.", "signature": "s"})
CALL = ToolCall("c1", "execute", {})
RESULT = Message("user", (ToolResult("c1", (Text("ok"),)),))


def fields(
    model: str,
    *messages: Message,
    effort: str | None = None,
    drop: bool = False,
    max_tokens: int = 32_000,
) -> dict[str, Any]:
    prompt = Prompt("", messages or (user("Go."),), (), False, model, max_tokens)
    return thinking_fields(prompt, model_facts(model), effort, drop=drop)


def test_a_newer_model_thinks_as_it_decides_and_shows_it() -> None:
    thinking = {"type": "adaptive", "display": "summarized"}
    assert fields(NEWER) == {"thinking": thinking}
    assert fields(NEWER, effort="high") == {
        "thinking": thinking,
        "output_config": {"effort": "high"},
    }
    dropping = {"prefix_mismatch_behavior": "drop_block"}
    assert fields(NEWER, drop=True) == {"thinking": {**thinking, "block_binding": dropping}}


def test_a_model_of_unknown_thinking_is_asked_for_none() -> None:
    assert fields("test", effort="high") == {}


@pytest.mark.parametrize(
    ("effort", "budget"),
    [(None, 4096), ("low", 2048), ("medium", 4096), ("high", 8192), ("max", 24_576)],
)
def test_an_older_model_has_a_budget_by_the_effort(effort: str | None, budget: int) -> None:
    asked = fields(OLDER, effort=effort, max_tokens=64_000)
    assert asked == {"thinking": {"type": "enabled", "budget_tokens": budget}}


def test_a_budget_leaves_room_for_the_reply() -> None:
    assert fields(OLDER, effort="max", max_tokens=8000)["thinking"]["budget_tokens"] == 4000
    assert fields(OLDER, max_tokens=2000) == {}


@pytest.mark.parametrize(
    ("messages", "thinks"),
    [
        ((user("Go."), Message("assistant", (THOUGHT, CALL)), RESULT), True),
        ((user("Go."), Message("assistant", (CALL,)), RESULT), False),
        ((user("Go."), Message("assistant", ()), RESULT), False),
        ((user("Go."), Message("assistant", (CALL,)), RESULT, user("Again.")), True),
        (
            (
                user("Go."),
                Message("assistant", (THOUGHT, CALL)),
                RESULT,
                Message("assistant", (CALL,)),
                RESULT,
            ),
            True,
        ),
        ((Message("assistant", (CALL,)), RESULT), False),
    ],
)
def test_an_older_model_thinks_in_a_turn_that_began_so(
    messages: tuple[Message, ...], thinks: bool
) -> None:
    assert bool(fields(OLDER, *messages)) is thinks
