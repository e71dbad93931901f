"""Keep after which time the turns of a chat are stopped, and whether it is recorded"""

import sqlalchemy as sa
from alembic import op

revision = "0065"
down_revision = "0062"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this revision."""
    op.add_column("chat_starts", sa.Column("timeout_seconds", sa.Double(), nullable=True))
    op.add_column(
        "chat_starts",
        sa.Column("record", sa.Boolean(), server_default=sa.text("1"), nullable=False),
    )


def downgrade() -> None:
    """Undo this revision."""
    op.drop_column("chat_starts", "record")
    op.drop_column("chat_starts", "timeout_seconds")
