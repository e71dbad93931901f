"""Index the turns with recordings, so that listing recordings skips all other chats"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this revision."""
    computed = sa.Computed("json_array_length(recording, '$.file_ids') > 0", persisted=False)
    op.add_column("turns", sa.Column("recorded", sa.Boolean(), computed, nullable=True))
    op.create_index("ix_turns_recorded", "turns", ["chat_id"], sqlite_where=sa.text("recorded"))


def downgrade() -> None:
    """Take this revision back."""
    op.drop_index("ix_turns_recorded", "turns")
    op.drop_column("turns", "recorded")
