import asyncio
import json
from typing import Any

import pytest

from deskhand.tools.kit.edit_files import EditFilesTool
from deskhand.tools.kit.support.spec import MachineRefused, ToolOutcome
from tests.tools.kit.machine import FakeMachine


def edit(machine: FakeMachine, arguments: Any) -> ToolOutcome:
    return asyncio.run(EditFilesTool().call(arguments, machine.context()))


def entry(path: str) -> dict[str, Any]:
    return {"path": path, "old_text": "a", "new_text": "b"}


def test_a_list_written_as_text_is_read() -> None:
    machine = FakeMachine()
    machine.answer("/edit-files", {"files": []})
    assert edit(machine, {"edits": json.dumps([entry("/f")])}).value == {"ok": True, "files": []}


def test_the_retired_names_of_the_texts_are_read() -> None:
    machine = FakeMachine()
    machine.answer("/edit-files", b"")
    edits = [{"path": "/f", "search": "a", "replace": "b", "replace_all": True}]
    assert edit(machine, {"edits": edits}).value == {"ok": True}
    (sent,) = machine.asked[0].json["files"][0]["edits"]
    assert sent == {"old_text": "a", "new_text": "b", "replace_all": True}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "edits is required"),
        ({"edits": []}, "at least one edit"),
        ({"edits": "[]"}, "at least one edit"),
        ({"edits": {"path": "/f"}}, "must be a JSON array of objects"),
        ({"edits": "[not json"}, "must be a JSON array of objects"),
        ({"edits": [1]}, "edits[0] must be an object"),
        ({"edits": [{"path": 1}]}, "edits[0]"),
        ({"files": [{"path": "/f", "edits": []}]}, "The files form is gone"),
        ("text", "must be an object"),
    ],
)
def test_what_is_no_list_of_edits_is_refused(arguments: Any, message: str) -> None:
    outcome = edit(FakeMachine(), arguments)
    assert outcome.error
    assert message in outcome.error
    assert outcome.error.endswith("No edits were applied.")


def test_a_refusal_names_the_edit_as_the_model_does() -> None:
    machine = FakeMachine()
    message = (
        "files[0].edits[1] of /a: not found\nfiles[1].edits[0] of /b: not found files[7].edits[0]"
    )
    machine.answer("/edit-files", MachineRefused(400, message))
    outcome = edit(machine, {"edits": [entry("/a"), entry("/b"), entry("/a")]})
    assert outcome.error
    assert outcome.error.startswith("edits[2] of /a: not found\nedits[1] of /b")
    assert "files[7]" in outcome.error
    assert EditFilesTool().spec.name == "edit_files"


def test_without_a_machine_nothing_is_edited() -> None:
    machine = FakeMachine()
    machine.answer("/context-config", MachineRefused(503, "no desktop"))
    error = edit(machine, {"edits": [entry("a")]}).error
    assert error is not None
    assert error.startswith("no desktop")
