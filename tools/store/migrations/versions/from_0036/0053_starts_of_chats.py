"""Keep what chats start with"""

import sqlalchemy as sa
from alembic import op

revision = "0053"
down_revision = "0050"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this revision."""
    op.create_table(
        "chat_starts",
        sa.Column("chat_id", sa.String(), nullable=False),
        sa.Column("workdir", sa.String(), server_default="", nullable=False),
        sa.Column("files", sa.JSON(), nullable=True),
        sa.Column("template", sa.String(), nullable=True),
        sa.Column("profile", sa.String(), nullable=True),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["chat_id"],
            ["chats.id"],
            name=op.f("fk_chat_starts_chat_id_chats"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("chat_id", name=op.f("pk_chat_starts")),
    )


def downgrade() -> None:
    """Undo this revision."""
    op.drop_table("chat_starts")
