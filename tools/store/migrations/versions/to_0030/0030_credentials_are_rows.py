"""Keep issued tokens and sessions of browsers in the database"""

import sqlalchemy as sa
from alembic import op

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this revision."""
    op.create_table(
        "issued_tokens",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("scopes", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("ends_at", sa.Double(), nullable=True),
        sa.Column("digest", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_issued_tokens")),
        sa.UniqueConstraint("digest", name=op.f("uq_issued_tokens_digest")),
    )
    op.create_table(
        "browser_sessions",
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("scopes", sa.JSON(), nullable=False),
        sa.Column("ends_at", sa.Double(), nullable=False),
        sa.Column("token_id", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_browser_sessions")),
    )
    op.create_index(op.f("ix_browser_sessions_token_id"), "browser_sessions", ["token_id"])


def downgrade() -> None:
    """Undo this revision."""
    op.drop_table("browser_sessions")
    op.drop_table("issued_tokens")
