"""The table of held pictures: bytes that the bucket does not have in a pack yet.

Only control planes that share a database and a bucket write it: each can then read the pictures
of the others, and pack those of one that has ended.
"""

from collections.abc import Collection

from sqlalchemy import Connection, ForeignKey, delete, insert, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Mapped, mapped_column

from .base import Base


class HeldPictureRow(Base):
    """The bytes of a picture of a step, from its row on until a pack has them."""

    __tablename__ = "held_pictures"

    file_id: Mapped[str] = mapped_column(
        ForeignKey("files.id", ondelete="CASCADE"), primary_key=True
    )
    plane: Mapped[str]
    """The control plane that packs it: it has the picture on its disk, or will read it here."""
    data: Mapped[bytes]


_HOLDING = insert(HeldPictureRow.__table__)  # type: ignore[arg-type]


def hold(connection: Connection, file_id: str, plane: str, data: bytes) -> None:
    """Insert the bytes of a picture, after the row of its file."""
    connection.execute(_HOLDING, {"file_id": file_id, "plane": plane, "data": data})


async def held_bytes(session: AsyncSession, file_id: str) -> bytes | None:
    """Return the bytes of a picture that is held; ``None`` for all other files."""
    query = select(HeldPictureRow.data).where(HeldPictureRow.file_id == file_id)
    return await session.scalar(query)


async def held_ids(session: AsyncSession) -> set[str]:
    """Return the ids of all pictures that are held."""
    return set(await session.scalars(select(HeldPictureRow.file_id)))


async def release_held(session: AsyncSession, file_ids: Collection[str]) -> None:
    """Delete the bytes of pictures that the bucket has now."""
    await session.execute(delete(HeldPictureRow).where(HeldPictureRow.file_id.in_(file_ids)))
