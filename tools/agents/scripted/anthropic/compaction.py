"""Compaction on demand: its fields in a request, and the seal of the block that it returns. Pure.

A request with the field ``compaction`` is answered with a block that later requests send first in
``messages``, in place of the messages that it summarizes. Its signature contains the digest of
these messages, at which the check of the thinking blocks after it goes on: they stay valid if they
follow directly, unchanged, and begin with the other role
(https://platform.claude.com/docs/en/build-with-claude/compaction-thinking-blocks).
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from deskhand.tools.agents.scripted.script.request import InvalidRequest

Json = dict[str, Any]

COMPACTION_BETA = "compact-2026-09-04"
"""Value of ``anthropic-beta`` for compaction requests, and for requests with the block."""
EDIT_BETAS = frozenset({"compact-2026-01-12", "context-management-2025-06-27"})
"""Values of ``anthropic-beta`` for ``context_management``."""
UNKNOWN = "Extra inputs are not permitted"
SUMMARIZE = frozenset({"type", "instructions"})


@dataclass(frozen=True)
class Summarized:
    """The messages that a block stands for."""

    digest: str
    role: str
    """Of the last of them."""


def check_fields(data: Json, betas: frozenset[str]) -> bool:
    """Check the fields of a request; return True if it asks for a compaction.

    Raises:
        InvalidRequest: If a field needs a beta that is missing, or the two exclude each other.
    """
    asked, edits = data.get("compaction"), data.get("context_management")
    if edits is not None and not EDIT_BETAS & betas:
        raise InvalidRequest("context_management", UNKNOWN)
    if asked is None:
        return False
    if COMPACTION_BETA not in betas:
        raise InvalidRequest("compaction", UNKNOWN)
    if edits is not None:
        raise InvalidRequest("compaction", "cannot be combined with context_management")
    if not isinstance(asked, dict) or asked.get("type") != "summarize" or set(asked) - SUMMARIZE:
        raise InvalidRequest("compaction", "must be of the type summarize")
    return True


def check_blocks(messages: Sequence[Json], betas: frozenset[str]) -> None:
    """Check the compaction blocks of a request.

    Raises:
        InvalidRequest: If there are several, or one is misplaced or not as it was returned.
    """
    found = [
        (index, position, block)
        for index, message in enumerate(messages)
        for position, block in enumerate(message["content"])
        if block["type"] == "compaction"
    ]
    for index, position, block in found:
        where = f"messages.{index}.content.{position}"
        if COMPACTION_BETA not in betas:
            raise InvalidRequest(where, UNKNOWN)
        if len(found) > 1:
            raise InvalidRequest(where, "send only the `compaction` block returned last")
        if (index, position) != (0, 0):
            raise InvalidRequest(where, "a `compaction` block must be the first block")
        if unsealed(block) is None:
            raise InvalidRequest(where, "The `compaction` block's `signature` does not verify.")
        if _digest(block["content"]) != block["signature"].split(".")[2]:
            problem = "The `content` differs from the text its `signature` recorded."
            raise InvalidRequest(where, problem)


def sealed(block: Json, summarized: Summarized) -> Json:
    """Return a compaction block with its signature."""
    parts = f"{summarized.digest}.{summarized.role}.{_digest(block['content'])}"
    return {**block, "signature": f"{parts}.{_digest(parts)}"}


def unsealed(block: Json) -> Summarized | None:
    """Return what a block stands for; ``None`` if its signature was not made here."""
    parts, _, seal = block["signature"].rpartition(".")
    if _digest(parts) != seal:
        return None
    digest, role, _ = parts.split(".")
    return Summarized(digest, role)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
