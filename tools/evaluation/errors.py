"""Errors of an evaluation, by the decision of the catcher.

- :class:`BadTask`: a file must be corrected; nothing is started.
- :class:`RunError`: one run has no result, which is no failure of the model. ``kind`` names its
  cause: the task's ``setup``, the ``desktop``, the ``checker`` or the ``model`` provider.
"""

from typing import Literal

ErrorKind = Literal["setup", "desktop", "checker", "model"]


class BadTask(Exception):
    """A task file that cannot be used."""

    def __init__(self, file: str, line: int | None, problem: str) -> None:
        super().__init__(file, line, problem)
        self.file = file
        self.line = line
        """Line of the mistake, from 1; None if it belongs to the whole file."""
        self.problem = problem

    def __str__(self) -> str:
        where = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{where}: {self.problem}"


class RunError(Exception):
    """A run that could not be judged."""

    def __init__(self, kind: ErrorKind, problem: str) -> None:
        super().__init__(kind, problem)
        self.kind: ErrorKind = kind
        self.problem = problem

    def __str__(self) -> str:
        return self.problem
