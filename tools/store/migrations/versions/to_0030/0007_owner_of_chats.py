"""Store the credential that a chat belongs to"""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this revision."""
    # Chats of earlier versions were created by administrators only.
    op.add_column("chats", sa.Column("owner", sa.String(), nullable=False, server_default="owner"))


def downgrade() -> None:
    """Undo this revision."""
    op.drop_column("chats", "owner")
