"""People who sign in, and their roles. Pure.

Each session of a browser belongs to a token, to a person, or to the owner without a name. A
person's rights are those of the present role: the session contains the person's id only.
"""

from dataclasses import dataclass
from typing import Literal, Protocol, cast, get_args

from .scopes import ADMIN, MEMBER, WATCHER

PersonRole = Literal["owner", "member", "watcher"]
ROLES = cast("tuple[PersonRole, ...]", get_args(PersonRole))
_PREFIX = "person:"
_SCOPES: dict[PersonRole, tuple[str, ...]] = {
    "owner": (ADMIN,),
    "member": (MEMBER,),
    "watcher": (WATCHER,),
}


@dataclass(frozen=True)
class SignedInPerson:
    """A person as access control knows one."""

    id: str
    name: str
    role: PersonRole

    @property
    def scopes(self) -> tuple[str, ...]:
        """Scopes of the role, without those for single runs."""
        return _SCOPES[self.role]


class PeopleDirectory(Protocol):
    """Port to the people who may sign in."""

    def person(self, person_id: str) -> SignedInPerson | None:
        """Return a person; None for one who was removed."""

    async def redeem(self, code_digest: str) -> str:
        """Use up an invitation; return the id of its person, empty if it is not valid."""

    async def refresh(self) -> None:
        """Read the people again, whom another service may have changed."""


class NoPeople:
    """The directory of a service without people."""

    def person(self, person_id: str) -> SignedInPerson | None:
        """Return None."""
        return None

    async def redeem(self, code_digest: str) -> str:
        """Return an empty id."""
        return ""

    async def refresh(self) -> None:
        """Read nothing."""


def credential_of(person_id: str) -> str:
    """Return the id by which sessions and chats name a person as their credential."""
    return f"{_PREFIX}{person_id}"


def person_of(credential: str) -> str:
    """Return the id of the person that a credential is; empty for another credential."""
    return credential.removeprefix(_PREFIX) if credential.startswith(_PREFIX) else ""
