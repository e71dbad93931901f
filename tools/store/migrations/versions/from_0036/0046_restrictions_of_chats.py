"""Keep the approvals, the domains and the plan mode of chats"""

import sqlalchemy as sa
from alembic import op

revision = "0046"
down_revision = "0045"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this revision."""
    op.add_column("chats", sa.Column("approval", sa.String(), nullable=True))
    op.add_column("chats", sa.Column("domains", sa.JSON(), nullable=True))
    op.add_column(
        "chats", sa.Column("look_only", sa.Boolean(), server_default=sa.false(), nullable=False)
    )


def downgrade() -> None:
    """Undo this revision."""
    for column in ("approval", "domains", "look_only"):
        op.drop_column("chats", column)
