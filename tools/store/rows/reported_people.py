"""Sessions of people in control that were reported to the models of chats."""

from sqlalchemy import Connection, bindparam, select, update
from sqlalchemy.orm import Session

from deskhand.tools.store.schema import ChatRow

_REPORTED = (
    update(ChatRow.__table__)  # type: ignore[arg-type]
    .where(ChatRow.id == bindparam("of_chat"))
    .values(person_reported=bindparam("mark"))
)


def reported_person(session: Session, chat_id: str) -> str | None:
    """Return the mark of the newest session that the results of a chat report."""
    return session.scalar(select(ChatRow.person_reported).where(ChatRow.id == chat_id))


def set_reported_person(connection: Connection, chat_id: str, mark: str) -> None:
    """Store the mark of a session, in the transaction of the result that reports it."""
    connection.execute(_REPORTED, {"of_chat": chat_id, "mark": mark})
