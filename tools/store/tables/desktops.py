"""Tables of desktops on nodes, and of the nodes."""

from sqlalchemy import JSON, Index
from sqlalchemy.orm import Mapped, mapped_column

from .base import Base, Json


class DesktopRow(Base):
    """A desktop on a node, from its order to its end.

    ``wanted`` -> ``starting`` -> ``ready`` -> ``ending`` -> ``ended``; ``refused`` if it could not
    be started, ``lost`` if its node is gone or the desktop has ended by itself.
    """

    __tablename__ = "desktops"
    __table_args__ = (
        Index("ix_desktops_state", "state", "created_at"),
        Index("ix_desktops_chat_id", "chat_id"),
    )

    id: Mapped[str] = mapped_column(primary_key=True)
    chat_id: Mapped[str | None]
    state: Mapped[str]
    node: Mapped[str] = mapped_column(default="")
    """Name of its node, from ``starting`` on."""
    address: Mapped[str] = mapped_column(default="")
    """``HOST:PORT`` of the node's gate."""
    generation: Mapped[int] = mapped_column(default=0)
    """Raised with each attempt to start it."""
    reason: Mapped[str] = mapped_column(default="")
    """Why it waits, was refused or was lost; a sentence for people."""
    full_nodes: Mapped[list[str] | None] = mapped_column(JSON(none_as_null=True))
    """While it waits: the nodes that would take it if a desktop ended there."""
    wanted: Mapped[Json]
    """The order, see ``deskhand.tools.fleet.desktop_order``."""
    facts: Mapped[Json | None] = mapped_column(JSON(none_as_null=True))
    """The desktop as its node describes it, from ``ready`` on."""
    created_at: Mapped[float]
    changed_at: Mapped[float]
    """Time of the database at the last change of the state."""


class NodeRow(Base):
    """A node, as the placer has seen it last."""

    __tablename__ = "nodes"

    name: Mapped[str] = mapped_column(primary_key=True)
    address: Mapped[str]
    """``HOST:PORT`` of its gate."""
    public_url: Mapped[str] = mapped_column(default="")
    """``wss://…`` at which people reach it; empty if they do not."""
    version: Mapped[str] = mapped_column(default="")
    places: Mapped[int] = mapped_column(default=0)
    draining: Mapped[bool] = mapped_column(default=False)
    """True if it gets no new desktops; an operator decides."""
    failures: Mapped[int] = mapped_column(default=0)
    """Starts that have failed in a row."""
    refused_until: Mapped[float] = mapped_column(default=0.0)
    """Time of the database until which it gets no desktops, after too many failures."""
    reason: Mapped[str] = mapped_column(default="")
    """Why it gets no desktops; empty if it does."""
    seen_at: Mapped[float]
    """Time of the database at which its gate has answered last."""
