"""Keep tokens and cost of turns and steps"""

import sqlalchemy as sa
from alembic import op

revision = "0042"
down_revision = "0047"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this revision."""
    op.add_column(
        "turns", sa.Column("thinking_tokens", sa.Integer(), nullable=False, server_default="0")
    )
    # Null for turns from before: their cost is not known.
    op.add_column("turns", sa.Column("cost_usd", sa.Double(), nullable=True))
    op.add_column("steps", sa.Column("usage", sa.JSON(), nullable=True))


def downgrade() -> None:
    """Undo this revision."""
    op.drop_column("steps", "usage")
    op.drop_column("turns", "cost_usd")
    op.drop_column("turns", "thinking_tokens")
