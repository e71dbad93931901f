"""Tables of what several control planes share beside their chats."""

from sqlalchemy.orm import Mapped, mapped_column

from .base import Base, Json


class DeploymentFactRow(Base):
    """A fact that all control planes of the database must agree on."""

    __tablename__ = "deployment_facts"

    name: Mapped[str] = mapped_column(primary_key=True)
    value: Mapped[str]


class OneTimeSecretRow(Base):
    """A ticket or a code of a sign-in link, as a digest."""

    __tablename__ = "one_time_secrets"

    digest: Mapped[str] = mapped_column(primary_key=True)
    kind: Mapped[str]
    ends_at: Mapped[float] = mapped_column(index=True)
    principal: Mapped[Json]
    via: Mapped[str]
    """Names of the credentials with which it ends, each between spaces."""


class BegunSignInRow(Base):
    """A sign-in by a provider that was used, by the digest of its state.

    Earlier versions keep the sign-ins that were begun here, with what follows them.
    """

    __tablename__ = "begun_sign_ins"

    digest: Mapped[str] = mapped_column(primary_key=True)
    ends_at: Mapped[float] = mapped_column(index=True)
    redirect_uri: Mapped[str]
    onward: Mapped[str]


class CredentialEndRow(Base):
    """A credential that has ended, or whose rights have changed, for the other control planes."""

    __tablename__ = "credential_ends"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    at: Mapped[float] = mapped_column(index=True)
    """Time of the database."""


class PlaneRow(Base):
    """A control plane that uses the database."""

    __tablename__ = "planes"

    id: Mapped[str] = mapped_column(primary_key=True)
    address: Mapped[str]
    """Address at which the others reach it."""
    beat_at: Mapped[float]
    """Time of the database at its newest heartbeat."""
