"""Strict reading of a task's YAML. Pure.

The reader works on the nodes of the YAML document, which know their lines. Every key must be known
and every value of the right type; an error names file, line and the nearest known key. Keys that
appear twice are refused, as YAML would keep the last one silently.
"""

import re
from pathlib import Path

import yaml

from deskhand.tools.documents.documents import document, fail, nearest
from deskhand.tools.documents.errors import BadDocument
from deskhand.tools.documents.fields import DocumentFields, pairs
from deskhand.tools.documents.values import content, count, each, items, positive, text
from deskhand.tools.evaluation.errors import BadTask
from deskhand.tools.evaluation.task import (
    Checker,
    Human,
    Limits,
    PlacedFile,
    Readiness,
    Setup,
    SetupCommand,
    Task,
)

NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
TAG = re.compile(r"[a-z0-9][a-z0-9 -]{0,39}")

PLACE = re.compile(r"\{(\w+)\}")
PLACES = ("base_url", "workdir", "home")

TASK_KEYS = (
    *("name", "description", "prompt", "tags", "setup", "checker", "limits", "human"),
    *("oracle", "wrong"),
)
SETUP_KEYS = ("serve", "files", "commands", "open", "launch", "ready")
READY_KEYS = ("window", "text", "url", "seconds")
CHECKER_KEYS = ("python", "command", "files", "seconds")
LIMIT_KEYS = ("steps", "seconds", "usd")
HUMAN_KEYS = ("question", "answer", "approvals")
APPROVALS = ("approve", "refuse")


def read_task(source: str, file: str, folder: Path) -> Task:
    """Return the task that a file contains; ``file`` is its name in errors.

    Raises:
        BadTask: At the first mistake.
    """
    try:
        root = document(source)
        if root is None:
            raise BadTask(file, None, "is empty")
        return _task(root, folder)
    except BadDocument as error:
        raise BadTask(file, error.line, error.problem) from error


def _task(root: yaml.Node, folder: Path) -> Task:
    fields = DocumentFields(root, "the task", TASK_KEYS)
    name = fields.needed("name", text)
    if not NAME.fullmatch(name):
        fields.fail("name", "must consist of small letters, digits and hyphens")
    return Task(
        name=name,
        prompt=fields.needed("prompt", text),
        checker=fields.needed("checker", _checker),
        folder=folder,
        description=fields.optional("description", text, ""),
        tags=fields.optional("tags", _tags, ()),
        setup=fields.optional("setup", _setup, Setup()),
        limits=fields.optional("limits", _limits, Limits()),
        human=fields.optional("human", _human, Human()),
        oracle=fields.optional("oracle", _relative, None),
        wrong=fields.optional("wrong", _relative, None),
    )


def _tags(node: yaml.Node) -> tuple[str, ...]:
    tags = each(node, text)
    for item, tag in zip(items(node), tags, strict=True):
        if not TAG.fullmatch(tag):
            fail(item, f"{tag!r} is no tag: small letters, digits, hyphens")
    return tags


def _setup(node: yaml.Node) -> Setup:
    fields = DocumentFields(node, "setup", SETUP_KEYS)
    return Setup(
        serve=fields.optional("serve", _relative, None),
        files=fields.optional("files", _files, ()),
        commands=fields.optional("commands", _commands, ()),
        open=fields.optional("open", _addresses, ()),
        launch=fields.optional("launch", _one_or_more, ()),
        ready=fields.optional("ready", _ready, None),
    )


def _files(node: yaml.Node) -> tuple[PlacedFile, ...]:
    return tuple(_file(key, value) for key, value in pairs(node, "files").items())


def _file(path: str, node: yaml.Node) -> PlacedFile:
    if not is_below(path):
        fail(node, f"the path {path!r} must be relative, without '..'")
    if isinstance(node, yaml.MappingNode):
        fields = DocumentFields(node, f"the file {path!r}", ("from",))
        return PlacedFile(path, source=fields.needed("from", _relative))
    return PlacedFile(path, text=content(node))


