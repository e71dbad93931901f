"""Answer of one of the service's own routes. Pure."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from deskhand.desktop.errors import DesktopRefused


@dataclass(frozen=True)
class Reply:
    """A whole answer; the names of its headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def media_type(self) -> str:
        """Type of the body without its parameters; empty if there is none."""
        return self.headers.get("content-type", "").partition(";")[0].strip() if self.body else ""

    def json(self) -> Any:
        """Return the value of a JSON body."""
        return json.loads(self.body)

    def refusal(self) -> DesktopRefused:
        """Return the error that an answer with an error status reports."""
        try:
            found = json.loads(self.body)
        except ValueError:
            found = None
        if not isinstance(found, dict):
            return DesktopRefused(self.status, f"The desktop answered with status {self.status}.")
        texts = (str(found.get(name) or "") for name in ("message", "detail", "code"))
        return DesktopRefused(self.status, *texts)
