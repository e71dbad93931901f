"""The rights of people to runs and desktops, as scopes of single requests. Pure.

An owner may do everything. A member sees, drives and stops own runs, and sees and stops those that
are shared; a watcher sees what is shared. A right is a scope that a token could have, too, so that
one set of rules decides about both.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from deskhand.vncbridge.auth.people import credential_of
from deskhand.vncbridge.auth.scopes import MEMBER, Need

EVERYONE = "*"
"""In place of a person's id: the run is shared with all people."""


@dataclass(frozen=True)
class SharedRun:
    """A chat, and who may see it."""

    chat_id: str
    owner: str
    """Id of the credential that made its root."""
    shared_with: frozenset[str]
    """Ids of people, or ``EVERYONE``."""

    def belongs_to(self, person_id: str) -> bool:
        """Return whether the person made it."""
        return self.owner == credential_of(person_id)

    def visible_to(self, person_id: str) -> bool:
        """Return whether the person may see it."""
        shared = not self.shared_with.isdisjoint((person_id, EVERYONE))
        return shared or self.belongs_to(person_id)


def granted_scopes(
    person_id: str, role_scopes: Collection[str], needed: Need, runs: Sequence[SharedRun]
) -> tuple[str, ...]:
    """Return the scopes of a person for the object of a request, which concerns these runs."""
    member = MEMBER in role_scopes
    if needed.kind == "desktop":
        return _of_desktop(person_id, needed.id, runs, member=member)
    scopes: list[str] = []
    for run in runs:
        if member and run.belongs_to(person_id):
            scopes.append(f"chat:{run.chat_id}")
        elif run.visible_to(person_id):
            scopes.append(f"run:{run.chat_id}:conversation")
            scopes += [f"run:{run.chat_id}:stop"] if member else []
    return tuple(scopes)


def _of_desktop(
    person_id: str, desktop_id: str, runs: Sequence[SharedRun], *, member: bool
) -> tuple[str, ...]:
    # Its screen shows all runs that work on it.
    if not runs or not all(run.visible_to(person_id) for run in runs):
        return ()
    drives = member and all(run.belongs_to(person_id) for run in runs)
    return (f"desktop:{desktop_id}:{'control' if drives else 'view'}",)
