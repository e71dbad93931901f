"""Store what recordings that stay on running desktops consist of"""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this revision."""
    op.add_column("left_recordings", sa.Column("staying", sa.JSON(), nullable=True))


def downgrade() -> None:
    """Undo this revision."""
    op.drop_column("left_recordings", "staying")
