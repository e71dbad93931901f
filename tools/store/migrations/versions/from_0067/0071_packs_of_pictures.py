"""Keep where the pictures of steps are in the bucket"""

import sqlalchemy as sa
from alembic import op

revision = "0071"
down_revision = "0070"
branch_labels = None
depends_on = None

_PACKED = sa.text("pack IS NOT NULL")


def upgrade() -> None:
    """Apply this revision."""
    op.add_column("files", sa.Column("pack", sa.String(), nullable=True))
    start = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.add_column("files", sa.Column("pack_start", start, nullable=True))
    op.create_index(
        "ix_files_pack", "files", ["pack"], sqlite_where=_PACKED, postgresql_where=_PACKED
    )


def downgrade() -> None:
    """Undo this revision."""
    op.drop_index("ix_files_pack", "files")
    op.drop_column("files", "pack_start")
    op.drop_column("files", "pack")
