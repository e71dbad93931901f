from typing import Any

import pytest

from deskhand.tools.agents.scripted.script.script import (
    BadScript,
    Fault,
    Needs,
    Patch,
    ScriptedCall,
    ScriptStep,
    read_script,
)

RED = (0xE6, 0x19, 0x4B)


def one(step: dict[str, Any]) -> ScriptStep:
    return read_script("a", {"steps": [step]}).steps[0]


def test_calls_are_read_with_their_toolset() -> None:
    step = one({"say": "Go.", "calls": [{"execute": {"command": "ls"}}, {"computer.wait": {}}]})
    assert step.say == "Go."
    assert step.calls == (
        ScriptedCall("execute", {"command": "ls"}),
        ScriptedCall("wait", {}, "computer"),
    )


def test_a_call_without_input_has_an_empty_one() -> None:
    assert one({"calls": [{"computer.screenshot": None}]}).calls[0].input == {}


def test_a_blob_stands_for_a_point_wherever_it_is_in_the_input() -> None:
    given = {
        "coordinate": {"blob": "#e6194b"},
        "list": [{"deep": {"blob": "#e6194b", "tolerance": 3}}],
    }
    (call,) = one({"calls": [{"computer.left_click": given}]}).calls
    assert call.input == {"coordinate": Patch(RED), "list": [{"deep": Patch(RED, 3)}]}


def test_needs_are_read_with_their_defaults() -> None:
    step = one({"say": "x", "needs": {"blob": "#e6194b"}})
    assert step.needs == Needs(Patch(RED), 1, None, 60, "fail")
    given = {"changed": 0.25, "tries": 3, "otherwise": "go_on"}
    assert one({"say": "x", "needs": given}).needs == Needs(None, 1, 0.25, 3, "go_on")


def test_a_report_is_a_call_at_the_end() -> None:
    report = {"summary": "Done.", "outcome": "done"}
    step = one({"calls": [{"computer.screenshot": {}}], "report": report})
    assert step.calls[-1] == ScriptedCall("report", report)


def test_faults_and_repeats_are_read() -> None:
    step = one({"say": "x", "again_while": "a.b", "fault": {"kind": "slow", "seconds": 1.5}})
    assert (step.again_while, step.fault) == ("a.b", Fault("slow", 1, 1.5))
    assert one({"stop_reason": "refusal"}).stop_reason == "refusal"


@pytest.mark.parametrize(
    ("data", "where"),
    [
        (None, "the file"),
        ({"steps": []}, "steps"),
        ({"steps": {}}, "steps"),
        ({"step": []}, "the file.step"),
        ({"steps": ["say"]}, "steps.0"),
        ({"steps": [{}]}, "steps.0"),
        ({"steps": [{"say": "x"}, {"sya": "x"}]}, "steps.1.sya"),
        ({"steps": [{"say": 3}]}, "steps.0.say"),
        ({"steps": [{"calls": "x"}]}, "steps.0.calls"),
        ({"steps": [{"calls": ["x"]}]}, "steps.0.calls.0"),
        ({"steps": [{"calls": [{"a": {}, "b": {}}]}]}, "steps.0.calls.0"),
        ({"steps": [{"calls": [{"a": [1]}]}]}, "steps.0.calls.0.a"),
        ({"steps": [{"calls": [{7: {}}]}]}, "steps.0.calls.0.7"),
        ({"steps": [{"calls": [{"a": {"p": {"blob": "x"}}}]}]}, "steps.0.calls.0.a.p.blob"),
        ({"steps": [{"calls": [{"a": {"p": {"blob": 1}}}]}]}, "steps.0.calls.0.a.p.blob"),
        (
            {"steps": [{"calls": [{"a": {"p": {"blob": "#000000", "q": 1}}}]}]},
            "steps.0.calls.0.a.p.q",
        ),
        ({"steps": [{"say": "x", "needs": {}}]}, "steps.0.needs"),
        ({"steps": [{"say": "x", "needs": {"blob": "#000000", "changed": 1}}]}, "steps.0.needs"),
        ({"steps": [{"say": "x", "needs": {"changed": 1, "tries": 1.5}}]}, "steps.0.needs.tries"),
        ({"steps": [{"say": "x", "needs": {"changed": 1, "tries": -1}}]}, "steps.0.needs.tries"),
        ({"steps": [{"say": "x", "needs": {"changed": True}}]}, "steps.0.needs.changed"),
        (
            {"steps": [{"say": "x", "needs": {"changed": 1, "otherwise": "x"}}]},
            "steps.0.needs.otherwise",
        ),
        ({"steps": [{"say": "x", "fault": {"kind": "fire"}}]}, "steps.0.fault.kind"),
        ({"steps": [{"say": "x", "fault": {"kind": "cut", "times": "2"}}]}, "steps.0.fault.times"),
        ({"steps": [{"say": "x", "again_while": 1}]}, "steps.0.again_while"),
    ],
)
def test_an_error_names_the_script_and_the_path(data: object, where: str) -> None:
    with pytest.raises(BadScript) as caught:
        read_script("mine", data)
    assert caught.value.where == where
    assert str(caught.value).startswith(f"script mine: {where}: ")
