"""Values for the field that was admitted to receive a text."""

from dataclasses import dataclass


@dataclass(frozen=True)
class AdmittedField:
    """A widget with the keyboard focus, as AT-SPI reported it."""

    widget: tuple[str, str] | None = None
    """Bus name and object path; ``None`` if no application reports a widget, as terminals do."""
    host: str = ""
    """Host of the page that contains it; empty outside of web pages."""


@dataclass(frozen=True)
class FieldState:
    """State of an admitted field."""

    has_focus: bool
    length: int | None = None
    """Number of its characters; ``None`` if it is not known."""
