"""Tokens of a request to the Messages protocol, and what its cache marks read and write. Pure.

The blocks of a request are its tools, its system prompt and the blocks of its messages, in this
order. Marks do not belong to what is compared, as they move from request to request.
"""

import hashlib
import json
from collections.abc import Iterator
from typing import Any

from deskhand.tools.agents.providers.model_table import model_facts
from deskhand.tools.agents.scripted.script.prompt_cache import (
    CacheEntries,
    InputTokens,
    PrefixEnd,
    accounted,
    picture_tokens,
    text_tokens,
)
from deskhand.tools.agents.scripted.script.request import InvalidRequest, Request

Json = dict[str, Any]

UNCOUNTED = frozenset({"data", "signature", "type", "cache_control", "id", "tool_use_id"})
"""Keys whose values are not read by the model as text."""


def account(request: Request, entries: CacheEntries) -> InputTokens:
    """Return the tokens of a request, and write the entries that it marks.

    Raises:
        InvalidRequest: If the request does not fit the context window of its model.
    """
    ends = tuple(_ends(request))
    total = ends[-1].tokens if ends else 0
    window = model_facts(request.model).window_tokens
    if window is not None and total > window:
        raise InvalidRequest("prompt is too long", f"{total} tokens > {window} maximum")
    return accounted(ends, entries)


def _ends(request: Request) -> Iterator[PrefixEnd]:
    digest = hashlib.sha256(request.model.encode()).digest()
    pictures = iter(request.pictures)
    tokens = 0
    for role, block in _blocks(request):
        text = json.dumps([role, without_marks(block)], ensure_ascii=False)
        digest = hashlib.sha256(digest + text.encode("utf-8", "surrogatepass")).digest()
        tokens += text_tokens(block, UNCOUNTED)
        for _ in range(_pictures(block)):
            size = next(pictures).measured
            tokens += picture_tokens(size.width, size.height)
        yield PrefixEnd(digest, tokens, marked(block))


def _blocks(request: Request) -> Iterator[tuple[str, Any]]:
    yield from (("tools", tool) for tool in request.offered)
    system = request.system if isinstance(request.system, list) else [request.system]
    yield from (("system", block) for block in system)
    for message in request.messages:
        yield from ((message["role"], block) for block in message["content"])


def marked(value: Any) -> bool:
    """Return True if a block, or a block in it, carries a cache mark."""
    if isinstance(value, dict):
        return value.get("cache_control") is not None or marked(value.get("content"))
    return isinstance(value, list) and any(map(marked, value))


def without_marks(value: Any) -> Any:
    """Return a value of JSON without its cache marks."""
    if isinstance(value, dict):
        return {key: without_marks(one) for key, one in value.items() if key != "cache_control"}
    return [without_marks(one) for one in value] if isinstance(value, list) else value


def _pictures(block: Any) -> int:
    if not isinstance(block, dict):
        return 0
    content = block.get("content")
    inner = content if isinstance(content, list) else []
    return sum(one.get("type") == "image" for one in (block, *inner))
