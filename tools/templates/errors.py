"""Errors of templates.

TemplateError
├── BadTemplate       the file is not that of a template
└── UnknownTemplate   there is no such file
"""

from collections.abc import Sequence


class TemplateError(Exception):
    """Base of the errors; the text is the reason."""


class BadTemplate(TemplateError):
    """The file is not that of a template; the text names the file and the key."""


class UnknownTemplate(TemplateError):
    """There is no template of this name."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        super().__init__(name, known)
        self.name = name
        self.known = known

    def __str__(self) -> str:
        there = f"there are {', '.join(self.known)}" if self.known else "there are none"
        return f"no template has the name {self.name[:100]!r}; {there}"
