"""One user of a desktop. Pure.

It is a named tuple, because init needs it: the module ``dataclasses`` would cost it 1.5 MiB.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, Self


class DesktopUser(NamedTuple):
    """Name, ids and supplementary groups of a user."""

    name: str
    uid: int
    gid: int
    groups: tuple[int, ...] = ()

    @classmethod
    def parse(cls, fields: Sequence[Any]) -> Self:
        """Return the user of a JSON list."""
        name, uid, gid, groups = fields
        return cls(name, uid, gid, tuple(groups))
