"""Numbers for decisions, and indexes for finding a decision's checkpoints."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.add_column("decisions", sa.Column("seq", sa.Integer(), server_default="0", nullable=False))
    op.execute(
        "UPDATE decisions SET seq = (SELECT count(*) FROM decisions AS other"
        " WHERE other.plan_id = decisions.plan_id AND other.decision_id <= decisions.decision_id)"
    )
    op.create_index("ix_decisions_newest", "decisions", ["plan_id", "decision_id"])
    op.create_index("ix_decisions_seq", "decisions", ["plan_id", "seq"], unique=True)
    op.create_index("ix_checkpoint_metadata_decision", "checkpoint_metadata", ["decision_id"])


def downgrade() -> None:
    op.drop_index("ix_checkpoint_metadata_decision", "checkpoint_metadata")
    op.drop_index("ix_decisions_seq", "decisions")
    op.drop_index("ix_decisions_newest", "decisions")
    op.drop_column("decisions", "seq")
