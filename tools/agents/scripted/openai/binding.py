"""Seals of reasoning items, each bound to its model and to everything before it. Pure.

An item that does not fit its prefix any more is removed, and reported in ``input_transformations``;
the request is not refused. A seal is a digest of model and prefix and needs no state. Ids and cache
breakpoints are no part of the prefix.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator
from typing import Any

from deskhand.tools.agents.scripted.script.request import Request

from .accounting import without_marks

Json = dict[str, Any]


def removed(request: Request) -> Iterator[Json]:
    """Yield an entry of ``input_transformations`` for each item that does not fit."""
    prefix = Prefix(request)
    for item in request.items:
        if item.get("type") == "reasoning" and item.get("encrypted_content") != prefix.seal:
            same_model = str(item.get("encrypted_content")).startswith(prefix.model)
            reason = "prefix_mismatch" if same_model else "model_mismatch"
            entry = {"type": "reasoning", "id": item["id"], "action": "removed"}
            yield {**entry, "reason": reason}
        prefix.extend([item])


class Prefix:
    """Digest of all that precedes an item."""

    def __init__(self, request: Request) -> None:
        """Begin with the instructions and the tools of a request."""
        self.model = hashlib.sha256(request.model.encode()).hexdigest()[:8]
        self._digest = hashlib.sha256()
        self._add(request.system)
        self._add(list(request.offered))

    @property
    def seal(self) -> str:
        """The seal of an item at this place."""
        return f"{self.model}.{self._digest.hexdigest()}"

    def extend(self, items: Iterable[Json]) -> None:
        """Add the next items."""
        for item in items:
            self._add({key: value for key, value in item.items() if key not in ("id", "status")})

    def _add(self, value: object) -> None:
        text = json.dumps(without_marks(value), sort_keys=True, ensure_ascii=False)
        self._digest.update(text.encode("utf-8", "surrogatepass") + b"\n")
