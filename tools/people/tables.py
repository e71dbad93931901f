"""The tables of people and their invitations."""

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from deskhand.tools.store.tables.base import Base


class PersonRow(Base):
    """A person who may sign in."""

    __tablename__ = "people"

    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    folded_name: Mapped[str] = mapped_column(unique=True)
    """The name without differences of case, so that nobody can pass for another."""
    role: Mapped[str]
    identity: Mapped[str | None] = mapped_column(unique=True)
    """Issuer and subject of a person who signs in by OpenID Connect."""
    created_at: Mapped[float]
    created_by: Mapped[str]
    signed_in_at: Mapped[float | None]


class InvitationRow(Base):
    """A link that signs a person in once, by the digest of its code."""

    __tablename__ = "invitations"

    digest: Mapped[str] = mapped_column(primary_key=True)
    person_id: Mapped[str] = mapped_column(ForeignKey("people.id", ondelete="CASCADE"), index=True)
    created_at: Mapped[float]
    created_by: Mapped[str]
    ends_at: Mapped[float]
