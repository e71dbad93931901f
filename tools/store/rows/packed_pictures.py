"""The rows of pictures of steps, for their packing.

Where several control planes share the database and a bucket, the bytes of held pictures are rows
too, each with the control plane that packs it (:mod:`deskhand.tools.store.packs.packer`).
"""

from collections.abc import Collection, Mapping, Sequence

from sqlalchemy import and_, bindparam, distinct, exists, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.store.database import Store
from deskhand.tools.store.file_store import StoredFile
from deskhand.tools.store.files import AT_ONCE, FileFacts, described
from deskhand.tools.store.packs.holding import HeldPicture
from deskhand.tools.store.packs.pack import PackedPicture
from deskhand.tools.store.packs.packer import FoundFiles
from deskhand.tools.store.schema import ChatRow, FileRow, TurnRow
from deskhand.tools.store.tables.held_pictures import HeldPictureRow, held_bytes, release_held

from . import planes

STEP = "step"
_PLACING = (
    update(FileRow.__table__)  # type: ignore[arg-type]
    # A picture that is in another pack already stays there.
    .where(FileRow.id == bindparam("of_file"), FileRow.pack.is_(None))
    .values(pack=bindparam("in_pack"), pack_start=bindparam("at"), waits=False)
)


class PackedPictureRows:
    """Reads and writes these rows, each time in a transaction of its own.

    ``plane`` is the id of this control plane, if others share the database and the bucket.
    """

    def __init__(self, store: Store, plane: str | None = None) -> None:
        self._store = store
        self._plane = plane

    @property
    def have_bytes(self) -> bool:
        """True if they contain the bytes too, so that another control plane can pack these."""
        return self._plane is not None

    async def find(self, file_ids: Collection[str]) -> FoundFiles:
        """Return those of the files that have rows."""
        return await self._store.read(lambda session: find(session, sorted(file_ids), self._plane))

    async def running(self, chat_ids: Collection[str]) -> Mapping[str, int]:
        """Return the numbers of the turns at work, by chat."""
        return await self._store.read(lambda session: running(session, sorted(chat_ids)))

    async def packs_of_turns(self, chat_ids: Collection[str]) -> Mapping[str, int]:
        """Return the number of packs that each chat's turn at work has, by chat."""
        return await self._store.read(lambda session: packs_of_turns(session, sorted(chat_ids)))

    async def descriptions(self, file_ids: Collection[str]) -> Mapping[str, str]:
        """Return the descriptions of those pictures that are still to be packed here, by id."""
        ids, plane = sorted(file_ids), self._plane
        return await self._store.read(lambda session: descriptions(session, ids, plane))

    async def adopt(self) -> Collection[str]:
        """Take over what others have left; return all pictures with bytes that are packed here."""
        plane = self._plane
        if plane is None:
            return ()
        mine, left = await self._store.read(lambda session: held_by(session, plane))
        if left:
            # Read before: a scan that finds nothing writes nothing.
            mine |= await self._store.write(lambda session: adopt(session, plane))
        return mine

    async def held_bytes(self, file_id: str) -> bytes | None:
        """Return the bytes of a held picture; ``None`` if there are none any more."""
        return await self._store.read(lambda session: held_bytes(session, file_id))

    async def packed(self, pack: str, pictures: Sequence[PackedPicture]) -> bool:
        """Write that the bucket has a pack; return whether a row names the pack now."""
        return await self._store.write(
            lambda session: place(session, pack, pictures, held=self.have_bytes)
        )


async def find(
    session: AsyncSession, file_ids: Sequence[str], plane: str | None = None
) -> FoundFiles:
    """Return those of the files that have rows."""
    pictures: list[HeldPicture] = []
    packed: list[str] = []
    foreign: list[str] = []
    others: list[str] = []
    for start in range(0, len(file_ids), AT_ONCE):
        query = select(
            *(FileRow.id, FileRow.kind, FileRow.chat_id, FileRow.size),
            *(FileRow.created_at, FileRow.pack),
        ).where(FileRow.id.in_(file_ids[start : start + AT_ONCE]))
        others_pack = await _others(session, file_ids[start : start + AT_ONCE], plane)
        for file_id, kind, chat_id, size, created_at, pack in await session.execute(query):
            if pack is not None:
                packed.append(file_id)
            elif file_id in others_pack:
                foreign.append(file_id)
            elif kind == STEP:
                pictures.append(HeldPicture(file_id, chat_id or "", size, created_at))
            else:
                others.append(file_id)
    return FoundFiles(pictures, packed, others, foreign)


async def _others(session: AsyncSession, file_ids: Sequence[str], plane: str | None) -> set[str]:
    """Return the held pictures that another control plane packs."""
    if plane is None:
        return set()
    query = select(HeldPictureRow.file_id).where(
        HeldPictureRow.file_id.in_(file_ids), HeldPictureRow.plane != plane
    )
    return set(await session.scalars(query))


