"""Result of one check of `deskhand doctor`."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Finding:
    """Result of one check; ``mend`` is the remedy."""

    name: str
    status: Literal["ok", "warn", "fail"]
    detail: str
    mend: str = ""
