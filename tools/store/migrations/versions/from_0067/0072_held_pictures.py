"""Keep the bytes of pictures that are in no pack yet"""

import sqlalchemy as sa
from alembic import op

revision = "0072"
down_revision = "0071"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this revision."""
    op.create_table(
        "held_pictures",
        sa.Column("file_id", sa.String(), nullable=False),
        sa.Column("plane", sa.String(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["file_id"],
            ["files.id"],
            name=op.f("fk_held_pictures_file_id_files"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("file_id", name=op.f("pk_held_pictures")),
    )


def downgrade() -> None:
    """Undo this revision."""
    op.drop_table("held_pictures")
