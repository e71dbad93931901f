"""Thought signatures: required, and bound to the model and to everything before them. Pure.

The first function call of each content has one (https://ai.google.dev/gemini-api/docs/
thought-signatures). A call that the model did not make itself has a signature that is accepted
everywhere. A signature is a digest and needs no state, so that the server can be restarted between
two requests.
"""

import base64
import hashlib
import json
from collections.abc import Iterable
from typing import Any

from deskhand.tools.agents.scripted.script.request import Request

Json = dict[str, Any]

SKIPPED = b"skip_thought_signature_validator"
SIGNATURE = "thoughtSignature"


def refusal(request: Request) -> str | None:
    """Return why the signatures of a request are refused; ``None`` if they are not."""
    prefix = _Prefix(request)
    for index, content in enumerate(request.items):
        called = False
        for position, part in enumerate(content["parts"]):
            where = f"contents.{index}.parts.{position}"
            if "functionCall" in part and not called:
                called = True
                if SIGNATURE not in part:
                    name = part["functionCall"]["name"]
                    return f"{where}: Function call `{name}` is missing a thought_signature."
            if SIGNATURE in part and _bytes(part[SIGNATURE]) not in (SKIPPED, prefix.signature):
                return f"{where}: Corrupted thought signature."
            prefix.add(content["role"], part)
    return None


def signed(request: Request, parts: Iterable[Json]) -> list[Json]:
    """Return the parts of a reply with its signature, in the first call or the last text."""
    prefix = _Prefix(request)
    for content in request.items:
        for part in content["parts"]:
            prefix.add(content["role"], part)
    given = list(parts)
    calls = [index for index, part in enumerate(given) if "functionCall" in part]
    texts = [index for index, part in enumerate(given) if not part.get("thought")]
    carrier = next(iter(calls[:1] or texts[-1:]), None)
    found: list[Json] = []
    for index, part in enumerate(given):
        text = base64.b64encode(prefix.signature).decode("ascii")
        found.append({**part, SIGNATURE: text} if index == carrier else part)
        prefix.add("model", found[-1])
    return found


class _Prefix:
    """Digest of the model and of all that precedes a part."""

    def __init__(self, request: Request) -> None:
        head = [request.model, request.system, list(request.offered)]
        self._digest = hashlib.sha256(json.dumps(head, sort_keys=True).encode())

    @property
    def signature(self) -> bytes:
        return self._digest.digest()

    def add(self, role: str, part: Json) -> None:
        # Signatures are compared as bytes: the official client writes them in another alphabet.
        bare = {key: value for key, value in part.items() if key != SIGNATURE}
        seal = _bytes(part[SIGNATURE]).hex() if SIGNATURE in part else ""
        text = json.dumps([role, bare, seal], sort_keys=True)
        self._digest.update(text.encode())


def _bytes(text: str) -> bytes:
    return base64.b64decode(text.replace("-", "+").replace("_", "/"))
