"""Keep which control plane runs a call from outside of a turn"""

import sqlalchemy as sa
from alembic import op

revision = "0070"
down_revision = "0069"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this revision."""
    op.add_column("steps", sa.Column("plane", sa.String(), nullable=True))


def downgrade() -> None:
    """Undo this revision."""
    op.drop_column("steps", "plane")
