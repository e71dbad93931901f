"""Keep what a turn does beside the work on a message"""

import sqlalchemy as sa
from alembic import op

revision = "0052"
down_revision = "0042"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this revision."""
    op.add_column("turns", sa.Column("work", sa.String(), nullable=True))


def downgrade() -> None:
    """Undo this revision."""
    op.drop_column("turns", "work")
