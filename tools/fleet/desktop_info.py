"""A desktop as the API shows it, made from its entry in the registry."""

from dataclasses import dataclass
from typing import Any, Literal

from .registry import RegisteredDesktop, is_alive


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
    egress: dict[str, Any] | None = None
    """The egress in force, as its status has it; None from services before there was one."""
    speak: tuple[str, ...] = ()
    """Dialects that are on."""
    profile: str = ""
    """Name of the profile of its browser; empty for one that ends with it."""


def info_of(entry: RegisteredDesktop, live_url: str) -> DesktopInfo:
    """Return the desktop of an entry; it is lost if its process has ended."""
    return DesktopInfo(
        id=entry.id,
        name=entry.name,
        status="ready" if is_alive(entry) else "lost",
        chat_id=entry.chat_id,
        created_at=entry.created_at,
        live_url=live_url,
        level=entry.level,
        pid=entry.pid,
        display=entry.display,
        size=(entry.width, entry.height),
        has_display=entry.has_display,
        browser_warning=entry.browser_warning,
        missing_protections=tuple(entry.missing_protections),
        egress=entry.egress,
        speak=tuple(entry.speak),
        profile=entry.profile,
    )
