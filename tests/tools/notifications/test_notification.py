import hashlib
import hmac
import json
from dataclasses import replace

from deskhand.tools.conversation.question import ChatQuestion
from deskhand.tools.notifications.notification import (
    Notification,
    TurnEnding,
    encoded,
    end_body,
    question_body,
    retry_after,
    signature,
)

QUESTION = ChatQuestion("q1", "c1", 1, "s1", "call", "approval", "May it?", 10.0, 310.0)


def test_the_event_of_a_question_has_a_link_without_a_credential() -> None:
    body = question_body(QUESTION, "Order", "http://plane")
    assert body["chat"] == {"id": "c1", "title": "Order", "state": "requires_action"}
    assert body["url"] == "http://plane/runs/c1"
    assert (body["event"], body["question"]["id"], body["at"]) == ("question", "q1", 10.0)
    assert question_body(QUESTION, "Order", "")["url"] is None


def test_the_end_of_a_turn_is_an_event_of_its_own() -> None:
    ended = TurnEnding("c1", "Order", "waiting", 5.0, "done", "Paid", None)
    body = end_body(ended, "http://plane")
    assert (body["event"], body["outcome"], body["report"]) == ("ended", "done", "Paid")
    assert body["url"] == "http://plane/runs/c1"
    failed = end_body(replace(ended, state="error", error="No key."), "")
    assert (failed["event"], failed["error"], failed["url"]) == ("failed", "No key.", None)


def test_the_body_is_signed_with_the_time() -> None:
    body = encoded(Notification("n1", "c1", "q1", {"event": "question", "text": "ü"}, 1.0))
    assert json.loads(body) == {"id": "n1", "event": "question", "text": "ü"}
    digest = hmac.new(b"secret", b"1790000000." + body, hashlib.sha256).hexdigest()
    assert signature(body, "secret", 1790000000.9) == f"t=1790000000,v1={digest}"


def test_five_retries_follow_with_growing_delays() -> None:
    delays = [retry_after(attempts) for attempts in range(1, 7)]
    assert delays == [1.0, 4.0, 15.0, 60.0, 180.0, None]
