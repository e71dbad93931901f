"""The examples of docs/eval.md are tasks and scripts."""

import re
from pathlib import Path

from deskhand.tools.agents.scripted.script.library import parse_script
from deskhand.tools.evaluation.form import form
from deskhand.tools.evaluation.form.form import read_task

DOCUMENT = (Path(__file__).parents[4] / "docs" / "eval.md").read_text()
TASK, CHECKER, SCRIPT = re.findall(r"```yaml\n(.*?)```", DOCUMENT, re.DOTALL)


def test_the_example_of_a_task_uses_every_key() -> None:
    task = read_task(TASK, "docs/eval.md", Path())
    assert task.setup.ready is not None
    assert [file.source for file in task.setup.files] == [None, "template.odt"]
    keys = (*form.TASK_KEYS, *form.SETUP_KEYS, *form.LIMIT_KEYS, *form.HUMAN_KEYS, *form.READY_KEYS)
    assert [
        key
        for key in (*keys, *form.CHECKER_KEYS)
        if not re.search(rf"`[\w.]*{key}`|\b{key}:", DOCUMENT)
    ] == []


def test_the_examples_of_a_checker_and_a_script_are_read() -> None:
    head = "name: a\nprompt: b\n"
    assert read_task(head + CHECKER, "docs/eval.md", Path()).checker.command[0] == "cmp"
    assert len(parse_script("documented", SCRIPT).steps) == 3


def test_every_method_of_a_checkers_machine_is_documented() -> None:
    source = Path(form.__file__).parents[1] / "checking" / "checker_program.py"
    methods = re.findall(r"    def ([a-z]\w+)\(self", source.read_text())
    assert len(methods) > 8
    assert [name for name in methods if f"`{name}(" not in DOCUMENT] == []
