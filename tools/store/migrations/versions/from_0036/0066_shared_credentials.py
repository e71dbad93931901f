"""Keep what several control planes share: facts, secrets that work once, ends of credentials"""

import sqlalchemy as sa
from alembic import op

revision = "0066"
down_revision = "0065"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this revision."""
    op.create_table(
        "deployment_facts",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("value", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_deployment_facts")),
    )
    op.create_table(
        "one_time_secrets",
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("ends_at", sa.Double(), nullable=False),
        sa.Column("principal", sa.JSON(), nullable=False),
        sa.Column("via", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_one_time_secrets")),
    )
    op.create_index(op.f("ix_one_time_secrets_ends_at"), "one_time_secrets", ["ends_at"])
    op.create_table(
        "credential_ends",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_credential_ends")),
    )
    op.create_index(op.f("ix_credential_ends_at"), "credential_ends", ["at"])


def downgrade() -> None:
    """Undo this revision."""
    op.drop_table("credential_ends")
    op.drop_table("one_time_secrets")
    op.drop_table("deployment_facts")
