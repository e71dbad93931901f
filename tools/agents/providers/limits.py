"""Limits of the provider for one request, and the errors that name them. Pure."""

import re

from .errors import LimitReached
from .model_table import ModelFacts

LARGEST_REQUEST = 32 * 1024 * 1024
"""Bytes of a request (https://docs.claude.com/en/api/errors, ``request_too_large``)."""

PICTURES = "pictures per request"
WINDOW = "tokens of context window"
SIZE = "MB per request"
TOO_LARGE = 413
BAD_REQUEST = 400
# The provider writes the excess before the limit, as in "200130 tokens > 200000 maximum".
_EXCEEDED = re.compile(r"[\d,_]+[^>\d]*>\s*([\d,_]*\d)")
_MEGABYTE = 1024 * 1024


def check_request(facts: ModelFacts, pictures: int, size: int) -> None:
    """Check the number of pictures and the size in bytes of a request before it is sent.

    Raises:
        LimitReached: If the provider would refuse it.
    """
    if pictures > facts.pictures:
        raise LimitReached(PICTURES, facts.pictures)
    if size > LARGEST_REQUEST:
        raise LimitReached(SIZE, LARGEST_REQUEST // _MEGABYTE)


def limit_of_refusal(status: int, message: str, facts: ModelFacts) -> LimitReached | None:
    """Return the limit for which the provider refused a request; ``None`` for another reason."""
    if status == TOO_LARGE:
        return LimitReached(SIZE, LARGEST_REQUEST // _MEGABYTE)
    text = message.lower()
    exceeded = _EXCEEDED.search(text)
    value = int(re.sub(r"\D", "", exceeded[1])) if exceeded else None
    if status != BAD_REQUEST:
        return None
    if "prompt is too long" in text:
        return LimitReached(WINDOW, value or facts.window_tokens)
    if exceeded and "image" in text:
        return LimitReached(PICTURES, value)
    return None


def window_exceeded(facts: ModelFacts) -> LimitReached:
    """Return the error for a reply that the provider ended at the context window."""
    return LimitReached(WINDOW, facts.window_tokens)
