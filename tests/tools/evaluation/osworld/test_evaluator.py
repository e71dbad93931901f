"""Evaluators of OSWorld as checkers, each run on a machine."""

from pathlib import Path
from typing import Any

import pytest

from deskhand.tools.evaluation.osworld import checks
from deskhand.tools.evaluation.osworld.evaluator import read_evaluator
from deskhand.tools.evaluation.osworld.gaps import BadOsworldTask, Gaps
from deskhand.tools.evaluation.task import PlacedFile
from tests.tools.evaluation.osworld.given import Machine

CHECKS = Path(checks.__file__).read_text()
COMMAND = {"type": "vm_command_line", "command": "cat /home/user/a"}
FILE = {"type": "vm_file", "path": "/home/user/a", "dest": "a"}


def rule(**rules: Any) -> dict[str, Any]:
    return {"type": "rule", "rules": rules}


def reason(machine: Machine, **evaluator: Any) -> str:
    """Return why an evaluator refuses a machine, an empty text if it does not."""
    gaps = Gaps()
    checker = read_evaluator(evaluator, CHECKS, gaps)
    assert gaps.found == []
    names: dict[str, Any] = {}
    exec(compile(checker.python or "", "checker", "exec"), names)
    try:
        names["check"](machine)
    except AssertionError as error:
        return str(error)
    return ""


def gaps_of(**evaluator: Any) -> list[str]:
    gaps = Gaps()
    read_evaluator(evaluator, "", gaps)
    return gaps.found


def test_a_text_includes_and_excludes() -> None:
    machine = Machine(outputs={"cat /home/agent/a": "the sum is 42\n"})
    for name in ("check_include_exclude", "text"):
        parts = {"func": name, "result": COMMAND}
        assert reason(machine, **parts, expected=rule(include=["42"], exclude=["43"])) == ""
        assert "'43' is not in" in reason(machine, **parts, expected=rule(include=["43"]))
        assert "'42' is in the" in reason(machine, **parts, expected=rule(exclude=["42"]))


def test_a_text_is_equal_to_one_or_one_of_several() -> None:
    machine = Machine(outputs={"sh -c echo a | cat": "a\n"})
    result = {"type": "vm_command_line", "command": "echo a | cat", "shell": True}
    assert reason(machine, func="exact_match", result=result, expected=rule(expected="a")) == ""
    listed = rule(expected=["b", "a\n"])
    assert reason(machine, func="match_in_list", result=result, expected=listed) == ""
    found = reason(machine, func="exact_match", result=result, expected=rule(expected="b"))
    assert found == "the text is 'a\\n'"


def test_a_file_contains_texts() -> None:
    machine = Machine({"/home/agent/a": b"one two"})
    parts = {"func": "file_contains", "result": FILE}
    assert reason(machine, **parts, expected=rule(expected=["one", "two"])) == ""
    assert "'three' is not in" in reason(machine, **parts, expected=rule(expected="three"))
    missing = reason(Machine(), **parts, expected=rule(expected="one"))
    assert missing == "there is no file /home/agent/a"


def test_files_are_compared_as_texts_or_bytes() -> None:
    machine = Machine({"/home/agent/a": b"A  b\r\n", "/home/agent/c": b"a b\n"})
    other = {"type": "vm_file", "path": "/home/user/c"}
    parts = {"func": "compare_text_file", "result": FILE, "expected": other}
    assert "has other content" in reason(machine, **parts)
    assert "has other content" in reason(machine, **parts, options={"ignore_blanks": True})
    both = {"ignore_blanks": True, "ignore_case": True}
    assert reason(machine, **parts, options=both) == ""
    assert "has other content" in reason(machine, func="file", result=FILE, expected=other)
    assert reason(machine, func="file", result=FILE, expected=FILE) == ""


def test_an_expected_file_is_beside_the_checker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = {"type": "cloud_file", "path": "file:///gold/a.txt", "dest": "gold"}
    checker = read_evaluator({"func": "file", "result": FILE, "expected": expected}, "", Gaps())
    assert checker.files == (PlacedFile("expected-0", source="gold/a.txt"),)
    (tmp_path / "expected-0").write_bytes(b"gold")
    monkeypatch.chdir(tmp_path)
    machine = Machine({"/home/agent/a": b"gold"})
    assert reason(machine, func="file", result=FILE, expected=expected) == ""


