"""A task for an agent: prompt, set-up, checker and limits. Pure values."""

from dataclasses import dataclass, field
from pathlib import Path

SETUP_COMMAND_SECONDS = 60.0
CHECKER_SECONDS = 30.0
READY_SECONDS = 30.0


@dataclass(frozen=True)
class PlacedFile:
    """A file that is written before the agent starts, or before the checker."""

    path: str
    """Relative to the working directory of the agent, or to the folder of the checker."""
    text: str | None = None
    source: str | None = None
    """File beside the task, in place of ``text``."""


@dataclass(frozen=True)
class SetupCommand:
    """A command that prepares the machine; it must end with the exit status 0."""

    run: str
    seconds: float = SETUP_COMMAND_SECONDS


@dataclass(frozen=True)
class Readiness:
    """What the screen must show before the agent starts."""

    window: str | None = None
    text: str | None = None
    url: str | None = None
    seconds: float = READY_SECONDS


@dataclass(frozen=True)
class Setup:
    """State of the machine before the agent starts."""

    serve: str | None = None
    """Folder beside the task with pages."""
    files: tuple[PlacedFile, ...] = ()
    commands: tuple[SetupCommand, ...] = ()
    open: tuple[str, ...] = ()
    """Addresses or files, opened in this order."""
    launch: tuple[str, ...] = ()
    """Names of applications or command lines, started in this order."""
    ready: Readiness | None = None


@dataclass(frozen=True)
class Checker:
    """Decides from the machine alone if the task is done: ``python`` or ``command``."""

    python: str | None = None
    command: tuple[str, ...] = ()
    files: tuple[PlacedFile, ...] = ()
    """Files that only the checker sees."""
    seconds: float = CHECKER_SECONDS
    line: int = 0
    """Line of the Python source in the file of the task, from 1."""


@dataclass(frozen=True)
class Limits:
    """Where a run ends at the latest."""

    steps: int = 40
    seconds: float = 300.0
    usd: float = 1.0


@dataclass(frozen=True)
class Human:
    """The person of a task: what the runner answers."""

    answer: str | None = None
    question: str = ""
    """What the agent is expected to ask; for readers."""
    approvals: str = "approve"
    """``approve`` or ``refuse``: the answer to every approval."""


@dataclass(frozen=True)
class Task:
    """One task."""

    name: str
    prompt: str
    checker: Checker
    folder: Path
    """Folder of its file."""
    description: str = ""
    tags: tuple[str, ...] = ()
    setup: Setup = field(default_factory=Setup)
    limits: Limits = field(default_factory=Limits)
    human: Human = field(default_factory=Human)
    oracle: str | None = None
    """Script of the scripted model that does the task."""
    wrong: str | None = None
    """Script that must not pass."""
