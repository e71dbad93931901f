"""The base of all tables, and what SQLite and PostgreSQL write differently."""

from typing import Annotated, Any

from sqlalchemy import JSON, ColumnElement, Double, ForeignKey, MetaData, select, text
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.orm import DeclarativeBase, mapped_column

Json = dict[str, Any]
ChatKey = Annotated[
    str, mapped_column(ForeignKey("chats.id", ondelete="CASCADE"), primary_key=True)
]

# SQLite can only change a table by copying it; Alembic finds constraints to drop by their names.
NAMES = {
    "ix": "ix_%(column_0_label)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}


class HasFiles(ColumnElement[bool]):
    """Whether the recording of a turn has files; each database reads JSON in its own way."""

    inherit_cache = True


@compiles(HasFiles, "sqlite")
def _in_sqlite(*_: object, **__: object) -> str:
    return "json_array_length(recording, '$.file_ids') > 0"


@compiles(HasFiles, "postgresql")
def _in_postgresql(*_: object, **__: object) -> str:
    return "json_array_length(recording -> 'file_ids') > 0"


class DatabaseTime(ColumnElement[float]):
    """Unix time of the database, in seconds: clocks of control planes may differ."""

    type = Double()
    inherit_cache = True


@compiles(DatabaseTime, "sqlite")
def _time_of_sqlite(*_: object, **__: object) -> str:
    return "((julianday('now') - 2440587.5) * 86400.0)"


@compiles(DatabaseTime, "postgresql")
def _time_of_postgresql(*_: object, **__: object) -> str:
    return "extract(epoch FROM clock_timestamp())::double precision"


async def database_time(session: AsyncSession) -> float:
    """Return the time with which the times of rows are compared."""
    return (await session.execute(select(DatabaseTime()))).scalar_one()


def rows_where(condition: str) -> dict[str, Any]:
    """Return the options of an index over the rows that meet a condition."""
    return {"sqlite_where": text(condition), "postgresql_where": text(condition)}


class Base(DeclarativeBase):
    """Base of the tables; every ``…_at`` is a unix time in seconds."""

    metadata = MetaData(naming_convention=NAMES)
    type_annotation_map = {Json: JSON, list[Json]: JSON}  # noqa: RUF012 - read once by SQLAlchemy
