import asyncio

from deskhand.tools.kit.search_files import SearchFilesTool
from deskhand.tools.kit.support.spec import Json, MachineRefused, ToolOutcome
from tests.tools.kit.machine import FakeMachine


def called(machine: FakeMachine, **arguments: object) -> ToolOutcome:
    return asyncio.run(SearchFilesTool().call(arguments, machine.context()))


def answering(answer: object) -> FakeMachine:
    machine = FakeMachine()
    machine.answer("search", answer)
    return machine


def test_each_match_is_one_line() -> None:
    matches: list[Json] = [{"path": "/f", "line": 3, "column": 1, "text": "x = 1"}]
    machine = answering({"matches": matches, "count": 1, "has_more": False})
    outcome = called(machine, path=" /src ", pattern="x", glob="*.py\n!test_*", limit=900)
    assert outcome.value == {"content": "/f:3: x = 1", "count": 1}
    (asked,) = machine.asked
    assert asked.json == {
        "path": "/src",
        "pattern": "x",
        "globs": ["*.py", "!test_*"],
        "literal": False,
        "ignore_case": False,
        "offset": 0,
        "limit": 200,
    }


def test_the_note_names_the_next_offset_and_a_timeout() -> None:
    answer = {"matches": [{"path": "/f"}], "count": 1, "has_more": True, "next_offset": 1}
    outcome = called(answering(answer | {"timed_out": True}), path="/", glob="*")
    assert outcome.value["content"] == "/f"
    assert "offset=1" in outcome.value["note"]
    assert "took too long" in outcome.value["note"]


def test_what_is_wrong_is_an_error() -> None:
    assert "path is required" in str(called(FakeMachine(), pattern="x").error)
    assert "pattern is required" in str(called(FakeMachine(), path="/").error)
    refusing = answering(MachineRefused(400, "The search is invalid.", "pattern: no"))
    assert "pattern: no" in str(called(refusing, path="/", pattern="(").error)
    assert called(answering(b"?"), path="/", pattern="x").is_error
    assert SearchFilesTool().spec.name == "search_files"
