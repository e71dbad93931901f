"""Index the steps by their screenshot, so that deleting a stored file does not read all steps"""

from alembic import op

revision = "0022"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this revision."""
    op.create_index("ix_steps_screenshot_file_id", "steps", ["screenshot_file_id"])


def downgrade() -> None:
    """Undo this revision."""
    op.drop_index("ix_steps_screenshot_file_id", "steps")
