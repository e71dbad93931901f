"""Errors of one request that mean the same for every provider."""

import httpx2

from deskhand.tools.agents.providers.attempts import AttemptFailed
from deskhand.tools.agents.providers.reply_errors import UnreadableReply

FAILED_ATTEMPTS = (TimeoutError, UnreadableReply, httpx2.RequestError)
"""Errors for :func:`failed_attempt`, beside those of an SDK that have no status."""
UNREADABLE = "the model's answer could not be read"
_NOT_CONNECTED = (httpx2.ConnectError, httpx2.ProxyError)


def failed_attempt(error: Exception) -> AttemptFailed:
    """Return a time-out, an unreadable reply or an error of the network as a failed attempt."""
    if isinstance(error, TimeoutError):
        return AttemptFailed("the model took too long to answer")
    if isinstance(error, UnreadableReply):
        return AttemptFailed(UNREADABLE)
    # An SDK raises its own error from that of the HTTP client.
    unreachable = isinstance(error, _NOT_CONNECTED) or isinstance(error.__cause__, _NOT_CONNECTED)
    return AttemptFailed(f"{type(error).__name__}: {error}", unreachable=unreachable)
