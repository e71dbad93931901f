"""Keep which control plane drives a chat"""

import sqlalchemy as sa
from alembic import op

revision = "0067"
down_revision = "0066"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this revision."""
    op.create_table(
        "planes",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("address", sa.String(), nullable=False),
        sa.Column("beat_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_planes")),
    )
    op.add_column("chats", sa.Column("driver", sa.String(), nullable=True))
    op.add_column(
        "chats", sa.Column("generation", sa.Integer(), server_default="0", nullable=False)
    )


def downgrade() -> None:
    """Undo this revision."""
    op.drop_column("chats", "generation")
    op.drop_column("chats", "driver")
    op.drop_table("planes")
