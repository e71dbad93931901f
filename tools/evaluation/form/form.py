"""Strict reading of a task's YAML. Pure.

The reader works on the nodes of the YAML document, which know their lines. Every key must be known
and every value of the right type; an error names file, line and the nearest known key. Keys that
appear twice are refused, as YAML would keep the last one silently.
"""

import re
from pathlib import Path

import yaml

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

from .nodes import DocumentReader, nearest

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


def read_task(text: str, file: str, folder: Path) -> Task:
    """Return the task that a file contains; ``file`` is its name in errors.

    Raises:
        BadTask: At the first mistake.
    """
    return _TaskReader(DocumentReader(text, file), folder).task()


class _TaskReader:
    def __init__(self, document: DocumentReader, folder: Path) -> None:
        self._document = document
        self._folder = folder

    def task(self) -> Task:
        fields = self._document.fields(self._document.root, "the task", TASK_KEYS)
        name = fields.needed("name", self._document.text)
        if not NAME.fullmatch(name):
            raise fields.bad("name", "must consist of small letters, digits and hyphens")
        return Task(
            name=name,
            prompt=fields.needed("prompt", self._document.text),
            checker=fields.needed("checker", self._checker),
            folder=self._folder,
            description=fields.optional("description", self._document.text, ""),
            tags=fields.optional("tags", self._tags, ()),
            setup=fields.optional("setup", self._setup, Setup()),
            limits=fields.optional("limits", self._limits, Limits()),
            human=fields.optional("human", self._human, Human()),
            oracle=fields.optional("oracle", self._relative, None),
            wrong=fields.optional("wrong", self._relative, None),
        )

    def _tags(self, node: yaml.Node) -> tuple[str, ...]:
        tags = self._document.each(node, self._document.text)
        for item, tag in zip(self._document.items(node), tags, strict=True):
            if not TAG.fullmatch(tag):
                raise self._document.bad(item, f"{tag!r} is no tag: small letters, digits, hyphens")
        return tags

    def _setup(self, node: yaml.Node) -> Setup:
        fields = self._document.fields(node, "setup", SETUP_KEYS)
        return Setup(
            serve=fields.optional("serve", self._relative, None),
            files=fields.optional("files", self._files, ()),
            commands=fields.optional("commands", self._commands, ()),
            open=fields.optional("open", self._addresses, ()),
            launch=fields.optional("launch", self._one_or_more, ()),
            ready=fields.optional("ready", self._ready, None),
        )

    def _files(self, node: yaml.Node) -> tuple[PlacedFile, ...]:
        return tuple(
            self._file(key, value) for key, value in self._document.pairs(node, "files").items()
        )

    def _file(self, path: str, node: yaml.Node) -> PlacedFile:
        if not is_below(path):
            raise self._document.bad(node, f"the path {path!r} must be relative, without '..'")
        if isinstance(node, yaml.MappingNode):
            fields = self._document.fields(node, f"the file {path!r}", ("from",))
            return PlacedFile(path, source=fields.needed("from", self._relative))
        return PlacedFile(path, text=self._document.content(node))

    def _commands(self, node: yaml.Node) -> tuple[SetupCommand, ...]:
        return self._document.each(node, self._command)

    def _command(self, node: yaml.Node) -> SetupCommand:
        if not isinstance(node, yaml.MappingNode):
            return SetupCommand(self._document.text(node))
        fields = self._document.fields(node, "a command", ("run", "seconds"))
        usual = SetupCommand("").seconds
        run = fields.needed("run", self._document.text)
        return SetupCommand(run, fields.optional("seconds", self._document.positive, usual))

    def _ready(self, node: yaml.Node) -> Readiness:
        fields = self._document.fields(node, "ready", READY_KEYS)
        ready = Readiness(
            window=fields.optional("window", self._document.text, None),
            text=fields.optional("text", self._document.text, None),
            url=fields.optional("url", self._document.text, None),
            seconds=fields.optional("seconds", self._document.positive, Readiness().seconds),
        )
        if ready.window is ready.text is ready.url is None:
            raise self._document.bad(node, "ready needs window, text or url")
        return ready

    def _checker(self, node: yaml.Node) -> Checker:
        fields = self._document.fields(node, "checker", CHECKER_KEYS)
        python = fields.optional("python", self._document.text, None)
        command = fields.optional("command", self._argv, ())
        if (python is None) == (not command):
            raise self._document.bad(node, "checker needs either python or command")
        line = 0
        if python is not None:
            line = fields.line("python")
            self._check_python(python, node, line)
        return Checker(
            python,
            command,
            fields.optional("files", self._files, ()),
            fields.optional("seconds", self._document.positive, Checker().seconds),
            line,
        )

    def _check_python(self, source: str, node: yaml.Node, line: int) -> None:
        try:
            # Only parsed here: the process of the checker runs it.
            compile(source, "checker", "exec")
        except (SyntaxError, ValueError) as error:
            # Python 3.11 raises ``ValueError`` for NUL.
            number, why = getattr(error, "lineno", 1), getattr(error, "msg", str(error))
            at = f"line {number} of checker.python"
            raise self._document.bad_at(line, f"{at} is not Python: {why}") from error
        if not re.search(r"^def check\(", source, re.MULTILINE):
            raise self._document.bad_at(line, "checker.python must define check(machine)")

    def _argv(self, node: yaml.Node) -> tuple[str, ...]:
        if isinstance(node, yaml.ScalarNode):
            return ("sh", "-c", self._document.text(node))
        return self._document.each(node, self._document.text)

    def _limits(self, node: yaml.Node) -> Limits:
        fields = self._document.fields(node, "limits", LIMIT_KEYS)
        usual = Limits()
        return Limits(
            fields.optional("steps", self._document.count, usual.steps),
            fields.optional("seconds", self._document.positive, usual.seconds),
            fields.optional("usd", self._document.positive, usual.usd),
        )

    def _human(self, node: yaml.Node) -> Human:
        fields = self._document.fields(node, "human", HUMAN_KEYS)
        approvals = fields.optional("approvals", self._document.text, APPROVALS[0])
        if approvals not in APPROVALS:
            raise fields.bad("approvals", f"must be one of {', '.join(APPROVALS)}")
        return Human(
            fields.optional("answer", self._document.text, None),
            fields.optional("question", self._document.text, ""),
            approvals,
        )

    def _relative(self, node: yaml.Node) -> str:
        path = self._document.text(node)
        if not is_below(path):
            raise self._document.bad(node, f"the path {path!r} must be relative, without '..'")
        return path

    def _addresses(self, node: yaml.Node) -> tuple[str, ...]:
        found = self._one_or_more(node)
        for address in found:
            for place in PLACE.findall(address):
                if place not in PLACES:
                    problem = f"{{{place}}} is no place; {nearest(place, PLACES)}"
                    raise self._document.bad(node, problem)
        return found

    def _one_or_more(self, node: yaml.Node) -> tuple[str, ...]:
        if isinstance(node, yaml.SequenceNode):
            return self._document.each(node, self._document.text)
        return (self._document.text(node),)


def is_below(path: str) -> bool:
    """Return whether a path stays below the folder that it is relative to."""
    parts = Path(path).parts
    return bool(parts) and not Path(path).is_absolute() and ".." not in parts and "\0" not in path
