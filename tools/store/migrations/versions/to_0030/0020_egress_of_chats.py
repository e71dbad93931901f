"""Store what the own desktop of a chat may reach over the network"""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this revision."""
    op.add_column("chats", sa.Column("egress", sa.JSON(), nullable=True))


def downgrade() -> None:
    """Undo this revision."""
    op.drop_column("chats", "egress")