def test_addresses_are_those_that_the_browser_shows() -> None:
    machine = Machine(shown=("HTTP://localhost:80/a/", "about:blank"))
    parts = {"func": "is_expected_active_tab", "result": {"type": "active_tab_info"}}
    assert reason(machine, **parts, expected=rule(type="url", url="http://localhost:80/a")) == ""
    other = rule(type="url", url="http://localhost/b")
    assert reason(machine, **parts, expected=other).startswith("the browser shows HTTP://")
    tabs = {"func": "is_expected_tabs", "result": {"type": "open_tabs_info"}}
    both = rule(type="url", urls=["about:blank", "http://localhost:80/a"])
    assert reason(machine, **tabs, expected=both) == ""
    assert reason(machine, **tabs, expected=rule(urls=["about:blank"])) != ""
    matched = {"func": "is_expected_url_pattern_match", "result": {}}
    assert reason(machine, **matched, expected=rule(expected=["local", "/a/?$"])) == ""
    found = reason(Machine(), **matched, expected=rule(expected=["a"]))
    assert found == "the browser shows nothing"


def test_processes_run_or_not() -> None:
    machine = Machine(running=("python3 server.py",))
    assert reason(machine, func="process", expected=rule(include=["server.py"])) == ""
    assert "no process" in reason(machine, func="process", expected=rule(include=["nginx"]))
    assert reason(machine, func="process", expected=rule(exclude="nginx")) == ""
    assert "is running" in reason(machine, func="process", expected=rule(exclude=["server"]))


def test_several_checks_hold_together_or_one_does() -> None:
    machine = Machine({"/home/agent/a": b"x"}, running=("b",))
    parts: dict[str, Any] = {
        "func": ["process", "file_contains"],
        "result": [None, FILE],
        "expected": [rule(include=["b"]), rule(expected=["y"])],
    }
    assert "'y' is not in" in reason(machine, **parts)
    assert reason(machine, **parts, conj="or") == ""
    parts["expected"] = [rule(include=["c"]), rule(expected=["y"])]
    assert "; 'y' is not in" in reason(machine, **parts, conj="or")
    # A missing file does not end the search for a check that holds.
    parts["expected"] = [rule(include=["b"]), rule(expected=["y"])]
    assert reason(Machine(running=("b",)), **parts, conj="or") == ""


def test_commands_run_before_the_checks() -> None:
    machine = Machine({"/home/agent/a": b"x"})
    before = [
        {"type": "sleep", "parameters": {"seconds": 1}},
        {"type": "execute", "parameters": {"command": "sync /home/user"}},
    ]
    parts = {"func": "file_contains", "result": FILE, "expected": rule(expected="x")}
    assert reason(machine, **parts, postconfig=before) == ""
    assert machine.ran == [["sh", "-c", "sync /home/agent"]]


@pytest.mark.parametrize(
    ("evaluator", "gap"),
    [
        ({"func": "infeasible"}, "evaluator 1: the function 'infeasible' (known are text, "),
        ({"func": "process", "expected": rule(include=["a"]), "x": 1}, "evaluator: the key 'x'"),
        ({"func": "process", "expected": rule(include=["a"]), "conj": "xor"}, "evaluator: conj"),
        (
            {"func": "text", "result": {"type": "vm_screen"}, "expected": rule(include="a")},
            "evaluator 1: the result 'vm_screen' (known are vm_command_line and vm_file)",
        ),
        (
            {"func": "file", "result": COMMAND, "expected": FILE},
            "evaluator 1: the result 'vm_command_line' (known is vm_file)",
        ),
        (
            {"func": "file", "result": FILE, "expected": rule()},
            "evaluator 1: the expected 'rule' (known are local_file and vm_file)",
        ),
        (
            {
                "func": "file",
                "result": FILE,
                "expected": {"type": "cloud_file", "path": "https://example.org/a"},
            },
            "evaluator 1: https://example.org/a (only files beside the task)",
        ),
        (
            {"func": "url", "result": {"type": "history"}, "expected": rule(url="a")},
            "evaluator 1: the result 'history' (known are active_url",
        ),
        (
            {"func": "url", "expected": {"type": "cloud_file"}},
            "evaluator 1: the expected 'cloud_file' (known is rule)",
        ),
        (
            {
                "func": "process",
                "expected": rule(include="a"),
                "postconfig": [{"type": "activate_window"}],
            },
            "evaluator.postconfig 1: the type 'activate_window'",
        ),
    ],
)
def test_what_is_not_supported_is_named(evaluator: dict[str, Any], gap: str) -> None:
    (found,) = gaps_of(**evaluator)
    assert found.startswith(gap)


@pytest.mark.parametrize(
    ("evaluator", "problem"),
    [
        ({}, "evaluator.func: must be a text"),
        ({"func": ["process"], "expected": []}, ""),
        ({"func": "process", "expected": rule()}, "include or exclude is needed"),
        ({"func": "url", "expected": rule()}, "evaluator 1.expected.rules.url: must be a text"),
    ],
)
def test_a_mistake_is_named(evaluator: dict[str, Any], problem: str) -> None:
    if not problem:
        assert gaps_of(**evaluator) == ["evaluator 1: the expected None (known is rule)"]
        return
    with pytest.raises(BadOsworldTask, match=problem):
        gaps_of(**evaluator)
