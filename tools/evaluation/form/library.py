"""Tasks on disk: the packaged ones, and those of a file or folder that a person names."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from deskhand.tools.agents.scripted.script.library import parse_script
from deskhand.tools.agents.scripted.script.script import BadScript, Script
from deskhand.tools.documents.documents import nearest
from deskhand.tools.evaluation.errors import BadTask
from deskhand.tools.evaluation.osworld import checks as osworld_checks
from deskhand.tools.evaluation.osworld.osworld import read_osworld
from deskhand.tools.evaluation.places import filled
from deskhand.tools.evaluation.task import Task

from .form import read_task

PACKAGED = Path(__file__).parent.parent / "tasks"
TASK_FILE = "task.yaml"
OSWORLD_SUFFIX = ".json"
CHECKS = Path(osworld_checks.__file__)
"""Source of the checks of imported OSWorld tasks; the process of the checker runs it."""


def find_tasks(names: Sequence[str], tags: Sequence[str] = ()) -> tuple[Task, ...]:
    """Return the tasks that ``names`` and ``tags`` select, in order of their names.

    A name is that of a packaged task, a YAML file, a JSON file of OSWorld, a folder with a
    ``task.yaml``, or a folder of such folders. Without names all packaged tasks are meant; of
    several tags one suffices.

    Raises:
        BadTask: If a file has a mistake, or a name or tag selects nothing.
    """
    files = [file for name in names for file in _files(name)] if names else _below(PACKAGED)
    tasks: dict[str, Task] = {}
    for file in dict.fromkeys(files):
        task = load_task(file)
        if task.name in tasks:
            raise BadTask(str(file), None, f"another task has the name {task.name!r} too")
        tasks[task.name] = task
    known = sorted({tag for task in tasks.values() for tag in task.tags})
    for tag in tags:
        if tag not in known:
            raise BadTask("--tag", None, f"no task has the tag {tag!r}; {nearest(tag, known)}")
    chosen = [task for task in tasks.values() if not tags or set(tags) & set(task.tags)]
    return tuple(sorted(chosen, key=lambda task: task.name))


def load_task(file: Path) -> Task:
    """Read a task and check that all files that it names exist.

    Raises:
        BadTask: At the first mistake.
    """
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadTask(str(file), None, f"cannot be read: {_reason(error)}") from error
    if file.suffix == OSWORLD_SUFFIX:
        checks = CHECKS.read_text(encoding="utf-8")
        task = read_osworld(text, _short(file), file.parent, checks)
    else:
        task = read_task(text, _short(file), file.parent)
    for name in _named_files(task):
        if not (task.folder / name).is_file():
            raise BadTask(_short(file), None, f"{name} is not a file beside it")
    serve = task.setup.serve
    if serve is not None and not (task.folder / serve).is_dir():
        raise BadTask(_short(file), None, f"serve: {serve} is not a folder beside it")
    for script in (task.oracle, task.wrong):
        if script is not None:
            load_task_script(task, script, task.name, {})
    return task


def load_task_script(task: Task, file: str, name: str, places: Mapping[str, str]) -> Script:
    """Return a script of a task under ``name``, with its places filled in.

    Raises:
        BadTask: If it is no script.
    """
    path = task.folder / file
    try:
        return parse_script(name, filled(path.read_text(encoding="utf-8"), places))
    except BadScript as error:
        raise BadTask(_short(path), None, f"{error.where}: {error.problem}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise BadTask(_short(path), None, f"cannot be read: {_reason(error)}") from error


def _files(name: str) -> list[Path]:
    path = Path(name)
    if path.is_file():
        return [path]
    if path.is_dir():
        found = _below(path)
        if not found:
            raise BadTask(name, None, f"no {TASK_FILE} is in this folder or its folders")
        return found
    packaged = PACKAGED / name / TASK_FILE
    if "/" not in name and packaged.is_file():
        return [packaged]
    known = [file.parent.name for file in _below(PACKAGED)]
    raise BadTask(name, None, f"is no file, folder or packaged task; {nearest(name, known)}")


def _below(folder: Path) -> list[Path]:
    if (folder / TASK_FILE).is_file():
        return [folder / TASK_FILE]
    return sorted(folder.glob(f"*/{TASK_FILE}"))


def _named_files(task: Task) -> list[str]:
    placed = (*task.setup.files, *task.checker.files)
    named = [file.source for file in placed] + [task.oracle, task.wrong]
    return [name for name in named if name is not None]


def _short(file: Path) -> str:
    """Return a path with the folder above it only: the rest is the same for all tasks."""
    return f"{file.parent.name}/{file.name}"


def _reason(error: OSError | UnicodeDecodeError) -> str:
    return (error.strerror or "") if isinstance(error, OSError) else "it is not UTF-8"
