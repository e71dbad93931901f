"""Keep which messages a turn at work takes after its current step"""

import sqlalchemy as sa
from alembic import op

revision = "0059"
down_revision = "0054"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this revision."""
    op.add_column(
        "messages",
        sa.Column("after_step", sa.Boolean(), server_default=sa.false(), nullable=False),
    )


def downgrade() -> None:
    """Undo this revision."""
    op.drop_column("messages", "after_step")
