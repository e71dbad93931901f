"""Keep an audit log; its records cannot be changed"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

RETENTION_SECONDS = 400 * 86400


def upgrade() -> None:
    """Apply this revision."""
    op.create_table(
        "audit",
        sa.Column("writer", sa.String(), nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("actor", sa.String(), nullable=False),
        sa.Column("action", sa.String(), nullable=False),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("details", sa.JSON(), nullable=False),
        sa.Column("previous", sa.String(), nullable=False),
        sa.Column("hash", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("writer", "n", name=op.f("pk_audit")),
    )
    op.create_index(op.f("ix_audit_at"), "audit", ["at"])
    op.execute(
        "CREATE TRIGGER audit_is_not_changed BEFORE UPDATE ON audit "
        "BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END"
    )
    op.execute(
        "CREATE TRIGGER audit_is_kept BEFORE DELETE ON audit "
        f"WHEN OLD.at > strftime('%s', 'now') - {RETENTION_SECONDS} "
        "BEGIN SELECT RAISE(ABORT, 'the audit log is kept for 400 days'); END"
    )


def downgrade() -> None:
    """Undo this revision."""
    op.drop_table("audit")
