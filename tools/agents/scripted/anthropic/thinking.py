"""The fields of a request about thinking, as strict as each generation of models. Pure.

Models that think adaptively refuse a budget, and older ones refuse everything else. With a budget
the newest turn of the conversation must have begun with a thinking block, as thinking cannot begin
in the middle of one (https://docs.claude.com/en/docs/build-with-claude/extended-thinking).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from deskhand.tools.agents.providers.model_table import model_facts
from deskhand.tools.agents.scripted.script.reading import check, check_keys, is_whole, read_object

Json = dict[str, Any]

EFFORTS = ("low", "medium", "high", "xhigh", "max")
BINDING_BETA = "thinking-binding-controls-2026-08-01"
"""Value of ``anthropic-beta`` without which ``thinking.block_binding`` is an unknown key."""
DISPLAYS = ("summarized", "omitted", "updates")
UPDATES_BETA = "thinking-display-updates-2026-08-18"
"""Value of ``anthropic-beta`` without which thinking is not shown as updates."""
KINDS = ("adaptive", "enabled", "disabled")
LEAST_BUDGET = 1024
BLOCKS = ("thinking", "redacted_thinking")
NOT_BEGUN = "Expected `thinking` or `redacted_thinking`, as `thinking` is enabled"


def check_thinking(data: Mapping[str, Any], betas: frozenset[str]) -> bool:
    """Check the fields of a request; return whether blocks of another prefix are dropped.

    Raises:
        InvalidRequest: If the model, or the protocol, does not accept them.
    """
    _check_effort(data.get("output_config", {}), str(data.get("model")))
    if data.get("thinking") is None:
        return False
    thinking = read_object(data["thinking"], "thinking")
    check_keys(thinking, {"type", "display", "budget_tokens", "block_binding"}, "thinking")
    shown = thinking.get("display", "summarized")
    check(shown in DISPLAYS, "thinking.display", f"must be one of {', '.join(DISPLAYS)}")
    known = shown != "updates" or UPDATES_BETA in betas
    check(known, "thinking.display", "Extra inputs are not permitted")
    _check_kind(thinking, data)
    return _drops_blocks(thinking, betas)


def check_turn(thinking: object, messages: Sequence[Json]) -> None:
    """Check that the newest turn began with thinking, if the request has a budget for it.

    Raises:
        InvalidRequest: If it did not.
    """
    if not isinstance(thinking, dict) or thinking.get("type") != "enabled":
        return
    first: tuple[int, Json] | None = None
    for index in reversed(range(len(messages))):
        message = messages[index]
        if message["role"] == "assistant":
            first = index, message
        elif not any(block["type"] == "tool_result" for block in message["content"]):
            break
    if first is not None:
        index, message = first
        good = message["content"][0]["type"] in BLOCKS
        check(good, f"messages.{index}.content.0.type", NOT_BEGUN)


def _check_effort(value: object, model: str) -> None:
    config = read_object(value, "output_config")
    check_keys(config, {"effort"}, "output_config")
    known = config.get("effort", EFFORTS[0]) in EFFORTS
    check(known, "output_config.effort", f"must be one of {', '.join(EFFORTS)}")
    old = model_facts(model).thinking == "budget"
    check(not old or not config, "output_config.effort", f"is not supported by {model}")


def _check_kind(thinking: Json, data: Mapping[str, Any]) -> None:
    kind, model = thinking.get("type"), str(data.get("model"))
    check(kind in KINDS, "thinking.type", f"must be one of {', '.join(KINDS)}")
    facts = model_facts(model)
    unsupported = f"{kind} is not supported by {model}"
    check(facts.thinking != "budget" or kind != "adaptive", "thinking.type", unsupported)
    always = facts.thinking == "adaptive" and facts.bound
    check(not always or kind == "adaptive", "thinking.type", unsupported)
    most = data.get("max_tokens", 0)
    if kind == "enabled":
        good = is_whole(thinking.get("budget_tokens"), LEAST_BUDGET, most - 1)
        problem = f"must be a whole number from {LEAST_BUDGET} to less than max_tokens"
        check(good, "thinking.budget_tokens", problem)
    else:
        check("budget_tokens" not in thinking, "thinking.budget_tokens", "is for enabled only")


def _drops_blocks(thinking: Json, betas: frozenset[str]) -> bool:
    where = "thinking.block_binding"
    if "block_binding" not in thinking:
        return False
    check(BINDING_BETA in betas, where, "Extra inputs are not permitted")
    binding = read_object(thinking["block_binding"], where)
    check_keys(binding, {"prefix_mismatch_behavior"}, where)
    behavior = binding.get("prefix_mismatch_behavior", "error")
    check(behavior in ("error", "drop_block"), where, "must be error or drop_block")
    return bool(behavior == "drop_block")