def _commands(node: yaml.Node) -> tuple[SetupCommand, ...]:
    return each(node, _command)


def _command(node: yaml.Node) -> SetupCommand:
    if not isinstance(node, yaml.MappingNode):
        return SetupCommand(text(node))
    fields = DocumentFields(node, "a command", ("run", "seconds"))
    usual = SetupCommand("").seconds
    run = fields.needed("run", text)
    return SetupCommand(run, fields.optional("seconds", positive, usual))


def _ready(node: yaml.Node) -> Readiness:
    fields = DocumentFields(node, "ready", READY_KEYS)
    ready = Readiness(
        window=fields.optional("window", text, None),
        text=fields.optional("text", text, None),
        url=fields.optional("url", text, None),
        seconds=fields.optional("seconds", positive, Readiness().seconds),
    )
    if ready.window is ready.text is ready.url is None:
        fail(node, "ready needs window, text or url")
    return ready


def _checker(node: yaml.Node) -> Checker:
    fields = DocumentFields(node, "checker", CHECKER_KEYS)
    python = fields.optional("python", text, None)
    command = fields.optional("command", _argv, ())
    if (python is None) == (not command):
        fail(node, "checker needs either python or command")
    line = 0
    if python is not None:
        line = fields.line("python")
        _check_python(python, node, line)
    return Checker(
        python,
        command,
        fields.optional("files", _files, ()),
        fields.optional("seconds", positive, Checker().seconds),
        line,
    )


def _check_python(source: str, node: yaml.Node, line: int) -> None:
    try:
        # Only parsed here: the process of the checker runs it.
        compile(source, "checker", "exec")
    except (SyntaxError, ValueError) as error:
        # Python 3.11 raises ``ValueError`` for NUL.
        number, why = getattr(error, "lineno", 1), getattr(error, "msg", str(error))
        at = f"line {number} of checker.python"
        raise BadDocument(f"{at} is not Python: {why}", line) from error
    if not re.search(r"^def check\(", source, re.MULTILINE):
        raise BadDocument("checker.python must define check(machine)", line)


def _argv(node: yaml.Node) -> tuple[str, ...]:
    if isinstance(node, yaml.ScalarNode):
        return ("sh", "-c", text(node))
    return each(node, text)


def _limits(node: yaml.Node) -> Limits:
    fields = DocumentFields(node, "limits", LIMIT_KEYS)
    usual = Limits()
    return Limits(
        fields.optional("steps", count, usual.steps),
        fields.optional("seconds", positive, usual.seconds),
        fields.optional("usd", positive, usual.usd),
    )


def _human(node: yaml.Node) -> Human:
    fields = DocumentFields(node, "human", HUMAN_KEYS)
    approvals = fields.optional("approvals", text, APPROVALS[0])
    if approvals not in APPROVALS:
        fields.fail("approvals", f"must be one of {', '.join(APPROVALS)}")
    return Human(
        fields.optional("answer", text, None),
        fields.optional("question", text, ""),
        approvals,
    )


def _relative(node: yaml.Node) -> str:
    path = text(node)
    if not is_below(path):
        fail(node, f"the path {path!r} must be relative, without '..'")
    return path


def _addresses(node: yaml.Node) -> tuple[str, ...]:
    found = _one_or_more(node)
    for address in found:
        for place in PLACE.findall(address):
            if place not in PLACES:
                problem = f"{{{place}}} is no place; {nearest(place, PLACES)}"
                fail(node, problem)
    return found


def _one_or_more(node: yaml.Node) -> tuple[str, ...]:
    if isinstance(node, yaml.SequenceNode):
        return each(node, text)
    return (text(node),)


def is_below(path: str) -> bool:
    """Return whether a path stays below the folder that it is relative to."""
    parts = Path(path).parts
    return bool(parts) and not Path(path).is_absolute() and ".." not in parts and "\0" not in path
