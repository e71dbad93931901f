"""Keep the hash of the last step of each turn"""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this revision."""
    op.add_column("turns", sa.Column("last_step_hash", sa.String(), nullable=True))


def downgrade() -> None:
    """Undo this revision."""
    op.drop_column("turns", "last_step_hash")
