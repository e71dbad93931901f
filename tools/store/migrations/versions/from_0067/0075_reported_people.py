"""Keep which session of a person in control was reported to the model of a chat"""

import sqlalchemy as sa
from alembic import op

revision = "0075"
down_revision = "0074"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this revision."""
    op.add_column("chats", sa.Column("person_reported", sa.String(), nullable=True))


def downgrade() -> None:
    """Undo this revision."""
    op.drop_column("chats", "person_reported")
