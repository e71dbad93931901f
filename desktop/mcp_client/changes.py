"""Difference between the servers that are connected and those of the files. Pure."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from .server_entry import ServerEntry


@dataclass(frozen=True)
class ServerChanges:
    """What a reload does."""

    connect: tuple[ServerEntry, ...]
    """New or changed servers, and those to connect again."""
    close: tuple[str, ...]
    """Names of servers that are gone, or that are not approved in their present form."""


def changes(
    known: Mapping[str, ServerEntry],
    wanted: Iterable[ServerEntry],
    again: Collection[str] = (),
) -> ServerChanges:
    """Return the changes from the ``known`` servers to the ``wanted`` ones.

    ``again`` are names of unchanged servers whose connection failed or has ended.
    """
    entries = tuple(wanted)
    names = {entry.name for entry in entries}
    return ServerChanges(
        tuple(one for one in entries if known.get(one.name) != one or one.name in again),
        tuple(sorted(name for name in known if name not in names)),
    )
