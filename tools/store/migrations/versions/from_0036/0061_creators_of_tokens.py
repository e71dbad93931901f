"""Keep with which credential a token was issued"""

import sqlalchemy as sa
from alembic import op

revision = "0061"
down_revision = "0060"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this revision."""
    op.add_column(
        "issued_tokens", sa.Column("created_by", sa.String(), server_default="", nullable=False)
    )


def downgrade() -> None:
    """Undo this revision."""
    op.drop_column("issued_tokens", "created_by")
