"""The properties of a desktop that the API publishes."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class DesktopInfo:
    """A desktop, as published by the API."""

    id: str
    name: str
    status: Literal["ready", "lost"]
    chat_id: str | None
    created_at: float
    live_url: str
    level: str
    pid: int
    display: str
    size: tuple[int, int]
    has_display: bool = True
    """False until the display of a desktop that was started without one is used."""
    browser_warning: str = ""
    """Why its browser does not start, or has no sandbox; empty otherwise."""
    missing_protections: tuple[str, ...] = ()
    """Protections that it lacks, each with its reason."""
