"""The message by which a desktop service reports that it accepts requests."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from deskhand.desktop.geometry import Size


@dataclass(frozen=True)
class ReadyMessage:
    """The facts that the parent process needs to use the service."""

    url: str
    token: str
    pid: int
    display: str
    size: Size
    level: str
    version: str
    mode: str | None = None
    """``attach`` for a screen that existed before its service."""
    browser_warning: str = ""
    """Why the browser does not start, or has no sandbox; empty otherwise."""
    warnings: tuple[str, ...] = ()
    """Protections that are missing, each with its reason."""
    egress: Mapping[str, object] | None = None
    """The egress in force, as the status has it."""
    speak: tuple[str, ...] = ()
    """Dialects that are on."""

    def line(self) -> str:
        """Return the message as one line of JSON."""
        message: dict[str, object] = {
            "url": self.url,
            "token": self.token,
            "pid": self.pid,
            "display": self.display,
            "size": list(self.size),
            "level": self.level,
            "version": self.version,
        }
        if self.browser_warning:
            message["browser_warning"] = self.browser_warning
        if self.warnings:
            message["missing_protections"] = list(self.warnings)
        if self.egress is not None:
            message["egress"] = self.egress
        if self.speak:
            message["speak"] = list(self.speak)
        return json.dumps(message if self.mode is None else {**message, "mode": self.mode})
