from typing import Any

import pytest

from deskhand.tools.client import values
from deskhand.tools.client.values import RunQuestion

RUN: dict[str, Any] = {"id": "c1", "state": "running", "created_at": 5}


def test_a_run_at_work_has_no_outcome() -> None:
    found = values.run_status(RUN)
    assert found.busy
    assert not found.done
    assert (found.outcome, found.report, found.steps) == (None, "", 0)
    assert (found.recording_ids, found.question) == ((), None)
    assert found.everything is RUN


@pytest.mark.parametrize(("outcome", "done"), [("done", True), ("failed", False), (None, False)])
def test_an_ended_run_is_done_if_its_agent_reports_so(outcome: str | None, done: bool) -> None:
    ended = {**RUN, "state": "waiting", "outcome": outcome, "recording_file_ids": ["f1"]}
    found = values.run_status(ended)
    assert not found.busy
    assert found.done is done
    assert found.recording_ids == ("f1",)


def test_a_run_that_asks_has_a_question() -> None:
    asked = {"id": "q1", "kind": "approval", "question": "May it?"}
    found = values.run_status({**RUN, "state": "requires_action", "requires_action": asked})
    assert found.question == RunQuestion("q1", "approval", "May it?")
    older = values.run_status({**RUN, "requires_action": {"kind": "question", "question": "Who?"}})
    assert older.question == RunQuestion("", "question", "Who?")


def test_a_step_keeps_what_this_version_does_not_know() -> None:
    body = {"index": 3, "tool": "computer", "status": "done", "started_at": 1.5, "new": 1}
    found = values.run_step(body)
    assert (found.index, found.tool, found.title, found.arguments) == (3, "computer", "", {})
    assert found.everything["new"] == 1


def test_a_message_has_the_texts_of_its_parts() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}]
    found = values.run_message({"role": "user", "content": parts, "created_at": 1, "queued": True})
    assert (found.text, len(found.content), found.queued) == ("a\nb", 3, True)
    assert values.run_message({"role": "user", "created_at": 1}).text == ""


def test_an_event_names_its_run() -> None:
    found = values.run_event({"id": 7, "kind": "deleted", "chat_id": "c1", "data": None})
    assert found == values.RunEvent("7", "deleted", "c1", {})


def test_a_desktop_names_the_run_on_it() -> None:
    body = {"id": "d1", "name": None, "status": "ready", "chat_id": "c1", "created_at": 1}
    found = values.plane_desktop(body)
    assert (found.id, found.name, found.run_id, found.live_url) == ("d1", "", "c1", "")


def test_a_file_and_its_size() -> None:
    body = {"id": "f1", "name": "a.mp4", "kind": "recording", "media_type": "video/mp4", "size": 9}
    found = values.run_file({**body, "created_at": 1, "pinned": True})
    assert (found.name, found.size, found.pinned) == ("a.mp4", 9, True)


def test_a_token_shows_neither_its_secret_nor_its_link() -> None:
    body = {"id": "t1", "scopes": ["run:c1:view"], "created_at": 1, "expires_at": 2}
    found = values.access_token({**body, "token": "dh_secret", "url": "http://h/#code=dh_secret"})
    assert (found.scopes, found.expires_at, found.secret) == (("run:c1:view",), 2, "dh_secret")
    assert "dh_secret" not in repr(found)
    assert values.access_token(body).secret == ""


def test_a_secret_for_all_runs_differs_from_one_for_none() -> None:
    body: dict[str, Any] = {"name": "pw", "chats": None, "domains": [], "anywhere": True}
    assert values.secret_rules(body) == values.SecretRules("pw", None, (), True, False)
    assert values.secret_rules({**body, "chats": ["c1"], "domains": None}).runs == ("c1",)
