"""Environment of Alembic for the revisions; the caller owns the connection."""

from alembic import context

from deskhand.tools.store.schema import ChatRow

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=ChatRow.metadata,
    # SQLite cannot alter most of a table: Alembic copies the table instead.
    render_as_batch=True,
    # SQLite has transactional DDL, which Alembic does not use for it by default.
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
