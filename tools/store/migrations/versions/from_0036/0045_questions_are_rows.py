"""Keep the questions of chats to people"""

import sqlalchemy as sa
from alembic import op

revision = "0045"
down_revision = "0036"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this revision."""
    op.create_table(
        "questions",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("chat_id", sa.String(), nullable=False),
        sa.Column("turn", sa.Integer(), nullable=False),
        sa.Column("step_id", sa.String(), nullable=False),
        sa.Column("call_id", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("picture", sa.String(), nullable=True),
        sa.Column("call", sa.JSON(), nullable=True),
        sa.Column("rules", sa.JSON(), nullable=False),
        sa.Column("asked_at", sa.Double(), nullable=False),
        sa.Column("deadline", sa.Double(), nullable=True),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("answer", sa.String(), nullable=True),
        sa.Column("answered_by", sa.String(), nullable=True),
        sa.Column("closed_at", sa.Double(), nullable=True),
        sa.Column("performed_at", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(
            ["chat_id"],
            ["chats.id"],
            name=op.f("fk_questions_chat_id_chats"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_questions")),
        sa.UniqueConstraint("step_id", name=op.f("uq_questions_step_id")),
    )
    op.create_index("ix_questions_chat_id", "questions", ["chat_id"])
    op.create_index(
        "ix_questions_open",
        "questions",
        ["chat_id"],
        unique=True,
        sqlite_where=sa.text("state = 'open'"),
    )
    # The process in whose memory these questions were is gone.
    op.execute("UPDATE mcp_approvals SET state = 'withdrawn' WHERE state = 'asked'")


def downgrade() -> None:
    """Undo this revision."""
    op.drop_table("questions")
