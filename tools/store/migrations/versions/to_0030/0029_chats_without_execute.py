"""Store which chats cannot run programs"""

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision = "0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this revision."""
    op.add_column(
        "chats",
        sa.Column("without_execute", sa.Boolean(), nullable=False, server_default=sa.false()),
    )


def downgrade() -> None:
    """Undo this revision."""
    op.drop_column("chats", "without_execute")
