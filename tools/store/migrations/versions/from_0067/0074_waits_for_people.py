"""Keep since when the turn of a chat waits for a person in control"""

import sqlalchemy as sa
from alembic import op

revision = "0074"
down_revision = "0073"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this revision."""
    op.add_column("chats", sa.Column("person_since", sa.Double(), nullable=True))


def downgrade() -> None:
    """Undo this revision."""
    op.drop_column("chats", "person_since")
