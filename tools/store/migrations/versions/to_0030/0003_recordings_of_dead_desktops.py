"""Add the recordings that dead desktops left"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this revision."""
    op.create_table(
        "left_recordings",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("desktop_id", sa.String(), nullable=False),
        sa.Column("recording_id", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("found_at", sa.Double(), nullable=False),
        sa.Column("stored_at", sa.Double(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_left_recordings")),
        sa.UniqueConstraint(
            "desktop_id", "recording_id", name=op.f("uq_left_recordings_desktop_id_recording_id")
        ),
    )
    op.create_index("ix_left_recordings_desktop_id", "left_recordings", ["desktop_id"])
    op.create_index("ix_left_recordings_recording_id", "left_recordings", ["recording_id"])


def downgrade() -> None:
    """Take this revision back."""
    op.drop_table("left_recordings")
