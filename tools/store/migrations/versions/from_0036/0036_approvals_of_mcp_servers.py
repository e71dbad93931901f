"""Keep the approvals of MCP servers"""

import sqlalchemy as sa
from alembic import op

revision = "0036"
down_revision = "0030"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this revision."""
    op.create_table(
        "mcp_approvals",
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("chat_id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("question", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("asked_at", sa.Double(), nullable=False),
        sa.Column("changed_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("owner", "digest", name=op.f("pk_mcp_approvals")),
    )


def downgrade() -> None:
    """Undo this revision."""
    op.drop_table("mcp_approvals")
