"""Signatures of thinking blocks, each bound to its model and to everything before it. Pure.

Newer models refuse a thinking block that comes back after another prefix than the one it was made
for. The prefix is the system prompt, the tools, and the blocks of the messages before it; cache
marks do not count, because they move. A compaction block stands for the messages that it
summarizes. A signature is a digest of model and prefix and needs no state, so that the server can
be restarted between two requests.
"""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from deskhand.tools.agents.scripted.script.request import Request

from .accounting import without_marks
from .compaction import Summarized, sealed, unsealed

Json = dict[str, Any]

REFUSAL = "Invalid signature in thinking block. The block is bound to a different conversation."
"""Message of the provider, observed in issues of several clients."""

Reason = Literal["model_binding_mismatch", "prefix_binding_mismatch"]


@dataclass(frozen=True)
class Mismatch:
    """A thinking block that does not belong where it is."""

    path: str
    """Its place in the request: ``messages.{i}.content.{j}``."""
    reason: Reason

    def to_json(self) -> Json:
        """Return the entry of ``input_transformations`` for the removed block."""
        return {"type": "thinking_dropped", "path": self.path, "reason": self.reason}


def signed(request: Request, content: Iterable[Json]) -> tuple[Json, ...]:
    """Return a reply to ``request`` with a signature in each block that has one."""
    prefix = _Prefix(request)
    for message in request.messages:
        prefix.extend(message["role"], message["content"])
    blocks: list[Json] = []
    for block in content:
        if block["type"] == "thinking":
            blocks.append({**block, "signature": prefix.signature})
        elif block["type"] == "compaction":
            blocks.append(sealed(block, prefix.summarized))
        else:
            blocks.append(block)
        prefix.extend("assistant", blocks[-1:])
    return tuple(blocks)


def mismatches(request: Request) -> tuple[Mismatch, ...]:
    """Return the thinking blocks of a request that were made for another model or prefix."""
    prefix = _Prefix(request)
    found: list[Mismatch] = []
    for index, message in enumerate(request.messages):
        for position, block in enumerate(message["content"]):
            path = f"messages.{index}.content.{position}"
            prefix.enter(message["role"])
            if block["type"] == "thinking" and block["signature"] != prefix.signature:
                same_model = block["signature"].startswith(f"{prefix.model}.")
                reason: Reason = "prefix_binding_mismatch"
                found.append(Mismatch(path, reason if same_model else "model_binding_mismatch"))
            prefix.extend(message["role"], [block])
    return tuple(found)


class _Prefix:
    """Digest of all that precedes a block: of system prompt and tools, and of the messages."""

    def __init__(self, request: Request) -> None:
        self.model = hashlib.sha256(request.model.encode()).hexdigest()[:8]
        self._head = _digest("", [request.system, list(request.offered)])
        self._messages = ""
        self._role = ""
        self._summarized_role = ""

    @property
    def signature(self) -> str:
        return f"{self.model}.{_digest(self._head, self._messages)}"

    @property
    def summarized(self) -> Summarized:
        return Summarized(self._messages, self._role)

    def extend(self, role: str, blocks: Iterable[Json]) -> None:
        # Block by block: a provider joins consecutive messages of one role.
        for block in blocks:
            self.enter(role)
            if block["type"] == "compaction" and (before := unsealed(block)) is not None:
                self._messages, self._summarized_role = before.digest, before.role
            else:
                self._messages = _digest(self._messages, [role, block])
            self._role = role

    def enter(self, role: str) -> None:
        """Begin with a block of a role; the one before it may be a summary."""
        # The provider would join it to the last message that the summary stands for.
        if role == self._summarized_role:
            self._messages = _digest(self._messages, "joined")
        self._summarized_role = ""


def _digest(before: str, value: object) -> str:
    text = json.dumps(without_marks(value), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(f"{before}\n{text}".encode("utf-8", "surrogatepass")).hexdigest()
