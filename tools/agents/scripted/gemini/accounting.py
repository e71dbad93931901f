"""Tokens of a request to Gemini, and what its implicit cache reads. Pure.

The prefix of every request becomes an entry of the cache, and a later request reads the longest
entry that it begins with. Writing costs nothing beside the input.
"""

import hashlib
import json
from collections.abc import Iterator
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

UNCOUNTED = frozenset({"data", "mimeType", "thoughtSignature", "id", "role"})
"""Keys whose values are not read by the model as text."""


def account(request: Request, entries: CacheEntries) -> InputTokens:
    """Return the tokens of a request, and keep its prefixes as entries.

    Raises:
        InvalidRequest: If the request does not fit the context window of its model.
    """
    ends = list(_ends(request))
    total = ends[-1].tokens
    window = model_facts(request.model).window_tokens
    if window is not None and total > window:
        problem = f"The input token count ({total}) exceeds the maximum number of tokens ({window})"
        raise InvalidRequest("contents", problem)
    read = max((end.tokens for end in ends if end.digest in entries), default=0)
    for end in ends:
        if end.tokens >= LEAST_TOKENS:
            entries.add(end.digest)
    return InputTokens(total - read, read)


def _ends(request: Request) -> Iterator[PrefixEnd]:
    head = [request.model, request.system, list(request.offered)]
    digest = hashlib.sha256(_text(head)).digest()
    tokens = text_tokens([request.system, list(request.offered)], UNCOUNTED)
    pictures = iter(request.pictures)
    for content in request.items:
        digest = hashlib.sha256(digest + _text(content)).digest()
        tokens += text_tokens(content, UNCOUNTED)
        for _ in range(_text(content).count(b'"inlineData": {')):
            size = next(pictures).measured
            tokens += picture_tokens(size.width, size.height)
        yield PrefixEnd(digest, tokens)


def _text(value: object) -> bytes:
    # ASCII only, so that a quote in a text is escaped and cannot look like a key.
    return json.dumps(value).encode()
