"""Value for the window with the keyboard focus."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Focused:
    """The window with the keyboard focus."""

    id: int
    title: str
