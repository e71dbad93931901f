"""Tokens of a request to the Responses protocol, and what its breakpoints read and write. Pure.

In the mode ``explicit`` a request writes its newest four breakpoints, and finds the longest prefix
among its newest 80 that an earlier request has written; there is no limit to how far it looks back.
In the mode ``implicit`` the end of the request counts as one more breakpoint, and three are left.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import Any

from deskhand.tools.agents.providers.model_table import model_facts
from deskhand.tools.agents.scripted.script.prompt_cache import (
    LEAST_TOKENS,
    CacheEntries,
    InputTokens,
    PrefixEnd,
    picture_tokens,
    text_tokens,
)
from deskhand.tools.agents.scripted.script.request import InvalidRequest, Request

Json = dict[str, Any]

UNCOUNTED = frozenset({"image_url", "encrypted_content", "type", "id", "call_id", "mode"})
"""Keys whose values are not read by the model as text."""
BREAKPOINT = "prompt_cache_breakpoint"
MOST_WRITTEN = 4
MOST_CONSIDERED = 80


def account(request: Request, entries: CacheEntries) -> InputTokens:
    """Return the tokens of a request, and write the entries at its breakpoints.

    Raises:
        InvalidRequest: If the request does not fit the context window of its model.
    """
    ends = tuple(_ends(request))
    total = ends[-1].tokens
    window = model_facts(f"openai:{request.model}").window_tokens
    if window is not None and total > window:
        raise InvalidRequest("context_length_exceeded", f"{total} tokens > {window} maximum")
    return accounted(ends, entries, explicit=request.explicit_cache)


def accounted(ends: Sequence[PrefixEnd], entries: CacheEntries, *, explicit: bool) -> InputTokens:
    """Return the tokens of a request that consists of these blocks, and write its entries."""
    marks = [end for end in ends if end.marked or (end is ends[-1] and not explicit)]
    read = max((m.tokens for m in marks[-MOST_CONSIDERED:] if m.digest in entries), default=0)
    written = [mark for mark in marks[-MOST_WRITTEN:] if mark.tokens >= LEAST_TOKENS]
    for mark in written:
        entries.add(mark.digest)
    total = ends[-1].tokens
    last = max((mark.tokens for mark in written), default=0)
    fresh = max(0, last - read)
    return InputTokens(total - read - fresh, read, fresh)


def without_marks(value: Any) -> Any:
    """Return a value of JSON without its breakpoints."""
    if isinstance(value, dict):
        return {key: without_marks(one) for key, one in value.items() if key != BREAKPOINT}
    return [without_marks(one) for one in value] if isinstance(value, list) else value


def _ends(request: Request) -> Iterator[PrefixEnd]:
    digest = hashlib.sha256(request.model.encode()).digest()
    pictures = iter(request.pictures)
    tokens = 0
    for kind, block in _blocks(request):
        text = json.dumps([kind, without_marks(block)], ensure_ascii=False)
        digest = hashlib.sha256(digest + text.encode("utf-8", "surrogatepass")).digest()
        tokens += text_tokens(without_marks(block), UNCOUNTED)
        if isinstance(block, dict) and "image_url" in block:
            size = next(pictures).measured
            tokens += picture_tokens(size.width, size.height)
        yield PrefixEnd(digest, tokens, isinstance(block, dict) and BREAKPOINT in block)


def _blocks(request: Request) -> Iterator[tuple[str, Any]]:
    yield "instructions", request.system
    yield from (("tool", tool) for tool in request.offered)
    for item in request.items:
        inner = item.get("content") or item.get("output")
        if isinstance(inner, list):
            yield from ((str(item.get("type")), block) for block in inner)
        elif isinstance(inner, dict):
            yield "screenshot", inner
        else:
            yield "item", item
