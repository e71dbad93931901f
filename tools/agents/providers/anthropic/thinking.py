"""How a request asks an Anthropic model to think. Pure.

Newer models decide themselves, within an effort. Older ones get a budget of tokens, which follows
from the effort here. A turn of such a model has one mode of thinking: if its first reply has no
thinking block (the chat is older, or a summary took its place), the provider refuses a request with
a budget until the next message of the user begins another turn
(https://docs.claude.com/en/docs/build-with-claude/extended-thinking).
"""

from collections.abc import Sequence
from typing import Any

from deskhand.tools.agents.providers.model_table import ModelFacts
from deskhand.tools.agents.providers.port import Prompt
from deskhand.tools.conversation.conversation import Message, Thinking, ToolResult

Json = dict[str, Any]

BUDGETS = {"low": 2_048, "medium": 4_096, "high": 8_192, "xhigh": 16_384, "max": 24_576}
"""Tokens of thinking of the older models, by effort."""
USUAL_BUDGET = BUDGETS["medium"]
LEAST_BUDGET = 1024


def thinking_fields(prompt: Prompt, facts: ModelFacts, effort: str | None, *, drop: bool) -> Json:
    """Return the fields of a request about thinking.

    ``drop`` asks the provider to drop blocks that do not fit their prefix.
    """
    if facts.thinking == "budget":
        return _budget(prompt, effort)
    thinking: Json = {}
    if facts.thinking == "adaptive":
        # Newer models write the words between calls as thinking, which is empty unless asked for.
        thinking = {"type": "adaptive", "display": "summarized"}
    if drop:
        binding = {"prefix_mismatch_behavior": "drop_block"}
        thinking |= {"type": "adaptive", "block_binding": binding}
    fields: Json = {"thinking": thinking} if thinking else {}
    if facts.thinking == "adaptive" and effort is not None:
        fields["output_config"] = {"effort": effort}
    return fields


def _budget(prompt: Prompt, effort: str | None) -> Json:
    # The tokens of thinking are part of the reply's.
    budget = min(BUDGETS.get(effort or "", USUAL_BUDGET), prompt.max_tokens // 2)
    if budget < LEAST_BUDGET or not _may_think(prompt.messages):
        return {}
    return {"thinking": {"type": "enabled", "budget_tokens": budget}}


def _may_think(messages: Sequence[Message]) -> bool:
    first_reply: Message | None = None
    for message in reversed(messages):
        if message.role == "assistant":
            first_reply = message
        elif not any(isinstance(block, ToolResult) for block in message.content):
            break
    if first_reply is None:
        return True
    return bool(first_reply.content) and isinstance(first_reply.content[0], Thinking)
