"""The JSON of a desktop's status. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from deskhand.desktop.geometry import Size, model_size

Json = dict[str, Any]


@dataclass(frozen=True)
class StatusFacts:
    """The facts that the status of any screen is made of; times in seconds."""

    instance: str
    display: str
    size: Size
    uptime: float
    viewers: int
    lease: Json
    recording_ids: Sequence[str]
    since_last_action: float | None
    """None before the first action."""
    command_limits: Json
    level: str
    user: str
    protections: Sequence[Json]
    limits: Json | None
    """Limits of the whole desktop; None if nothing enforces any."""
    version: str
    egress: Json
    """The mode in force, its names and grants, and why it is ``open`` against a default."""
    disk: Json
    """Space of the disk of its files, and whether it is low."""
    speak: Sequence[str] = ()
    """Dialects that are on."""


@dataclass(frozen=True)
class XServerFacts:
    """The facts about the X server of a desktop that has its own."""

    pid: int | None
    """None while it does not run."""
    live_view: bool
    supervision: Json
    """State of the supervisor: restarts, the last failure, the next restart."""
    session: Json
    shared_memory: bool | None
    """None before there is a display."""


_CAPTURE = {True: "mit-shm", False: "core", None: None}


def own_display_status(facts: StatusFacts, xserver: XServerFacts) -> Json:
    """Return the status of a desktop on an X server of its own."""
    return {
        **_identity(facts),
        "xserver": {
            "running": xserver.pid is not None,
            "pid": xserver.pid,
            "live_view": xserver.live_view,
            **xserver.supervision,
        },
        "session": xserver.session,
        "capture": _CAPTURE[xserver.shared_memory],
        **_activity(facts),
    }


def attached_status(facts: StatusFacts) -> Json:
    """Return the status of a screen that existed before its service."""
    return {
        "mode": "attach",
        **_identity(facts),
        "capture": "mss and comparison",
        "input": "PyAutoGUI",
        **_activity(facts),
    }


def _identity(facts: StatusFacts) -> Json:
    return {
        "instance_id": facts.instance,
        "display": facts.display,
        "size": _size(facts.size),
        "model_size": _size(model_size(facts.size)),
        "uptime_s": round(facts.uptime, 3),
    }


def _activity(facts: StatusFacts) -> Json:
    idle = facts.since_last_action
    return {
        "watchers": facts.viewers,
        "lease": facts.lease,
        "recording_ids": list(facts.recording_ids),
        "last_activity_s": None if idle is None else round(idle, 3),
        "command_limits": facts.command_limits,
        "level": facts.level,
        "user": facts.user,
        "protections": list(facts.protections),
        "limits": facts.limits,
        "version": facts.version,
        "egress": facts.egress,
        "disk": facts.disk,
        "speak": list(facts.speak),
    }


def _size(size: Size) -> Json:
    return {"width": size.width, "height": size.height}
