"""Result of one check of `deskhand doctor`."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Finding:
    """Result of one check, with the remedy for what it found; empty if there is none."""

    name: str
    status: Literal["ok", "warn", "fail"]
    detail: str
    remedy: str = ""
