"""Name the full nodes that a desktop waits for"""

import sqlalchemy as sa
from alembic import op

revision = "0073"
down_revision = "0072"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this revision."""
    op.add_column("desktops", sa.Column("full_nodes", sa.JSON(), nullable=True))


def downgrade() -> None:
    """Undo this revision."""
    op.drop_column("desktops", "full_nodes")
