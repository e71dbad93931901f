"""People who work with one control plane, as rows of the database.

Without people there is one owner, who signs in by the token file or a printed link. `add` creates a
person, `invite` the code of a link that signs that person in once. Access control asks for each
request which role a person has now (`person`), therefore all people are in memory too; a change is
stored first. When a role changes or a share ends, the streams of the person end, and their pages
connect again with the rights that are left.
"""

import secrets
import unicodedata
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.store import chats
from deskhand.tools.store.database import Store
from deskhand.tools.store.errors import UnknownRow
from deskhand.tools.store.ownership import EVERYONE, RunShareRow
from deskhand.vncbridge.auth.people import PersonRole, SignedInPerson, person_of
from deskhand.vncbridge.auth.policy import Principal, digest
from deskhand.vncbridge.auth.scopes import Need

from . import rows
from .errors import BadName, IdentityTaken, NameTaken
from .rights import granted_scopes
from .tables import InvitationRow, PersonRow

INVITATION_SECONDS = 7 * 24 * 3600.0
LONGEST_NAME = 60


@dataclass(frozen=True)
class RegisteredPerson:
    """A person as the list shows one; times are unix times in seconds."""

    id: str
    name: str
    role: PersonRole
    created_at: float
    created_by: str
    signed_in_at: float | None = None
    """Time of the last sign-in."""
    identity: str | None = None
    """Issuer and subject of a person who signs in by OpenID Connect."""


async def _nothing() -> None:
    """Do nothing."""


