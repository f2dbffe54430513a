"""Steps and the marks that are appended to them."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    _create_steps()
    _create_marks()


def downgrade() -> None:
    op.drop_table("step_marks")
    op.drop_table("steps")


def _create_steps() -> None:
    op.create_table(
        "steps",
        _id("step_id", nullable=False),
        _id("plan_id", nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("command_json", sa.Text(), nullable=False),
        sa.Column("directory", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("step_id", name=op.f("pk_steps")),
        _foreign_key("steps", "plan_id", "plans.plan_id"),
    )
    op.create_index("ix_steps_plan", "steps", ["plan_id", "step_id"])


def _create_marks() -> None:
    table = "step_marks"
    op.create_table(
        table,
        _id("mark_id", nullable=False),
        _id("plan_id", nullable=False),
        _id("step_id", nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        _id("run_id"),
        _id("attempt_id"),
        sa.Column("outcome", sa.String(16)),
        sa.Column("exit_code", sa.Integer()),
        sa.Column("value_json", sa.Text()),
        sa.Column("output", sa.String(16)),
        sa.Column("output_bytes", sa.BigInteger()),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("mark_id", name=op.f("pk_step_marks")),
        sa.UniqueConstraint("plan_id", "position", name=op.f("uq_step_marks_plan_id_position")),
        _foreign_key(table, "plan_id", "plans.plan_id"),
        _foreign_key(table, "step_id", "steps.step_id"),
        _foreign_key(table, "run_id", "runs.run_id"),
        _foreign_key(table, "attempt_id", "step_marks.mark_id"),
        _one_of("kind", "'started', 'completed', 'dropped', 'reused'"),
        _one_of("outcome", "'succeeded', 'failed'"),
        _one_of("output", "'none', 'kept', 'pruned', 'lost'"),
    )
    op.create_index("ix_step_marks_output", table, ["plan_id", "output", "output_bytes"])


def _id(name: str, *, nullable: bool = True) -> sa.Column[Any]:
    plain = sa.String(26).with_variant(sa.String(26, collation="C"), "postgresql")
    return sa.Column(name, plain, nullable=nullable)


def _foreign_key(table: str, column: str, target: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], [target], name=op.f(f"fk_{table}_{column}"))


def _one_of(column: str, words: str) -> sa.CheckConstraint:
    return sa.CheckConstraint(f"{column} IN ({words})", name=op.f(f"ck_step_marks_{column}"))
