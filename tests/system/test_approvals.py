"""Approvals of a real control plane, which is killed while a person is asked."""

from pathlib import Path

import pytest

from tests.system.gated_model import gated_model, painted_report, plane_of
from tests.system.services import PATIENCE

STEPS = [
    {"calls": [{"execute": {"command": "rm -f nothing; echo once >> runs.txt"}}]},
    {"calls": [{"execute": {"command": "cat runs.txt"}}]},
    painted_report("Done."),
]


@pytest.mark.soak
@pytest.mark.slow("two control planes, one after the other")
def test_an_approval_outlives_a_kill_and_its_call_is_performed_once(tmp_path: Path) -> None:
    with gated_model(STEPS) as model:
        with plane_of(tmp_path, model, "first") as first:
            spawned = first.tool("spawn_agent", type="general", prompt="Go", approval="risky")
            chat = f"/api/v0/chats/{spawned['chat_id']}"
            found = first.tool("wait_agent", chat_id=spawned["chat_id"], timeout_seconds=60)
            question = found["requires_action"]
            assert (question["kind"], question["rules"]) == ("approval", ["delete"])
            first.process.kill()
            first.process.wait(PATIENCE)
        with plane_of(tmp_path, model, "second") as second:
            shown = second.get(chat)
            assert (shown["state"], shown["requires_action"]) == ("requires_action", question)
            assert shown["waiting_for"]["kind"] == "question"
            answer = {"answer": "approve", "question": question["id"]}
            second.post(f"{chat}/answer", answer)
            assert second.post(f"{chat}/answer", answer, 409)["first"]["answer"] == "approve"
            done = second.tool("wait_agent", chat_id=spawned["chat_id"], timeout_seconds=60)
            assert done["report"] == "Done."
            messages = str(second.get(f"{chat}/messages"))
            assert messages.count("once\\\\n") == 1, messages
