"""Errors of one request that mean the same for every provider."""

import httpx2
import pytest

from deskhand.tools.agents.providers.accounts.failures import failed_attempt
from deskhand.tools.agents.providers.reply_errors import UnreadableReply


def caused(error: Exception, cause: Exception) -> Exception:
    """Return an error as an SDK raises it from that of the HTTP client."""
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "reason", "unreachable"),
    [
        (TimeoutError(), "the model took too long to answer", False),
        (UnreadableReply("no JSON"), "the model's answer could not be read", False),
        (httpx2.ReadError("reset"), "ReadError: reset", False),
        (httpx2.ConnectError("refused"), "ConnectError: refused", True),
        (httpx2.ProxyError("no proxy"), "ProxyError: no proxy", True),
        (caused(OSError("failed"), httpx2.ConnectError("refused")), "OSError: failed", True),
        (caused(OSError("failed"), httpx2.ReadError("reset")), "OSError: failed", False),
    ],
)
def test_an_attempt_fails_with_a_reason(error: Exception, reason: str, unreachable: bool) -> None:
    failed = failed_attempt(error)
    assert (failed.reason, failed.unreachable, failed.overloaded) == (reason, unreachable, False)
