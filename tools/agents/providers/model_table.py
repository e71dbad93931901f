"""Facts about models, as data: whether their thinking is bound to its prefix, and their limits.

A model that is not in the table counts as bound: an append-only history is accepted everywhere,
while a changed one ends the run on a bound model.
"""

import re
from dataclasses import dataclass

SCRIPTED = "scripted:"

MOST_PICTURES = 600
"""Pictures in a request; models with a window of 200,000 tokens take 100
(https://docs.claude.com/en/docs/build-with-claude/vision)."""


@dataclass(frozen=True)
class ModelFacts:
    """Properties of one model."""

    bound: bool = True
    """True if a thinking block is valid only after exactly the prefix it was made for."""
    binding_controls: bool = False
    """True if requests may choose what happens to a block of another prefix."""
    window_tokens: int | None = None
    """Size of the context window, ``None`` if unknown."""
    pictures: int = MOST_PICTURES


_BOUND = ModelFacts(binding_controls=True)
_FREE = ModelFacts(bound=False)
TABLE = {
    "claude-opus-5-5": ModelFacts(binding_controls=True, window_tokens=1_000_000),
    "claude-sonnet-5-5": _BOUND,
    "claude-haiku-5-5": _BOUND,
    "claude-fable-5-2": _BOUND,
    "claude-mythos-5-2": _BOUND,
    "claude-fable-5-1": _BOUND,
    "claude-mythos-5-1": _BOUND,
    "claude-opus-5": _FREE,
    "claude-sonnet-5": _FREE,
    "claude-opus-4-8": _FREE,
    "claude-opus-4-7": _FREE,
    "claude-opus-4-6": _FREE,
    "claude-sonnet-4-6": _FREE,
    "claude-opus-4-5": _FREE,
    "claude-sonnet-4-5": _FREE,
    "claude-haiku-4-5": _FREE,
}
UNKNOWN = ModelFacts()

# Platforms write a region and a vendor before the id, and a date or a version behind it.
_NAME = re.compile(r"(?:[a-z]+\.)*(?P<id>[a-z0-9-]+?)(?:[-@]\d{8})?(?:-v\d+(?::\d+)?)?(?:-latest)?")


def model_facts(name: str) -> ModelFacts:
    """Return the facts about a model from its name as the provider knows it."""
    if name.startswith(SCRIPTED):
        return _FREE
    found = _NAME.fullmatch(name)
    return TABLE.get(found["id"], UNKNOWN) if found else UNKNOWN
