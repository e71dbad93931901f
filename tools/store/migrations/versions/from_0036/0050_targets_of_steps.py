"""Keep what each step's action was aimed at"""

import sqlalchemy as sa
from alembic import op

revision = "0050"
down_revision = "0043"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this revision."""
    op.create_table(
        "step_targets",
        sa.Column("step_id", sa.String(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("near", sa.JSON(), nullable=False),
        sa.Column("x", sa.Integer(), nullable=True),
        sa.Column("y", sa.Integer(), nullable=True),
        sa.Column("screen_width", sa.Integer(), nullable=False),
        sa.Column("screen_height", sa.Integer(), nullable=False),
        sa.Column("patch", sa.LargeBinary(), nullable=True),
        sa.Column("patch_x", sa.Integer(), nullable=True),
        sa.Column("patch_y", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["step_id"],
            ["steps.id"],
            name=op.f("fk_step_targets_step_id_steps"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("step_id", "position", name=op.f("pk_step_targets")),
    )


def downgrade() -> None:
    """Undo this revision."""
    op.drop_table("step_targets")
