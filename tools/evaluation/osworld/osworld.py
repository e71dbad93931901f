"""Reading of a task in OSWorld's JSON form. Pure.

An OSWorld task has an ``instruction``, a ``config`` of set-up steps and an ``evaluator``. The steps
become files, commands and what is opened; the evaluator becomes a Python checker, whose functions
are the module `checks`. OSWorld's machine has the user ``user``, so that ``/home/user`` stands for
the home directory of the agent.

OSWorld has many kinds of steps and checks, and most need its own virtual machine or the internet.
All that is not supported is collected while the file is read and named in one error, so that a
task is either imported whole or not at all.
"""

import json
import re
from pathlib import Path
from typing import Any

from deskhand.tools.evaluation.errors import BadTask
from deskhand.tools.evaluation.task import Task

from .evaluator import read_evaluator
from .gaps import BadOsworldTask, Gaps, mapping, text_of
from .setup_steps import read_config

NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
HOME = "/home/user"
IGNORED = (
    *("snapshot", "source", "trajectory", "related_apps", "fixed_ip"),
    *("possibility_of_env_change", "version"),
)
"""Keys that describe OSWorld's machine or the origin of the task."""
NEEDED = ("id", "instruction", "evaluator")


def read_osworld(text: str, file: str, folder: Path, checks: str) -> Task:
    """Return the task that a file contains; ``checks`` is the source of the module `checks`.

    Raises:
        BadTask: If the file is no task, or if something in it is not supported.
    """
    try:
        return _read(json.loads(text), file, folder, checks)
    except json.JSONDecodeError as error:
        raise BadTask(file, error.lineno, f"is not JSON: {error.msg}") from error
    except BadOsworldTask as error:
        raise BadTask(file, None, str(error)) from error


def _read(data: Any, file: str, folder: Path, checks: str) -> Task:
    top = mapping(data, "the task")
    gaps = Gaps()
    for key in top:
        if key not in (*NEEDED, *IGNORED, "config", "proxy"):
            gaps.add("the task", f"the key {key!r}")
    if top.get("proxy"):
        gaps.add("the task", "a proxy to the internet")
    name = text_of(top, "id", "the task").lower()
    if not NAME.fullmatch(name):
        raise BadOsworldTask("the task.id: must consist of letters, digits and hyphens")
    instruction = text_of(top, "instruction", "the task")
    setup = read_config(top.get("config", []), gaps)
    checker = read_evaluator(top.get("evaluator"), checks, gaps)
    if gaps.found:
        raise BadTask(file, None, f"not supported: {'; '.join(gaps.found)}")
    return Task(
        name=name,
        prompt=instruction.replace(HOME, "{home}"),
        checker=checker,
        folder=folder,
        description="Task of OSWorld.",
        tags=("osworld",),
        setup=setup,
    )
