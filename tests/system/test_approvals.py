"""Approvals of a real control plane: answered in a terminal, and after a kill."""

import os
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.system.gated_model import (
    COLOURS,
    PROVIDERS,
    gated_model,
    painted_report,
    painting,
    plane_of,
)
from tests.system.services import DESKHAND, PATIENCE, service
from tests.system.terminal import terminal
from tests.system.test_pauses import stands_still

RISKY = f"true {'harmless ' * 20}; rm -f nothing; echo once >> runs.txt"
STEPS = [
    {"calls": [{"execute": {"command": RISKY}}]},
    {"calls": [{"execute": {"command": "cat runs.txt"}}]},
    painted_report("Done."),
]


@pytest.mark.soak
@pytest.mark.slow("two control planes, one after the other")
@pytest.mark.parametrize(
    "provider",
    [
        pytest.param(name, marks=() if name == "anthropic" else pytest.mark.full)
        for name in PROVIDERS
    ],
)
def test_an_approval_outlives_a_kill_and_its_call_is_performed_once(
    tmp_path: Path, provider: str
) -> None:
    with gated_model(STEPS) as model:
        with plane_of(tmp_path, model, "first", provider) as first:
            spawned = first.tool("spawn_agent", type="general", prompt="Go", approval="risky")
            chat = f"/api/v0/chats/{spawned['chat_id']}"
            found = first.tool("wait_agent", chat_id=spawned["chat_id"], timeout_seconds=60)
            question = found["requires_action"]
            assert (question["kind"], question["rules"]) == ("approval", ["delete"])
            first.process.kill()
            first.process.wait(PATIENCE)
        with plane_of(tmp_path, model, "second", provider) as second:
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


@pytest.mark.soak
@pytest.mark.slow("a control plane that imports the SDK, and a run with a desktop")
def test_calls_are_approved_and_refused_in_the_terminal(tmp_path: Path) -> None:
    with gated_model(STEPS) as model:
        # The flag counts, not the setting of the environment, which is ``auto``.
        command = (DESKHAND, "run", "Go", "--model", "gated", "--approval", "risky")
        data = {"DESKHAND_DATA_DIR": str(tmp_path / "data")}
        with terminal(command, {**os.environ, **model.environment, **data}) as shown:
            # What is no decision is explained, and the question stays. The script repeats a call
            # that was not done.
            for answer in ("perhaps", "refuse", "approve"):
                shown.until("It asks: ")
                # The whole call, of which the title has 80 characters.
                shown.until(">> runs.txt")
                shown.until("approve, refuse or always: ")
                shown.type(answer)
            shown.until("Report: Done.")
            assert shown.ended() == 0, shown.shown
        assert "answer must be one of approve, refuse, always" in shown.shown
        assert "Outcome: done after 3 steps" in shown.shown


@pytest.mark.root
@pytest.mark.soak
@pytest.mark.slow("a control plane of its own, which asks")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives a desktop a user of its own")
def test_only_what_outlives_the_desktop_is_asked(tmp_path: Path) -> None:
    ends = "touch /tmp/x ~/y && rm /tmp/x && rm ~/y && echo ended"
    stays = "touch z && rm -f z"
    steps = [{"calls": [{"execute": {"command": one}}]} for one in (ends, stays)]
    with (
        gated_model([*steps, painted_report("Done.")]) as model,
        plane_of(tmp_path, model, "plane") as plane,
    ):
        spawned = plane.tool("spawn_agent", type="general", prompt="Go", approval="risky")
        found = plane.tool("wait_agent", chat_id=spawned["chat_id"], timeout_seconds=60)
        question = found["requires_action"]
        assert question["rules"] == ["delete"]
        assert question["call"]["arguments"] == {"command": stays}
        assert "ended\\\\n" in str(plane.get(f"/api/v0/chats/{spawned['chat_id']}/messages"))


@pytest.mark.soak
@pytest.mark.slow("a control plane of its own, and two desktops")
def test_a_run_that_waits_gives_its_place_to_another_one(tmp_path: Path) -> None:
    # No other program of this machine has this command line.
    program = f"sleep {10_000_000 + os.getpid()}"
    asks: list[dict[str, Any]] = [
        {"calls": [{"execute": {"command": f"exec {program}", "run_in_background": True}}]},
        {"calls": [{"request_human": {"reason": "Which colour?"}}]},
        painted_report("Done."),
    ]
    flags = ("--data-dir", str(tmp_path / "data"), "--listen", "127.0.0.1:0")
    with gated_model(asks, other=[painting(COLOURS[0]), painted_report("Other.")]) as model:
        environment = model.environment | {
            "DESKHAND_MOST_DESKTOPS": "1",
            "DESKHAND_QUESTION_PLACE_SECONDS": "1",
        }
        with service(tmp_path / "x.log", "up", *flags, environment=environment) as plane:

            def spawned(script: str) -> str:
                given = {"prompt": "Go", "model": f"anthropic:{script}"}
                return str(plane.tool("spawn_computer_use_agent", **given)["chat_id"])

            def waited(chat: str) -> dict[str, Any]:
                return dict(plane.tool("wait_agent", chat_id=chat, timeout_seconds=60))

            first = spawned("gated")
            assert waited(first)["requires_action"]["question"] == "Which colour?"
            (stopped,) = processes(program)
            assert waited(spawned("other"))["report"] == "Other."
            assert stands_still(stopped) or os.geteuid() != 0
            plane.post(f"/api/v0/chats/{first}/answer", {"answer": "Blue"})
            assert waited(first)["report"] == "Done."
            assert not stands_still(stopped)


def processes(command: str) -> list[psutil.Process]:
    """Return the processes of this machine with a command line."""
    found = psutil.process_iter(["cmdline"])
    return [one for one in found if " ".join(one.info["cmdline"] or ()) == command]
