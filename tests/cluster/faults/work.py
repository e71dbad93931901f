"""Work of chats during faults, and checks that each action was done once, as seen from outside."""

import os
import re
import time
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

from tests.cluster.actions import ActionLog
from tests.cluster.click_page import CLICKED, point
from tests.cluster.deployment import Deployment
from tests.system.services import PATIENCE, until

Json = dict[str, Any]
STEPS = 4
DISK_MIB = 4096
"""Of a node's data."""
LIMIT = 6 * PATIENCE
PAUSE = 0.2
"""Between two looks, which cost as much of the processor as what is tested."""
KILLS = int(os.environ.get("DESKHAND_TEST_KILLS", "3"))
"""Random moments at which a control plane is killed in `make long`; 20 in a longer run."""
PLANES = int(os.environ.get("DESKHAND_TEST_PLANES", "2"))
CHATS = int(os.environ.get("DESKHAND_TEST_CHATS", "6"))
"""Chats during a rolling update, half as many at a kill; 20 and 3 control planes in a long run."""
COMMANDS = frozenset(f"step-{number}" for number in range(1, STEPS + 1))
CLICKS = {tuple(point(number)): f"click-{number}" for number in range(1, STEPS + 1)}
SENT = re.compile(r'echo "(step-\d+) ')


def chats(
    d: Deployment, number: int, at: Sequence[int] = (0, 1), model: str | None = None
) -> list[str]:
    """Start chats at these control planes in turn; return their ids."""
    body = {"prompt": "work", "mode": "computer_use", **({"model": model} if model else {})}
    with ExitStack() as stack:
        clients = [stack.enter_context(d.at(one)) for one in at]
        answers = [
            clients[index % len(at)].post("/api/v0/chats", json=body) for index in range(number)
        ]
    assert all(one.is_success for one in answers), [one.text for one in answers]
    return [str(one.json()["id"]) for one in answers]


def agent(d: Deployment, at: int) -> tuple[str, str]:
    """Let a chat start an agent that clicks, with a desktop; return the ids of both chats."""
    with d.at(at) as http:
        caller = http.post("/api/v0/chats", json={"title": "caller"}).json()["id"]
        path = "/api/v0/tools/spawn_computer_use_agent"
        headers = {"Deskhand-Chat-Id": caller}
        wanted = {"prompt": "work", "model": CLICKED}
        answer = http.post(path, json=wanted, headers=headers)
    assert answer.is_success, answer.text
    return str(caller), str(answer.json()["result"]["chat_id"])


def clicking(d: Deployment, log: ActionLog, number: int, at: int) -> list[str]:
    """Start chats that click, and one agent of a further chat, the first; return their ids.

    All have opened their page, and wait in ``step-1`` until the log releases it.
    """
    log.hold("step-1")
    before = len(log.of_step("step-1"))
    _, first = agent(d, at)
    ids = [first, *chats(d, number, [at], CLICKED)]
    log.reached("step-1", before + len(ids))
    return ids


def driver(d: Deployment, chat_id: str) -> int:
    """Return the number of the control plane that drives a chat: any may claim a new one."""
    query = (
        f"SELECT address FROM planes JOIN chats ON driver = planes.id WHERE chats.id = '{chat_id}'"
    )
    (row,) = d.rows(query)
    # Its name is that of its certificate: p1, p2 and so on.
    return int(row[0].partition("@")[0].removeprefix("p")) - 1


def ended(d: Deployment, ids: list[str]) -> list[Json]:
    """Return the chats when all are at rest."""

    def at_rest() -> list[Json] | None:
        found = [d.get(f"/api/v0/chats/{one}") for one in ids]
        states[:] = [(one["id"], one["state"], one["steps"][-1:]) for one in found]
        return found if all(one["state"] == "waiting" for one in found) else None

    states: list[tuple[str, str, list[Json]]] = []
    try:
        found: list[Json] = until(at_rest, "chats at rest", LIMIT, PAUSE)
    except AssertionError:
        print(*states, sep="\n")
        raise
    return found


def directory(chat: Json) -> str:
    """Return the directory of a chat, by which the log knows it: an agent has its parent's."""
    return str(chat["parent_id"] or chat["id"])


def action(step: Json) -> str | None:
    """Return the name of a step in the log; None of one that does not count."""
    if step["action"] == "left_click":
        return CLICKS.get(tuple(step["arguments"]["coordinate"]))
    sent = SENT.search(str(step["arguments"].get("command", "")))
    return sent[1] if sent else None


def check_whole(d: Deployment, log: ActionLog, ids: list[str], cut: bool = True) -> list[str]:
    """Check that each chat has ended with every action; return those of unknown outcome.

    What is done was done once, and nothing twice. ``cut``: what ran at the fault may be reported
    as interrupted, one action of a chat; it is not repeated.
    """
    unknown = []
    for chat in ended(d, ids):
        done = log.of_chat(directory(chat))
        named = [(name, step["status"]) for step in chat["steps"] if (name := action(step))]
        wanted = COMMANDS | (set(CLICKS.values()) if chat["model"] == CLICKED else set())
        assert sorted(name for name, _ in named) == sorted(wanted), named
        open_ones = [name for name, status in named if status != "done"]
        assert len(open_ones) <= cut, chat["steps"]
        assert {status for _, status in named} <= {"done", "interrupted", "failed"}, chat["steps"]
        for name, status in named:
            lost = status != "done"
            assert 1 - lost <= done[name] <= 1, (name, status, done, chat["steps"])
        unknown += open_ones
    assert log.repeated() == []
    return unknown


def check_recorded(d: Deployment, chat_id: str) -> int:
    """Check that all that an agent has done is recorded; return the number of recordings."""
    chat = d.get(f"/api/v0/chats/{chat_id}")
    recordings = [one["metadata"] for one in chat["files"] if one["kind"] == "recording"]
    recorded = {step["tool_call_id"] for one in recordings for step in one["steps"]}
    done = {step["tool_call_id"] for step in chat["steps"] if step["status"] == "done"}
    assert done <= recorded, recordings
    assert {one["complete"] for one in recordings} == {True}, recordings
    assert chat["recording_status"] == "stored", recordings
    return len(recordings)


def wait_for_nodes(d: Deployment) -> None:
    """Wait until all nodes take desktops, by answers that come from now on."""
    good = f"SELECT count(*) FROM nodes WHERE reason = '' AND seen_at > {time.time()}"
    until(lambda: d.rows(good) == [[str(len(d.nodes))]], "all nodes", LIMIT, PAUSE)


def end_all(d: Deployment) -> None:
    """End all chats and desktops."""
    for chat in d.get("/api/v0/chats?limit=100")["chats"]:
        d.http.delete(f"/api/v0/chats/{chat['id']}", timeout=2 * PATIENCE)
    for desktop_id in d.desktops():
        d.http.delete(f"/api/v0/desktops/{desktop_id}", timeout=2 * PATIENCE)
    until(lambda: not d.desktops(), "the end of all desktops", LIMIT, PAUSE)

    def run_none() -> bool:
        nodes = [d.ask_gate(node, "GET", "/node", {}).json() for node in d.nodes.values()]
        return not any(one["desktops"] for one in nodes)

    # A node that was cut off ends those that were given up for lost when it is asked again.
    until(run_none, "the end of lost desktops", LIMIT, PAUSE)
