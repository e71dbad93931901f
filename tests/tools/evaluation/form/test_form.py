"""The strict form of tasks."""

from pathlib import Path

import pytest

from deskhand.tools.evaluation.errors import BadTask
from deskhand.tools.evaluation.form.form import read_task
from deskhand.tools.evaluation.task import Human, PlacedFile, Readiness, SetupCommand, Task

WHOLE = """\
name: order-form
description: For readers.
prompt: Order three lamps.
tags: [form, two windows]
setup:
  serve: pages
  files:
    list.csv: "a,b"
    empty.txt: ""
    deep/copy.bin: {from: copy.bin}
  commands:
    - mkdir inbox
    - {run: sleep 1, seconds: 90}
  open: ["{base_url}/a.html", list.csv]
  launch: terminal
  ready: {window: Lamps, seconds: 5}
checker:
  python: |
    def check(machine):
        assert machine.posted()
  files: {expected.csv: "x"}
  seconds: 12
limits: {steps: 3, seconds: 4.5, usd: 0.1}
human: {question: "Which?", answer: "42", approvals: refuse}
oracle: oracle.yaml
wrong: wrong.yaml
"""
SMALL = """\
name: small
prompt: Do it.
checker: {command: [test, -e, a]}
"""


def read(text: str) -> Task:
    return read_task(text, "small/task.yaml", Path("/tasks/small"))


def problem(text: str) -> str:
    with pytest.raises(BadTask) as error:
        read(text)
    return str(error.value)


def test_every_key_is_read() -> None:
    task = read(WHOLE)
    assert task.tags == ("form", "two windows")
    assert task.setup.files == (
        PlacedFile("list.csv", "a,b"),
        PlacedFile("empty.txt", ""),
        PlacedFile("deep/copy.bin", source="copy.bin"),
    )
    assert task.setup.commands == (SetupCommand("mkdir inbox"), SetupCommand("sleep 1", 90.0))
    assert task.setup.open == ("{base_url}/a.html", "list.csv")
    assert task.setup.launch == ("terminal",)
    assert task.setup.ready == Readiness(window="Lamps", seconds=5.0)
    assert (task.checker.seconds, task.checker.line) == (12.0, 18)
    assert task.checker.files == (PlacedFile("expected.csv", "x"),)
    assert (task.limits.steps, task.limits.seconds, task.limits.usd) == (3, 4.5, 0.1)
    assert task.human == Human("42", "Which?", "refuse")
    assert (task.oracle, task.wrong, task.setup.serve) == ("oracle.yaml", "wrong.yaml", "pages")


def test_a_small_task_has_defaults() -> None:
    task = read(SMALL)
    assert task.checker.command == ("test", "-e", "a")
    assert task.limits.steps == 40
    assert task.oracle is None


def test_a_command_may_be_a_line_of_the_shell() -> None:
    task = read(SMALL.replace("[test, -e, a]", "test -e a"))
    assert task.checker.command == ("sh", "-c", "test -e a")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("  serve:", "  serv:", "task.yaml:6: unknown key 'serv' in setup; did you mean 'serve'?"),
        ("limits:", "zzz:", "task.yaml:23: unknown key 'zzz' in the task; known are name,"),
        ("name: order-form", "name: Order", "task.yaml:1: 'name' must consist of small letters"),
        ("prompt: Order three lamps.", "prompt: ''", ":3: 'prompt' must not be empty"),
        ("prompt: Order three lamps.", "prompt: 3", ":3: 'prompt' must be a text, not a number"),
        ("prompt: Order three lamps.", "prompt: yes", "must be a text, not true or false"),
        ("prompt: Order three lamps.", "prompt:", "must be a text, not nothing"),
        ("prompt: Order three lamps.", "prompt: [a]", "must be a text, not a list"),
        ("prompt: Order three lamps.", "prompt: {a: b}", "must be a text, not a mapping"),
        ("prompt: Order three lamps.\n", "", "task.yaml:1: 'prompt' is missing in the task"),
        ("tags: [form, two windows]", "tags: form", "task.yaml:4: 'tags' must be a list"),
        ("[form, two windows]", "[Form]", "task.yaml:4: 'Form' is no tag"),
        ("{base_url}/a", "{base_uri}/a", ":14: {base_uri} is no place; did you mean 'base_url'?"),
        ("serve: pages", "serve: ../pages", "the path '../pages' must be relative"),
        ("deep/copy.bin:", "/etc/copy.bin:", "the path '/etc/copy.bin' must be relative"),
        ("{from: copy.bin}", "{form: copy.bin}", "did you mean 'from'?"),
        ("seconds: 90", "seconds: 0", "task.yaml:13: 'seconds' must be a number above 0"),
        ("seconds: 90", "seconds: true", "'seconds' must be a number above 0"),
        ("steps: 3", "steps: 2.5", "'steps' must be a whole number above 0"),
        ("{window: Lamps, seconds: 5}", "{seconds: 5}", "ready needs window, text or url"),
        ("approvals: refuse", "approvals: no way", "'approvals' must be one of approve, refuse"),
        ("def check(machine):", "def chek(machine):", "must define check(machine)"),
        ("assert machine", "assert (machine", "line 2 of checker.python is not Python"),
        ("assert machine", "assert '\\0' machine", "is not Python"),
        ("  files: {exp", "  command: ls\n  files: {exp", "needs either python or command"),
        ("limits: {", "limits: {steps: 1, ", "the key 'steps' is in limits twice"),
        ("limits: {steps: 3, seconds: 4.5, usd: 0.1}", "limits: 3", "limits must be a mapping"),
        ("name: order-form", "name: [", "task.yaml:3: is not YAML"),
        ("name: order-form", "name: !!python/object:a b", "cannot be read"),
        ("usd: 0.1", "usd: 2026-99-99", "'usd' cannot be read"),
    ],
)
def test_a_mistake_is_named_with_its_line(old: str, new: str, expected: str) -> None:
    assert old in WHOLE
    assert expected in problem(WHOLE.replace(old, new, 1))


def test_a_file_that_is_no_task_is_refused() -> None:
    assert "small/task.yaml: is empty" in problem("")
    assert "the task must be a mapping" in problem("just words")
    assert "is not YAML" in problem("a: \x01")
    assert "is not YAML" in problem("a: 1\n---\nb: 2\n")


def test_python_with_nul_is_refused() -> None:
    text = SMALL.replace("{command: [test, -e, a]}", '{python: "def check(machine): \\0"}')
    assert "checker.python" in problem(text)
