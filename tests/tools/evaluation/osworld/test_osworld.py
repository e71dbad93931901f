"""Tasks of OSWorld become tasks of an evaluation, or one error names what they need."""

import json
from pathlib import Path
from typing import Any

import pytest

from deskhand.tools.evaluation.errors import BadTask
from deskhand.tools.evaluation.osworld.osworld import read_osworld
from deskhand.tools.evaluation.task import PlacedFile, Task

WHOLE: dict[str, Any] = {
    "id": "94D95F96-task",
    "snapshot": "os",
    "instruction": "Write the sum to /home/user/sum.txt.",
    "source": "written for this test",
    "trajectory": "trajectories/",
    "related_apps": ["os"],
    "proxy": False,
    "config": [
        {
            "type": "download",
            "parameters": {"files": [{"url": "a.csv", "path": "/home/user/a.csv"}]},
        },
        {"type": "sleep", "parameters": {"seconds": 2}},
        {"type": "open", "parameters": {"path": "/home/user/a.csv"}},
    ],
    "evaluator": {
        "func": "check_include_exclude",
        "result": {"type": "vm_command_line", "command": "cat /home/user/sum.txt"},
        "expected": {"type": "rule", "rules": {"include": ["42"], "exclude": ["error"]}},
    },
}


def read(**changes: Any) -> Task:
    text = json.dumps({**WHOLE, **changes})
    return read_osworld(text, "a/task.json", Path("/tasks"), "# checks")


def problem(**changes: Any) -> str:
    with pytest.raises(BadTask) as error:
        read(**changes)
    return str(error.value)


def test_a_task_is_read_whole() -> None:
    task = read()
    assert task.name == "94d95f96-task"
    assert task.prompt == "Write the sum to {home}/sum.txt."
    assert task.folder == Path("/tasks")
    assert task.setup.files == (PlacedFile("osworld/0", source="a.csv"),)
    assert task.setup.open == ("{home}/a.csv",)
    assert task.checker.python is not None
    assert task.checker.python.startswith("# checks\n")
    compile(task.checker.python, "checker", "exec")


def test_everything_that_is_not_supported_is_named_at_once() -> None:
    assert problem(
        proxy=True,
        client_password="x",
        config=[{"type": "activate_window"}],
        evaluator={"func": "compare_table"},
    ).startswith(
        "a/task.json: not supported: the task: the key 'client_password'; the task: a proxy to the "
        "internet; config 1: the type 'activate_window' (known are download, "
    )


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"id": ""}, "the task.id: must be a text"),
        ({"id": "a b"}, "the task.id: must consist of letters, digits and hyphens"),
        ({"instruction": None}, "the task.instruction: must be a text"),
        ({"config": {}}, "config: must be a list"),
        ({"evaluator": None}, "evaluator: must be an object"),
    ],
)
def test_a_mistake_is_named(changes: dict[str, Any], text: str) -> None:
    assert problem(**changes) == f"a/task.json: {text}"


def test_a_file_that_is_no_json_is_refused_with_its_line() -> None:
    with pytest.raises(BadTask) as error:
        read_osworld('{\n"id": }', "a/task.json", Path("/tasks"), "")
    assert str(error.value) == "a/task.json:2: is not JSON: Expecting value"
