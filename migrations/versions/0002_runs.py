"""Runs: one of a plan may be live at a time."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

STATUSES = (
    "'pending', 'running', 'finalizing', 'success', 'error', 'timeout', 'interrupted', "
    "'rolled_back'"
)
KEYS = {
    "plan_id": "plans.plan_id",
    "live_plan_id": "plans.plan_id",
    "pre_checkpoint_id": "checkpoint_metadata.checkpoint_id",
    "post_checkpoint_id": "checkpoint_metadata.checkpoint_id",
}


def upgrade() -> None:
    op.create_table(
        "runs",
        *_columns(),
        sa.PrimaryKeyConstraint("run_id", name=op.f("pk_runs")),
        sa.UniqueConstraint("plan_id", "number", name=op.f("uq_runs_plan_id_number")),
        sa.UniqueConstraint("live_plan_id", name=op.f("uq_runs_live_plan_id")),
        *(
            sa.ForeignKeyConstraint([column], [target], name=op.f(f"fk_runs_{column}"))
            for column, target in KEYS.items()
        ),
        sa.CheckConstraint(f"status IN ({STATUSES})", name=op.f("ck_runs_status")),
        sa.CheckConstraint(
            "abort_action IN ('rollback', 'interrupt')", name=op.f("ck_runs_abort_action")
        ),
    )
    op.create_index("ix_runs_timeline", "runs", ["plan_id", "position"])


def downgrade() -> None:
    op.drop_table("runs")


def _columns() -> list[sa.Column[Any]]:
    return [
        _id("run_id", nullable=False),
        _id("plan_id", nullable=False),
        _id("live_plan_id"),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("fence", sa.Integer(), nullable=False),
        *(_text(name) for name in ("store_id", "host_id", "actor", "host", "holder")),
        _text("command", nullable=True),
        _time("lease_until", nullable=False),
        sa.Column("lease_clock", sa.Float(53), nullable=False),
        *(_text(name) for name in ("argv_json", "cwd", "options_json")),
        sa.Column("position", sa.Integer()),
        sa.Column("epoch", sa.Integer()),
        _id("pre_checkpoint_id"),
        _id("post_checkpoint_id"),
        sa.Column("abort_action", sa.String(16)),
        sa.Column("exit_code", sa.Integer()),
        _time("created_at", nullable=False),
        _time("started_at"),
        _time("ended_at"),
        _text("result_json"),
    ]


def _id(name: str, *, nullable: bool = True) -> sa.Column[Any]:
    # Ids are ordered by their letters alone, whatever the language of the database.
    plain = sa.String(26).with_variant(sa.String(26, collation="C"), "postgresql")
    return sa.Column(name, plain, nullable=nullable)


def _text(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    return sa.Column(name, sa.Text(), nullable=nullable)


def _time(name: str, *, nullable: bool = True) -> sa.Column[Any]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable)
