"""Risk of typing into a payment field, and of choosing a file to upload, in a real browser."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.system.gated_model import gated_model, painted_report, plane_of
from tests.system.services import Service, until

pytestmark = [
    pytest.mark.x11,
    pytest.mark.soak,
    pytest.mark.slow("a control plane, a desktop and its browser"),
]

PAGE = (
    "data:text/html,<title>Pay</title><input autofocus aria-label=Name>"
    '<input aria-label="Card number"><input type=file aria-label=Scan>'
)
NUMBER = "4111 1111 1111 1111"
STEPS: list[dict[str, Any]] = [
    {"calls": [{"execute": {"command": f"browser '{PAGE}' > /dev/null 2>&1 &"}}]},
    {"calls": [{"computer.key": {"text": "Tab"}}]},
    {"calls": [{"computer.type": {"text": NUMBER}}]},
    {"calls": [{"computer.key": {"text": "Tab"}}]},
    {"calls": [{"computer.key": {"text": "space"}}]},
    {"calls": [{"computer.key": {"text": "Return"}}]},
    painted_report("Paid."),
]


def field_of(plane: Service, desktop: str) -> str:
    """Return the name of the field that has the keyboard, as far as it is known."""
    # The browser reports its pages once something has asked for them.
    plane.get(f"{desktop}/accessibility")
    return str((plane.get(f"{desktop}/focus")["field"] or {}).get("name"))


def keyboard_window(plane: Service, desktop: str) -> str:
    return str((plane.get(f"{desktop}/focus")["window"] or {}).get("title"))


def answering(plane: Service, chat_id: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Approve each question of a run; return them, and the result of the run."""
    asked: list[dict[str, Any]] = []
    while True:
        found = plane.tool("wait_agent", chat_id=chat_id, timeout_seconds=120)
        question = found.get("requires_action")
        if not question:
            return asked, found
        asked.append(question)
        body = {"answer": "approve", "question": question["id"]}
        plane.post(f"/api/v0/chats/{chat_id}/answer", body)


def test_payment_fields_and_uploads_wait_for_a_person(tmp_path: Path) -> None:
    with gated_model(STEPS, 1, 2, 4, 5) as model, plane_of(tmp_path, model, "plane") as plane:
        spawned = plane.tool(
            "spawn_computer_use_agent", prompt="Pay", model="gated", approval="risky"
        )
        with ThreadPoolExecutor(1) as pool:
            ending = pool.submit(answering, plane, spawned["chat_id"])
            model.gates[1].wait()
            chat = plane.get(f"/api/v0/chats/{spawned['chat_id']}")
            desktop = f"/api/v0/desktops/{chat['desktop_id']}/desktop"
            until(lambda: field_of(plane, desktop) == "Name", "the keyboard in the first field")
            model.gates[1].open()
            model.gates[2].wait()
            until(lambda: field_of(plane, desktop) == "Card number", "the payment field")
            model.gates[2].open()
            model.gates[4].wait()
            until(lambda: field_of(plane, desktop).startswith("Scan"), "the choice of a file")
            model.gates[4].open()
            model.gates[5].wait()
            until(lambda: "Open" in keyboard_window(plane, desktop), "the dialog of the browser")
            model.gates[5].open()
            asked, result = ending.result()
    assert result["report"] == "Paid."
    rules = [rule for question in asked for rule in question["rules"]]
    assert rules.count("payment_field") == 2, asked
    assert rules[-1] == "upload"
    typed = next(q for q in asked if q["call"].get("action") == "type")
    # The number is in no question: neither in its text nor in the call.
    assert typed["call"]["arguments"]["text"] == f"{len(NUMBER)} characters"
    assert NUMBER not in str(asked)
