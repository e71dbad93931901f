"""The packaged tasks are complete: scripts, pages and prompts fit each other."""

import re

import pytest

from deskhand.tools.agents.scripted.script.script import Patch, Script
from deskhand.tools.evaluation.form.library import PACKAGED, find_tasks, load_task_script
from deskhand.tools.evaluation.task import Task

TAGS = {
    *("form", "table", "drag", "canvas", "dialog", "two windows", "file", "terminal"),
    *("injection", "human"),
}
BROWSER_BUTTON = "#0d50bb"
"""Colour of the button in a dialog of the browser; the scripts continue without it."""
COLOUR = re.compile(r"#[0-9a-f]{6}")
IMPORTED = re.compile(r"(?:src|href)\s*=\s*[\"']?(?:https?:)?//|@import|url\(|https?://")


def scripts_of(task: Task) -> tuple[Script, Script]:
    assert task.oracle is not None
    assert task.wrong is not None
    return load_task_script(task, task.oracle, "o", {}), load_task_script(task, task.wrong, "w", {})


@pytest.fixture(scope="module")
def tasks() -> tuple[Task, ...]:
    # Here and not at the import, which every process of a parallel run does.
    return find_tasks(())


def test_there_are_enough_tasks_with_every_tag(tasks: tuple[Task, ...]) -> None:
    assert len(tasks) >= 40
    for tag in TAGS:
        assert sum(tag in task.tags for task in tasks) >= 3, tag


def test_every_folder_is_a_task(tasks: tuple[Task, ...]) -> None:
    folders = [folder.name for folder in PACKAGED.iterdir() if folder.name != "__pycache__"]
    assert sorted(folders) == [task.name for task in tasks]


def test_every_task_is_complete(tasks: tuple[Task, ...]) -> None:
    for task in tasks:
        assert task.folder.name == task.name
        assert task.description, task.name
        assert set(task.tags) <= TAGS, task.name
        assert ("human" in task.tags) == (task.human.answer is not None), task.name
        oracle, wrong = scripts_of(task)
        assert oracle.steps != wrong.steps, task.name


def test_the_scripts_use_what_an_agent_sees(tasks: tuple[Task, ...]) -> None:
    for task in tasks:
        for script in scripts_of(task):
            for call in (call for step in script.steps for call in step.calls):
                assert call.name not in {"read_screen", "wait", "call_mcp_tool"}, task.name
                assert "ref" not in call.input, task.name
                assert call.name != "wait_for" or "text" not in call.input, task.name


def test_the_colours_of_the_scripts_are_in_the_task(tasks: tuple[Task, ...]) -> None:
    for task in tasks:
        files = (task.folder / "task.yaml", *task.folder.glob("pages/*"))
        shown = {
            BROWSER_BUTTON,
            *(one for file in files for one in COLOUR.findall(file.read_text())),
        }
        for script in scripts_of(task):
            assert set(COLOUR.findall(_blobs(script))) <= shown, task.name


def test_pages_load_nothing_from_elsewhere() -> None:
    pages = sorted(PACKAGED.glob("*/pages/*.html"))
    assert pages
    for page in pages:
        assert not IMPORTED.search(page.read_text()), page


def _blobs(script: Script) -> str:
    """Return the colours that a script looks for, as text."""
    patches = [step.needs.blob for step in script.steps if step.needs and step.needs.blob]
    for call in (call for step in script.steps for call in step.calls):
        patches += [value for value in call.input.values() if isinstance(value, Patch)]
    return " ".join("#" + bytes(patch.colour).hex() for patch in patches)
