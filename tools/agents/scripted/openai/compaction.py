"""``POST /responses/compact``, which replaces items by those of the user and a compaction. Pure.

The new item is sent back in place of the items that it stands for
(https://developers.openai.com/api/reference/resources/responses/methods/compact).
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from deskhand.tools.agents.scripted.script.player import PlayedTurn
from deskhand.tools.agents.scripted.script.request import InvalidRequest, Measure, Request

from .protocol import read_request
from .reply import usage

Json = dict[str, Any]

PATHS = ("/v1/responses/compact", "/responses/compact")
KEYS = frozenset({"model", "input", "instructions", "prompt_cache_key", "prompt_cache_options"})


def read_compaction(body: object, measure: Measure) -> Request:
    """Validate the body of a request for a compaction.

    Raises:
        InvalidRequest: At the first violation of the protocol.
    """
    if isinstance(body, Mapping):
        for key in body:
            if key not in KEYS:
                raise InvalidRequest(key, "is not a parameter of this request")
        # The request names no tools, although its items may be calls of any.
        body = {**body, "store": False, "tools": [{"type": "computer"}]}
    return replace(read_request(body, measure), offered=(), summarize=True)


def compacted(turn: PlayedTurn, request: Request, reply_id: str) -> Json:
    """Return the answer: all messages of the user, and one compaction item."""
    (block,) = turn.content
    item = {
        "type": "compaction",
        "id": f"cmp_{reply_id}",
        "encrypted_content": block["content"],
    }
    return {
        "id": f"resp_{reply_id}",
        "object": "response.compaction",
        "created_at": 0,
        "output": [*[one for one in request.items if one.get("role") == "user"], item],
        "usage": usage(turn, request),
    }
