"""The window that has the keyboard, as a value."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Focused:
    """The window that has the keyboard."""

    id: int
    title: str
