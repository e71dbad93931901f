"""Fix what a chat began with; count thinking blocks that a provider dropped"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this revision."""
    op.create_table(
        "chat_heads",
        sa.Column("chat_id", sa.String(), nullable=False),
        sa.Column("content", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["chat_id"],
            ["chats.id"],
            name=op.f("fk_chat_heads_chat_id_chats"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("chat_id", name=op.f("pk_chat_heads")),
    )
    op.add_column(
        "turns",
        sa.Column("dropped_thinking", sa.Integer(), nullable=False, server_default="0"),
    )


def downgrade() -> None:
    """Undo this revision."""
    op.drop_column("turns", "dropped_thinking")
    op.drop_table("chat_heads")