async def running(session: AsyncSession, chat_ids: Sequence[str]) -> dict[str, int]:
    """Return the numbers of the turns at work, by chat."""
    found: dict[str, int] = {}
    for start in range(0, len(chat_ids), AT_ONCE):
        query = select(TurnRow.chat_id, TurnRow.number).where(
            TurnRow.chat_id.in_(chat_ids[start : start + AT_ONCE]), TurnRow.status == "running"
        )
        found |= {row.chat_id: row.number for row in await session.execute(query)}
    return found


async def packs_of_turns(session: AsyncSession, chat_ids: Sequence[str]) -> dict[str, int]:
    """Return the number of packs that each chat's turn at work has, by chat."""
    found: dict[str, int] = {}
    for start in range(0, len(chat_ids), AT_ONCE):
        query = (
            select(TurnRow.chat_id, func.count(distinct(FileRow.pack)))
            .join(FileRow, FileRow.chat_id == TurnRow.chat_id)
            .where(
                TurnRow.chat_id.in_(chat_ids[start : start + AT_ONCE]),
                TurnRow.status == "running",
                FileRow.created_at >= TurnRow.started_at,
            )
            .group_by(TurnRow.chat_id)
        )
        found |= {row[0]: row[1] for row in await session.execute(query)}
    return dict.fromkeys(chat_ids, 0) | found


async def descriptions(
    session: AsyncSession, file_ids: Sequence[str], plane: str | None = None
) -> dict[str, str]:
    """Return the descriptions of those pictures that are still to be packed here, by id."""
    found: dict[str, str] = {}
    for start in range(0, len(file_ids), AT_ONCE):
        some = file_ids[start : start + AT_ONCE]
        others_pack = await _others(session, some, plane)
        query = select(FileRow).where(FileRow.id.in_(some), FileRow.pack.is_(None))
        for file in await session.scalars(query):
            if file.id in others_pack:
                continue
            facts = FileFacts(file.chat_id, file.kind, file.name, file.media_type, file.details)
            stored = StoredFile(file.id, file.size, file.sha256)
            found[file.id] = described(stored, facts, file.created_at)
    return found


_LIVING = planes.living_ids()
_LEFT = (
    select(HeldPictureRow.file_id)
    .join(FileRow, FileRow.id == HeldPictureRow.file_id)
    .outerjoin(ChatRow, ChatRow.id == FileRow.chat_id)
    .where(
        HeldPictureRow.plane != bindparam("of_plane"),
        or_(
            ChatRow.driver == bindparam("of_plane"),
            # The chat is at rest, was deleted, or waits for a driver.
            and_(ChatRow.driver.is_(None), HeldPictureRow.plane.not_in(_LIVING)),
        ),
    )
)
"""Pictures of the chats that a control plane drives, and those of ended ones of which nobody drives
the chat."""


async def held_by(session: AsyncSession, plane: str) -> tuple[set[str], bool]:
    """Return the pictures that a control plane packs, and whether others have left some."""
    mine = select(HeldPictureRow.file_id).where(HeldPictureRow.plane == plane)
    left = await session.scalar(select(_LEFT.exists()), {"of_plane": plane})
    return set(await session.scalars(mine)), bool(left)


async def adopt(session: AsyncSession, plane: str) -> set[str]:
    """Make a control plane pack what others have left; return the pictures."""
    # Of two that do this at once, the second one waits for the locks of the first; then it judges
    # the rows again, which name a living control plane now, and takes none.
    locked = _LEFT.order_by(HeldPictureRow.file_id).with_for_update(of=HeldPictureRow)
    adopted = (
        update(HeldPictureRow)
        .where(HeldPictureRow.file_id.in_(locked))
        .values(plane=plane)
        .returning(HeldPictureRow.file_id)
        .execution_options(synchronize_session=False)
    )
    return set(await session.scalars(adopted, {"of_plane": plane}))


async def place(
    session: AsyncSession, pack: str, pictures: Sequence[PackedPicture], *, held: bool = False
) -> bool:
    """Write that the bucket has a pack; return whether a row names the pack now.

    A row that is missing, or in another pack, does not change. ``held`` if the bytes of pictures
    are rows, which are deleted.
    """
    # In the order in which deletions lock rows.
    ordered = sorted(pictures, key=lambda picture: picture.id)
    places = [{"of_file": one.id, "in_pack": pack, "at": one.start} for one in ordered]
    if places:
        await (await session.connection()).execute(_PLACING, places)
    for start in range(0, len(ordered) if held else 0, AT_ONCE):
        await release_held(session, [one.id for one in ordered[start : start + AT_ONCE]])
    return bool(await session.scalar(select(exists().where(FileRow.pack == pack))))
