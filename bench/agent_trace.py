"""The trace of the cost figures, and its requests by the provider's accounting.

The trace is the file ``agent_trace.json``: 300 replies, each with 60 tokens of thinking and one
call, each answered by words and one new picture of 1280x720. Tokens, and what the cache reads and
writes, are counted from the bytes of each request, as the scripted server does it.
"""

import base64
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deskhand.tools.agents.scripted.anthropic.accounting import account
from deskhand.tools.agents.scripted.anthropic.binding import mismatches, signed
from deskhand.tools.agents.scripted.anthropic.compaction import COMPACTION_BETA
from deskhand.tools.agents.scripted.anthropic.protocol import read_request
from deskhand.tools.agents.scripted.anthropic.thinking import BINDING_BETA
from deskhand.tools.agents.scripted.script.picture_header import measure
from deskhand.tools.agents.scripted.script.prompt_cache import (
    CacheEntries,
    InputTokens,
    text_tokens,
)
from deskhand.tools.agents.scripted.script.request import Request

Json = dict[str, Any]

TRACE: Json = json.loads((Path(__file__).parent / "agent_trace.json").read_text())
BETAS = frozenset({BINDING_BETA, COMPACTION_BETA})
READ, WRITE, OUTPUT = 0.05, 1.25, 5.0
"""Prices of claude-opus-5-5 in relation to an input token."""
_PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + (1280).to_bytes(4, "big") + (720).to_bytes(4, "big")


def picture(number: int) -> bytes:
    """Return the bytes of a picture of 1280x720, of which only the header is real."""
    return _PNG + number.to_bytes(12, "big")


def encoded_picture(number: int) -> str:
    """Return a picture in base64."""
    return base64.b64encode(picture(number)).decode("ascii")


def call_id(number: int) -> str:
    """Return the id of the call of a step."""
    return f"toolu_{number}"


def reply_blocks(number: int) -> list[Json]:
    """Return the reply of a step, without its signature."""
    step = TRACE["steps"][number]
    return [
        {"type": "thinking", "thinking": step["thinking"], "signature": ""},
        {
            "type": "tool_use",
            "id": call_id(number),
            "name": "left_click",
            "input": {"coordinate": step["coordinate"], "text": step["note"]},
            "toolset_name": "computer",
        },
    ]


@dataclass
class Bill:
    """What the requests of one run cost."""

    read: int = 0
    written: int = 0
    plain: int = 0
    summaries: int = 0
    """Tokens of the summaries that checkpoints have made."""
    longest: int = 0
    lost: set[str] = field(default_factory=set)
    """Thinking blocks that did not fit their prefix."""
    cache: CacheEntries = field(default_factory=CacheEntries)

    def add(self, body: bytes) -> Request:
        """Count one request."""
        request = read_request(json.loads(body), measure, BETAS)
        tokens: InputTokens = account(request, self.cache)
        self.read += tokens.read
        self.written += tokens.written
        self.plain += tokens.plain
        self.longest = max(self.longest, tokens.total)
        for one in mismatches(request):
            message, block = map(int, one.path.split(".")[1::2])
            self.lost.add(request.messages[message]["content"][block]["thinking"])
        return request

    def summarized(self, text: str) -> None:
        """Count a summary."""
        self.summaries += text_tokens(text)

    def figures(self) -> dict[str, float]:
        """Return cached share, weighted tokens, longest prompt and lost thinking blocks."""
        total = self.read + self.written + self.plain
        weighted = READ * self.read + WRITE * self.written + self.plain + OUTPUT * self.summaries
        return {
            "share": round(self.read / total, 3),
            "weighted": round(weighted),
            "longest": self.longest,
            "thinking_lost": len(self.lost),
        }


def reply_to(request: Request, number: int) -> list[Json]:
    """Return the reply of a step with its signature."""
    return list(signed(request, reply_blocks(number)))
