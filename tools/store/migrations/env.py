"""What Alembic runs around the revisions; the connection is the caller's."""

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