class People:
    """The people of a control plane; ``now`` returns unix time."""

    def __init__(self, store: Store, now: Callable[[], float]) -> None:
        self._store = store
        self._now = now
        self._people: dict[str, RegisteredPerson] = {}
        self.changed: Callable[[], Awaitable[None]] = _nothing
        """Called after people were added, changed or removed."""

    async def load(self) -> None:
        """Read the people that an earlier control plane has stored."""
        found = await self._store.read(rows.everyone)
        self._people = {row.id: _person(row) for row in found}

    async def refresh(self) -> None:
        """Read the people again, whom another control plane may have changed."""
        await self.load()

    @property
    def all(self) -> tuple[RegisteredPerson, ...]:
        """All people, the oldest first."""
        return tuple(self._people.values())

    def get(self, person_id: str) -> RegisteredPerson:
        """Return a person; raises ``UnknownRow`` if there is none with the id."""
        found = self._people.get(person_id)
        if found is None:
            raise UnknownRow("person", person_id)
        return found

    def by_identity(self, identity: str) -> RegisteredPerson | None:
        """Return the person whom an issuer knows under a subject."""
        return next((one for one in self.all if one.identity == identity), None)

    def person(self, person_id: str) -> SignedInPerson | None:
        """Return a person as access control knows one; None for one who was removed."""
        found = self._people.get(person_id)
        return None if found is None else SignedInPerson(found.id, found.name, found.role)

    def is_owner(self, credential: str) -> bool:
        """Return whether a credential is no person's, or that of a person who is an owner."""
        person = self._people.get(person_of(credential))
        return not person_of(credential) or (person is not None and person.role == "owner")

    async def add(
        self, name: str, role: PersonRole, by: str, identity: str | None = None
    ) -> RegisteredPerson:
        """Add a person; ``by`` is the name of the credential that does it.

        Raises:
            BadName: If the name is not one for a person.
            NameTaken: If another person has it.
            IdentityTaken: If the person was added already, as by another control plane.
        """
        name = clean_name(name)
        folded = name.casefold()
        person = RegisteredPerson(
            secrets.token_hex(8), name, role, self._now(), by, identity=identity
        )

        async def write(session: AsyncSession) -> None:
            known = await rows.everyone(session)
            if identity is not None and any(row.identity == identity for row in known):
                raise IdentityTaken
            if any(row.folded_name == folded for row in known):
                raise NameTaken(name)
            session.add(PersonRow(folded_name=folded, **vars(person)))
            await session.flush()

        await self._store.write(write)
        self._people[person.id] = person
        await self.changed()
        return person

    async def set_role(self, person_id: str, role: PersonRole) -> RegisteredPerson:
        """Give a person another role."""

        async def write(session: AsyncSession) -> None:
            (await rows.get(session, person_id)).role = role

        await self._store.write(write)
        self._people[person_id] = replace(self.get(person_id), role=role)
        await self.changed()
        return self._people[person_id]

    async def remove(self, person_id: str) -> None:
        """Remove a person, who cannot sign in any more; the runs stay."""
        await self._store.write(lambda session: rows.remove(session, person_id))
        self._people.pop(person_id, None)
        await self.changed()

    async def invite(self, person_id: str, by: str) -> tuple[str, float]:
        """Return a code that signs a person in once, and its expiry (unix time)."""
        self.get(person_id)
        code, now = f"dhi_{secrets.token_urlsafe(24)}", self._now()
        row = InvitationRow(
            digest=digest(code),
            person_id=person_id,
            created_at=now,
            created_by=by,
            ends_at=now + INVITATION_SECONDS,
        )

        async def write(session: AsyncSession) -> None:
            session.add(row)

        await self._store.write(write)
        return code, now + INVITATION_SECONDS

    async def redeem(self, code_digest: str) -> str:
        """Use up an invitation; return the id of its person, empty if it is not valid."""
        now = self._now()
        person_id = await self._store.write(lambda s: rows.redeem(s, code_digest, now))
        if person_id in self._people:
            self._people[person_id] = replace(self._people[person_id], signed_in_at=now)
        return person_id

    async def granted(self, principal: Principal, needed: Need) -> tuple[str, ...]:
        """Return the scopes of a person for the object of a request, beside those of the role."""
        found = await self._store.read(lambda s: rows.runs(s, needed.kind, needed.id))
        return granted_scopes(principal.person, principal.scopes, needed, found)

    async def owner_name(self, chat_id: str) -> str:
        """Return the name of the person who started a run; empty for runs of others."""
        found = await self._store.read(lambda s: rows.runs(s, "chat", chat_id))
        person_id = person_of(found[0].owner) if found else ""
        person = self._people.get(person_id)
        return person.name if person is not None else "A removed person" if person_id else ""

    async def shared_with(self, chat_id: str) -> tuple[str, ...]:
        """Return the ids of the people with whom a run is shared; ``*`` stands for everyone.

        Raises:
            UnknownRow: If the run does not exist.
        """
        return tuple(await self._store.read(lambda s: rows.shared_with(s, chat_id)))

    async def share(self, chat_id: str, person_id: str, by: str) -> None:
        """Share a run with a person, or with everyone (``*``)."""
        if person_id != EVERYONE:
            self.get(person_id)

        async def write(session: AsyncSession) -> None:
            await chats.get(session, chat_id)
            row = RunShareRow(
                chat_id=chat_id, person_id=person_id, created_at=self._now(), created_by=by
            )
            await session.merge(row)

        await self._store.write(write)

    async def unshare(self, chat_id: str, person_id: str) -> None:
        """End the share of a run; raises ``UnknownRow`` if there is none."""

        async def write(session: AsyncSession) -> None:
            row = await session.get(RunShareRow, (chat_id, person_id))
            if row is None:
                raise UnknownRow("share", person_id)
            await session.delete(row)

        await self._store.write(write)


def clean_name(name: str) -> str:
    """Return a name in its normal form, without spaces around it.

    Raises:
        BadName: If it is not one for a person.
    """
    clean = " ".join(unicodedata.normalize("NFKC", name).split())
    if not clean.isprintable() or not 0 < len(clean) <= LONGEST_NAME:
        raise BadName
    return clean


def _person(row: PersonRow) -> RegisteredPerson:
    return RegisteredPerson(
        row.id,
        row.name,
        row.role,  # type: ignore[arg-type]
        row.created_at,
        row.created_by,
        row.signed_in_at,
        row.identity,
    )
