"""Environment of Alembic for the revisions; the caller owns the connection."""

from alembic import context

from deskhand.tools.store.schema import Base

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    render_as_batch=True,
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
