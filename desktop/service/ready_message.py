"""The word of a desktop service that can be called now."""

import json
from dataclasses import dataclass

from deskhand.desktop.geometry import Size


@dataclass(frozen=True)
class ReadyMessage:
    """What whoever started a desktop service needs to use it."""

    url: str
    token: str
    pid: int
    display: str
    size: Size
    level: str
    version: str
    mode: str | None = None
    """``attach`` for a screen that exists already."""

    def line(self) -> str:
        """One line of JSON, for programs."""
        found = {
            "url": self.url,
            "token": self.token,
            "pid": self.pid,
            "display": self.display,
            "size": list(self.size),
            "level": self.level,
            "version": self.version,
        }
        return json.dumps(found if self.mode is None else {**found, "mode": self.mode})
