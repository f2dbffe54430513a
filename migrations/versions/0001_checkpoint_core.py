"""Plans, sandboxes, operations, epochs, decisions and checkpoint_metadata."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

PHASES = "'strategize', 'execute', 'apply'"
PLAN_STATES = (
    "'queued', 'processing', 'errored', 'complete', "
    "'applied', 'cancelled', 'invalidated', 'removed'"
)
CHECKPOINT_TYPES = (
    "'initial', 'manual', 'turn', 'pre_run', 'post_run', 'pre_tool', 'post_tool', "
    "'pre_decision', 'subplan_spawn', 'on_error', 'pre_rollback', 'rollback', "
    "'pre_apply', 'pre_remove'"
)
CHECKPOINT_STATES = "'creating', 'complete', 'failed', 'pruning', 'pruned', 'damaged'"
OPERATION_STATES = "'open', 'restoring', 'done', 'failed'"
TABLES_NEWEST_FIRST = (
    "checkpoint_metadata",
    "decisions",
    "epochs",
    "operations",
    "sandboxes",
    "plans",
)
OPERATION_CHECKPOINTS = ("target_checkpoint_id", "safety_checkpoint_id", "result_checkpoint_id")


def upgrade() -> None:
    _create_plans()
    _create_sandboxes()
    _create_operations()
    _create_epochs()
    _create_decisions()
    _create_checkpoints()
    _join_operations_to_checkpoints()


def downgrade() -> None:
    if _can_alter():
        for column in OPERATION_CHECKPOINTS:
            op.drop_constraint(f"fk_operations_{column}", "operations", type_="foreignkey")
    # Otherwise SQLite would refuse to drop checkpoints that an operation names.
    operations = sa.table("operations", *map(sa.column, OPERATION_CHECKPOINTS))
    op.execute(operations.update().values(dict.fromkeys(OPERATION_CHECKPOINTS)))
    for table in TABLES_NEWEST_FIRST:
        op.drop_table(table)


def _create_plans() -> None:
    op.create_table(
        "plans",
        _id("plan_id", nullable=False),
        sa.Column("repository_id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("live_name", sa.Text()),
        _word("phase"),
        _word("state"),
        sa.Column("current_epoch", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        _id("parent_plan_id"),
        sa.Column("spawn_epoch", sa.Integer()),
        sa.Column("spawn_position", sa.Integer()),
        sa.Column("base_ref", sa.Text()),
        sa.Column("applied_commit", sa.String(64)),
        sa.Column("policy_json", sa.Text()),
        _time("created_at"),
        _time("updated_at"),
        _primary_key("plans", "plan_id"),
        _unique("plans", "repository_id", "live_name"),
        _foreign_key("plans", "parent_plan_id", "plans.plan_id"),
        _one_of("plans", "phase", PHASES),
        _one_of("plans", "state", PLAN_STATES),
    )
    op.create_index("ix_plans_listing", "plans", ["repository_id", "created_at", "plan_id"])
    op.create_index("ix_plans_parent", "plans", ["parent_plan_id"])


def _create_sandboxes() -> None:
    op.create_table(
        "sandboxes",
        _id("sandbox_id", nullable=False),
        _id("plan_id", nullable=False),
        sa.Column("repository_id", sa.Text(), nullable=False),
        sa.Column("store_id", sa.Text(), nullable=False),
        sa.Column("host_id", sa.Text(), nullable=False),
        _word("kind"),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("git_dir", sa.Text(), nullable=False),
        sa.Column("branch", sa.Text()),
        sa.Column("base_commit", sa.String(64)),
        _time("created_at"),
        _time("released_at", nullable=True),
        _primary_key("sandboxes", "sandbox_id"),
        _unique("sandboxes", "plan_id"),
        _foreign_key("sandboxes", "plan_id", "plans.plan_id"),
        _one_of("sandboxes", "kind", "'own', 'attached'"),
    )
    op.create_index("ix_sandboxes_path", "sandboxes", ["repository_id", "path"])


def _create_operations() -> None:
    op.create_table(
        "operations",
        *_operation_columns(),
        _primary_key("operations", "operation_id"),
        _unique("operations", "plan_id", "number"),
        _foreign_key("operations", "plan_id", "plans.plan_id"),
        _foreign_key("operations", "entry_operation_id", "operations.operation_id"),
        *(
            # Checkpoints and operations name each other: use_alter leaves these keys out here
            # where they can be added later, and keeps them where the database cannot add them.
            _foreign_key("operations", column, "checkpoint_metadata.checkpoint_id", use_alter=True)
            for column in OPERATION_CHECKPOINTS
        ),
        _one_of("operations", "state", OPERATION_STATES),
        _one_of("operations", "stack", "'undo', 'redo'"),
    )
    op.create_index("ix_operations_state", "operations", ["plan_id", "state"])
    op.create_index("ix_operations_stack", "operations", ["plan_id", "stack"])
    op.create_index("ix_operations_newest", "operations", ["plan_id", "operation_id"])


def _operation_columns() -> list[sa.Column[Any]]:
    return [
        _id("operation_id", nullable=False),
        _id("plan_id", nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        _word("kind"),
        _word("state"),
        sa.Column("store_id", sa.Text(), nullable=False),
        sa.Column("host_id", sa.Text(), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("command_line", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        *(_id(name) for name in OPERATION_CHECKPOINTS),
        _id("entry_operation_id"),
        _word("stack", nullable=True),
        _word("phase_before"),
        _word("state_before"),
        _word("phase_after"),
        _word("state_after"),
        sa.Column("epoch_before", sa.Integer(), nullable=False),
        sa.Column("epoch_after", sa.Integer()),
        sa.Column("paths_json", sa.Text(), nullable=False),
        sa.Column("move_branch", sa.Boolean(), nullable=False),
        _time("started_at"),
        _time("finished_at", nullable=True),
        sa.Column("result_json", sa.Text(), nullable=False),
    ]


def _create_epochs() -> None:
    op.create_table(
        "epochs",
        _id("plan_id", nullable=False),
        sa.Column("epoch", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("parent_epoch", sa.Integer()),
        sa.Column("cut_position", sa.Integer()),
        _id("operation_id"),
        _primary_key("epochs", "plan_id", "epoch"),
        _foreign_key("epochs", "plan_id", "plans.plan_id"),
        _foreign_key("epochs", "operation_id", "operations.operation_id"),
    )


def _create_decisions() -> None:
    op.create_table(
        "decisions",
        _id("decision_id", nullable=False),
        _id("plan_id", nullable=False),
        _id("parent_decision_id"),
        sa.Column("position", sa.Integer()),
        sa.Column("epoch", sa.Integer()),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("rationale", sa.Text(), nullable=False),
        sa.Column("alternatives_json", sa.Text(), nullable=False),
        _time("created_at"),
        _primary_key("decisions", "decision_id"),
        _foreign_key("decisions", "plan_id", "plans.plan_id"),
        _foreign_key("decisions", "parent_decision_id", "decisions.decision_id"),
    )
    op.create_index("ix_decisions_timeline", "decisions", ["plan_id", "position"])


def _create_checkpoints() -> None:
    table = "checkpoint_metadata"
    op.create_table(
        table,
        *_checkpoint_columns(),
        _primary_key(table, "checkpoint_id"),
        _unique(table, "plan_id", "seq"),
        _unique(table, "plan_id", "position"),
        _unique(table, "plan_id", "label"),
        _foreign_key(table, "plan_id", "plans.plan_id"),
        _foreign_key(table, "resource_id", "sandboxes.sandbox_id"),
        _foreign_key(table, "decision_id", "decisions.decision_id"),
        _foreign_key(table, "parent_checkpoint_id", "checkpoint_metadata.checkpoint_id"),
        _foreign_key(table, "superseded_by", "operations.operation_id"),
        _foreign_key(table, "operation_id", "operations.operation_id"),
        _one_of(table, "checkpoint_type", CHECKPOINT_TYPES),
        _one_of(table, "state", CHECKPOINT_STATES),
    )
    op.create_index("ix_checkpoint_metadata_newest", table, ["plan_id", "checkpoint_id"])
    op.create_index(
        "ix_checkpoint_metadata_timeline",
        table,
        ["plan_id", "state", "superseded_by", "position"],
    )


def _checkpoint_columns() -> list[sa.Column[Any]]:
    return [
        _id("checkpoint_id", nullable=False),
        _id("plan_id", nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        _word("checkpoint_type"),
        _word("state"),
        sa.Column("sandbox_ref", sa.String(64)),
        _id("resource_id", nullable=False),
        _id("decision_id"),
        _id("parent_checkpoint_id"),
        _id("superseded_by"),
        _id("operation_id"),
        sa.Column("store_id", sa.Text(), nullable=False),
        sa.Column("host_id", sa.Text(), nullable=False),
        sa.Column("filesystem_path", sa.Text(), nullable=False),
        sa.Column("size_bytes", sa.BigInteger()),
        sa.Column("label", sa.Text()),
        sa.Column("pinned", sa.Boolean(), nullable=False),
        sa.Column("verified_green", sa.Boolean(), nullable=False),
        sa.Column("last_completed_step", sa.Text()),
        _time("created_at"),
        sa.Column("metadata_json", sa.Text(), nullable=False),
    ]


def _join_operations_to_checkpoints() -> None:
    if not _can_alter():
        return
    for column in OPERATION_CHECKPOINTS:
        op.create_foreign_key(
            f"fk_operations_{column}",
            "operations",
            "checkpoint_metadata",
            [column],
            ["checkpoint_id"],
        )


def _can_alter() -> bool:
    return op.get_context().dialect.supports_alter


def _id(name: str, *, nullable: bool = True) -> sa.Column[Any]:
    # Languages differ in where they put a Y or a CH; ids are ordered by their letters alone.
    plain = sa.String(26).with_variant(sa.String(26, collation="C"), "postgresql")
    return sa.Column(name, plain, nullable=nullable)


def _word(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    return sa.Column(name, sa.String(16), nullable=nullable)


def _time(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable)


def _primary_key(table: str, *columns: str) -> sa.PrimaryKeyConstraint:
    return sa.PrimaryKeyConstraint(*columns, name=op.f(f"pk_{table}"))


def _unique(table: str, *columns: str) -> sa.UniqueConstraint:
    return sa.UniqueConstraint(*columns, name=op.f(f"uq_{table}_{'_'.join(columns)}"))


def _foreign_key(
    table: str, column: str, target: str, *, use_alter: bool = False
) -> sa.ForeignKeyConstraint:
    name = op.f(f"fk_{table}_{column}")
    return sa.ForeignKeyConstraint([column], [target], name=name, use_alter=use_alter)


def _one_of(table: str, column: str, words: str) -> sa.CheckConstraint:
    return sa.CheckConstraint(f"{column} IN ({words})", name=op.f(f"ck_{table}_{column}"))
