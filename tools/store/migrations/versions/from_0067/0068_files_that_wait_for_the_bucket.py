"""Keep which files are not in the bucket yet"""

import sqlalchemy as sa
from alembic import op

revision = "0068"
down_revision = "0067"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this revision."""
    op.add_column(
        "files", sa.Column("waits", sa.Boolean(), server_default=sa.false(), nullable=False)
    )


def downgrade() -> None:
    """Undo this revision."""
    op.drop_column("files", "waits")
