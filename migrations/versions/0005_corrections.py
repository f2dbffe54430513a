"""Corrections of decisions."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

KEYS = {
    "plan_id": "plans.plan_id",
    "decision_id": "decisions.decision_id",
    "corrective_decision_id": "decisions.decision_id",
    "operation_id": "operations.operation_id",
    "checkpoint_id": "checkpoint_metadata.checkpoint_id",
}


def upgrade() -> None:
    op.create_table(
        "corrections",
        _id("correction_id"),
        _id("plan_id"),
        _id("decision_id"),
        _id("corrective_decision_id"),
        sa.Column("mode", sa.String(16), nullable=False),
        sa.Column("guidance", sa.Text(), nullable=False),
        _id("operation_id"),
        _id("checkpoint_id", nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("correction_id", name=op.f("pk_corrections")),
        *(
            sa.ForeignKeyConstraint([column], [target], name=op.f(f"fk_corrections_{column}"))
            for column, target in KEYS.items()
        ),
        sa.CheckConstraint("mode IN ('revert', 'append')", name=op.f("ck_corrections_mode")),
    )
    op.create_index("ix_corrections_plan", "corrections", ["plan_id", "correction_id"])


def downgrade() -> None:
    op.drop_table("corrections")


def _id(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    # Ids are ordered by their letters alone, whatever the language of the database.
    plain = sa.String(26).with_variant(sa.String(26, collation="C"), "postgresql")
    return sa.Column(name, plain, nullable=nullable)
