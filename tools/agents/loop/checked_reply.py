"""Removal of calls from a reply that must neither be run nor sent back. Pure.

A provider refuses a conversation with two calls of one id, or with a call of a toolset that the
request does not offer, so that one such reply would end the chat for good.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from deskhand.tools.agents.providers.browser_tool import BROWSER, as_member
from deskhand.tools.agents.providers.port import ModelReply
from deskhand.tools.conversation.conversation import ReplyBlock, ToolCall

COMPUTER = "computer"
WINDOW_EXCEEDED = "model_context_window_exceeded"
CUT = ("max_tokens", WINDOW_EXCEEDED)
"""Stop reasons of a reply that ends in the middle."""
REPEATED = "The call of {name} was not run: it had the id of another call of the same reply."
NOT_OFFERED = "The call of {name} was not run: there is no {toolset} here."


@dataclass(frozen=True)
class CheckedReply:
    """A reply without the calls that cannot be answered."""

    reply: ModelReply
    problems: tuple[str, ...] = ()
    """A sentence for the model about each call that was removed."""


def checked(reply: ModelReply, *, computer: bool, browser: bool = False) -> CheckedReply:
    """Check the calls of a reply.

    ``computer`` if the provider's computer tool was offered, ``browser`` if the browser toolset
    was, or the function in its place, whose calls become calls of the toolset.
    """
    offered = {COMPUTER: computer, BROWSER: browser}
    content: list[ReplyBlock] = []
    problems: list[str] = []
    seen: set[str] = set()
    for block in _without_cut_call(reply):
        if isinstance(block, ToolCall):
            block = as_member(block) if browser else block
            problem = _problem(block, seen, offered)
            if problem is not None:
                problems.append(problem)
                continue
            seen.add(block.id)
        content.append(block)
    return CheckedReply(replace(reply, content=tuple(content)), tuple(problems))


def _problem(call: ToolCall, seen: set[str], offered: Mapping[str, bool]) -> str | None:
    if call.id in seen:
        return REPEATED.format(name=call.name)
    if call.toolset is not None and not offered.get(call.toolset, False):
        return NOT_OFFERED.format(name=call.name, toolset=call.toolset)
    return None


def _without_cut_call(reply: ModelReply) -> tuple[ReplyBlock, ...]:
    """Drop the call at the end of a reply that was cut off: a part of its input may be missing."""
    cut = reply.stop_reason in CUT
    if cut and reply.content and isinstance(reply.content[-1], ToolCall):
        return reply.content[:-1]
    return reply.content
