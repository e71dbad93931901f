import asyncio

from deskhand.tools.kit.read_screen import ReadScreenTool
from deskhand.tools.kit.support.spec import Json, MachineUnavailable, ToolOutcome
from tests.tools.kit.machine import FakeMachine

PATH = "/accessibility/text"


def read(machine: FakeMachine, arguments: Json) -> ToolOutcome:
    return asyncio.run(ReadScreenTool().call(arguments, machine.context()))


def test_a_whole_text_is_returned_without_a_note() -> None:
    machine = FakeMachine()
    machine.answer(PATH, {"text": 'button "Go" [e1] 4,6', "lines": 1, "complete": True})
    assert read(machine, {}).value == {"content": 'button "Go" [e1] 4,6'}
    assert machine.asked[0].params == {"interactive": "false", "offset": "0"}


def test_a_part_of_a_text_names_what_is_missing_and_how_to_go_on() -> None:
    machine = FakeMachine()
    part = {"text": "x", "lines": 9, "complete": False, "cut": ["names", "time"], "next_offset": 4}
    part["note"] = "Restart it."
    machine.answer(PATH, part)
    note = read(machine, {"interactive": "true", "offset": "2"}).value["note"]
    assert note.startswith("Restart it. The text is not complete: limits of names, time")
    assert note.endswith("continue with offset=4.")
    assert machine.asked[0].params == {"interactive": "true", "offset": "2"}


def test_arguments_of_another_type_are_refused_before_the_screen_is_read() -> None:
    machine = FakeMachine()
    assert "offset" in str(read(machine, {"offset": -1}).error)
    assert machine.asked == []


def test_a_machine_that_does_not_answer_and_an_answer_of_another_form_are_errors() -> None:
    machine = FakeMachine()
    machine.answer(PATH, MachineUnavailable("gone"))
    assert read(machine, {}).error == "gone"
    machine = FakeMachine()
    machine.answer(PATH, b"")
    assert "not JSON" in str(read(machine, {}).error)


def test_the_spec_names_the_tool() -> None:
    assert ReadScreenTool().spec.name == "read_screen"
