"""Signatures of thinking blocks, each bound to its model and to everything before it. Pure.

Newer models refuse a thinking block that comes back after another prefix than the one it was made
for. The prefix is the system prompt, the tools, and the blocks of the messages before it; cache
marks do not count, because they move. A signature is a digest of model and prefix and needs no
state, so that the server can be restarted between two requests.
"""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from deskhand.tools.agents.scripted.script.request import Request

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
    """Return a reply to ``request`` with a signature in each of its thinking blocks."""
    prefix = _Prefix(request)
    for message in request.messages:
        prefix.extend(message["role"], message["content"])
    blocks: list[Json] = []
    for block in content:
        if block["type"] == "thinking":
            blocks.append({**block, "signature": prefix.signature})
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
            if block["type"] == "thinking" and block["signature"] != prefix.signature:
                same_model = block["signature"].startswith(f"{prefix.model}.")
                reason: Reason = "prefix_binding_mismatch"
                found.append(Mismatch(path, reason if same_model else "model_binding_mismatch"))
            prefix.extend(message["role"], [block])
    return tuple(found)


class _Prefix:
    """Digest of all that precedes a block."""

    def __init__(self, request: Request) -> None:
        self.model = hashlib.sha256(request.model.encode()).hexdigest()[:8]
        self._digest = hashlib.sha256()
        self._add(request.system)
        self._add(list(request.offered))

    @property
    def signature(self) -> str:
        return f"{self.model}.{self._digest.hexdigest()}"

    def extend(self, role: str, blocks: Iterable[Json]) -> None:
        # Block by block: a provider joins consecutive messages of one role.
        for block in blocks:
            self._add([role, block])

    def _add(self, value: object) -> None:
        text = json.dumps(_without_marks(value), sort_keys=True, ensure_ascii=False)
        self._digest.update(text.encode("utf-8", "surrogatepass") + b"\n")


def _without_marks(value: object) -> object:
    if isinstance(value, dict):
        return {key: _without_marks(one) for key, one in value.items() if key != "cache_control"}
    if isinstance(value, list):
        return [_without_marks(one) for one in value]
    return value
