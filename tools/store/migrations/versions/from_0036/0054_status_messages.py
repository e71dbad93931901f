"""Keep the newest status message of a chat"""

import sqlalchemy as sa
from alembic import op

revision = "0054"
down_revision = "0053"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this revision."""
    op.add_column("chats", sa.Column("status_message", sa.JSON(), nullable=True))


def downgrade() -> None:
    """Undo this revision."""
    op.drop_column("chats", "status_message")
