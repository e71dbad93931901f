"""Keep the sign-ins by a provider that browsers have begun"""

import sqlalchemy as sa
from alembic import op

revision = "0076"
down_revision = "0075"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this revision."""
    op.create_table(
        "begun_sign_ins",
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("ends_at", sa.Double(), nullable=False),
        sa.Column("redirect_uri", sa.String(), nullable=False),
        sa.Column("onward", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_begun_sign_ins")),
    )
    op.create_index("ix_begun_sign_ins_ends_at", "begun_sign_ins", ["ends_at"])


def downgrade() -> None:
    """Undo this revision."""
    op.drop_table("begun_sign_ins")
