"""Keep the effort of the model in chats"""

import sqlalchemy as sa
from alembic import op

revision = "0043"
down_revision = "0052"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this revision."""
    op.add_column("chats", sa.Column("effort", sa.String(), nullable=True))


def downgrade() -> None:
    """Undo this revision."""
    op.drop_column("chats", "effort")
