"""Events for the webhook: their bodies, signatures and retries. Pure.

The receiver gets one POST for each event:

    Deskhand-Notification: 3f0c...        id of the event, the same in each attempt
    Deskhand-Signature: t=1790000000,v1=<hex>

``v1`` is the HMAC-SHA256 of ``<t>.<body>`` with the secret that both sides know. The receiver
compares it in constant time, refuses an old ``t``, and ignores an id that it has had.
"""

import hashlib
import hmac
import json
from dataclasses import dataclass
from typing import Any

from deskhand.tools.conversation.question import ChatQuestion

Json = dict[str, Any]

ID_HEADER, SIGNATURE_HEADER = "Deskhand-Notification", "Deskhand-Signature"
RETRY_SECONDS = (1.0, 4.0, 15.0, 60.0, 180.0)
"""Delays before the five retries; together less than the time in which an approval is answered."""


@dataclass(frozen=True)
class Notification:
    """An event that waits to be sent."""

    id: str
    chat_id: str
    question_id: str | None
    body: Json
    created_at: float
    attempts: int = 0
    next_at: float = 0.0
    """Unix time of the next attempt."""


@dataclass(frozen=True)
class TurnEnding:
    """The end of a turn, as a notification reports it."""

    chat_id: str
    title: str
    state: str
    at: float
    outcome: str | None
    report: str
    error: str | None


def question_body(question: ChatQuestion, title: str, base_url: str) -> Json:
    """Return the event of a question; its link has no credential."""
    return {
        "event": "question",
        "at": question.asked_at,
        "chat": {"id": question.chat_id, "title": title, "state": "requires_action"},
        "question": question.to_json(),
        "url": f"{base_url}/runs/{question.chat_id}" if base_url else None,
    }


def end_body(end: TurnEnding, base_url: str) -> Json:
    """Return the event of the end of a turn: ``ended``, or ``failed`` after an error."""
    return {
        "event": "failed" if end.error is not None else "ended",
        "at": end.at,
        "chat": {"id": end.chat_id, "title": end.title, "state": end.state},
        "outcome": end.outcome,
        "report": end.report,
        "error": end.error,
        "url": f"{base_url}/runs/{end.chat_id}" if base_url else None,
    }


def encoded(notification: Notification) -> bytes:
    """Return the bytes of the body, the same in each attempt."""
    body = {"id": notification.id, **notification.body}
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


def signature(body: bytes, secret: str, now: float) -> str:
    """Return the value of `SIGNATURE_HEADER`."""
    moment = str(int(now))
    digest = hmac.new(secret.encode(), moment.encode() + b"." + body, hashlib.sha256)
    return f"t={moment},v1={digest.hexdigest()}"


def retry_after(attempts: int) -> float | None:
    """Return the delay after so many failed attempts; None if no further one follows."""
    return RETRY_SECONDS[attempts - 1] if attempts <= len(RETRY_SECONDS) else None
