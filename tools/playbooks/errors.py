"""Errors of playbooks.

PlaybookError
├── BadPlaybook            the YAML is not a playbook; with the line
├── BadParameters          a replay was given unknown parameters, or lacks some
├── UnknownPlaybook        no playbook of that name
├── PlaybookExists         a playbook of that name exists already
└── NotReplayable          a run cannot be saved as a playbook; the text is the reason
"""

from collections.abc import Sequence


class PlaybookError(Exception):
    """Base of the errors of playbooks."""


class BadPlaybook(PlaybookError):
    """The YAML is not a playbook."""

    def __init__(self, text: str, line: int | None = None) -> None:
        """``line`` counts from 1; ``None`` if the error has no place."""
        super().__init__(text, line)
        self.text = text
        self.line = line

    def __str__(self) -> str:
        return self.text if self.line is None else f"line {self.line}: {self.text}"


class BadParameters(PlaybookError):
    """A replay was given unknown parameters, or lacks some; the text names them."""


class UnknownPlaybook(PlaybookError):
    """No playbook of that name."""

    def __init__(self, name: str, known: Sequence[str] = ()) -> None:
        super().__init__(name, tuple(known))
        self.name = name
        self.known = tuple(known)

    def __str__(self) -> str:
        rest = f"; there are {', '.join(self.known)}" if self.known else "; there are none"
        return f"there is no playbook {self.name!r}{rest}"


class PlaybookExists(PlaybookError):
    """A playbook of that name exists already."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name

    def __str__(self) -> str:
        return f"there is a playbook {self.name!r} already"


class NotReplayable(PlaybookError):
    """A run cannot be saved as a playbook; the text is the reason."""
