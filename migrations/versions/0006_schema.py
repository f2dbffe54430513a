"""All tables. What came before this revision was never released."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0006"
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
OPERATION_CHECKPOINTS = ("target_checkpoint_id", "safety_checkpoint_id", "result_checkpoint_id")
RUN_STATUSES = (
    "'pending', 'running', 'finalizing', 'success', 'error', 'timeout', 'interrupted', "
    "'rolled_back'"
)


def upgrade() -> None:
    # A database of revision 0005 comes here, too: it lacks only the decisions of runs and steps.
    if not sa.inspect(op.get_bind()).has_table("plans"):
        _create_plans()
        _create_sandboxes()
        _create_operations()
        _create_epochs()
        _create_decisions()
        _create_checkpoints()
        _create_runs()
        _create_steps()
        _create_step_marks()
        _create_corrections()
    for table in ("runs", "steps"):
        _add_decision(table)
    _fill_decisions()


def _create_plans() -> None:
    op.create_table(
        "plans",
        _id("plan_id"),
        _text("repository_id"),
        _text("name"),
        _text("live_name", nullable=True),
        _word("phase"),
        _word("state"),
        _number("current_epoch"),
        _number("position"),
        _id("parent_plan_id", nullable=True),
        _number("spawn_epoch", nullable=True),
        _number("spawn_position", nullable=True),
        _text("base_ref", nullable=True),
        sa.Column("applied_commit", sa.String(64)),
        _text("policy_json", nullable=True),
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
        _id("sandbox_id"),
        _id("plan_id"),
        _text("repository_id"),
        _text("store_id"),
        _text("host_id"),
        _word("kind"),
        _text("path"),
        _text("git_dir"),
        _text("branch", nullable=True),
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
        _id("operation_id"),
        _id("plan_id"),
        _number("number"),
        _word("kind"),
        _word("state"),
        _text("store_id"),
        _text("host_id"),
        _text("actor"),
        _text("host"),
        _text("command_line"),
        _text("reason"),
        *(_id(name, nullable=True) for name in OPERATION_CHECKPOINTS),
        _id("entry_operation_id", nullable=True),
        _word("stack", nullable=True),
        _word("phase_before"),
        _word("state_before"),
        _word("phase_after"),
        _word("state_after"),
        _number("epoch_before"),
        _number("epoch_after", nullable=True),
        _text("paths_json"),
        sa.Column("move_branch", sa.Boolean(), nullable=False),
        _time("started_at"),
        _time("finished_at", nullable=True),
        _text("result_json"),
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


def _create_epochs() -> None:
    op.create_table(
        "epochs",
        _id("plan_id"),
        sa.Column("epoch", sa.Integer(), autoincrement=False, nullable=False),
        _number("parent_epoch", nullable=True),
        _number("cut_position", nullable=True),
        _id("operation_id", nullable=True),
        _primary_key("epochs", "plan_id", "epoch"),
        _foreign_key("epochs", "plan_id", "plans.plan_id"),
        _foreign_key("epochs", "operation_id", "operations.operation_id"),
    )


def _create_decisions() -> None:
    op.create_table(
        "decisions",
        _id("decision_id"),
        _id("plan_id"),
        _id("parent_decision_id", nullable=True),
        _number("position", nullable=True),
        _number("epoch", nullable=True),
        _text("text"),
        _text("rationale"),
        _text("alternatives_json"),
        _time("created_at"),
        sa.Column("seq", sa.Integer(), server_default="0", nullable=False),
        _primary_key("decisions", "decision_id"),
        _foreign_key("decisions", "plan_id", "plans.plan_id"),
        _foreign_key("decisions", "parent_decision_id", "decisions.decision_id"),
    )
    op.create_index("ix_decisions_timeline", "decisions", ["plan_id", "position"])
    op.create_index("ix_decisions_newest", "decisions", ["plan_id", "decision_id"])
    op.create_index("ix_decisions_seq", "decisions", ["plan_id", "seq"], unique=True)


def _create_checkpoints() -> None:
    table = "checkpoint_metadata"
    op.create_table(
        table,
        _id("checkpoint_id"),
        _id("plan_id"),
        _number("seq"),
        _number("position"),
        _number("epoch"),
        _word("checkpoint_type"),
        _word("state"),
        sa.Column("sandbox_ref", sa.String(64)),
        _id("resource_id"),
        _id("decision_id", nullable=True),
        _id("parent_checkpoint_id", nullable=True),
        _id("superseded_by", nullable=True),
        _id("operation_id", nullable=True),
        _text("store_id"),
        _text("host_id"),
        _text("filesystem_path"),
        sa.Column("size_bytes", sa.BigInteger()),
        _text("label", nullable=True),
        sa.Column("pinned", sa.Boolean(), nullable=False),
        sa.Column("verified_green", sa.Boolean(), nullable=False),
        _text("last_completed_step", nullable=True),
        _time("created_at"),
        _text("metadata_json"),
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
    op.create_index("ix_checkpoint_metadata_decision", table, ["decision_id"])
    timeline = ["plan_id", "state", "superseded_by", "position"]
    op.create_index("ix_checkpoint_metadata_timeline", table, timeline)
    if op.get_context().dialect.supports_alter:
        for column in OPERATION_CHECKPOINTS:
            key = f"fk_operations_{column}"
            op.create_foreign_key(key, "operations", table, [column], ["checkpoint_id"])


def _create_runs() -> None:
    op.create_table(
        "runs",
        _id("run_id"),
        _id("plan_id"),
        _id("live_plan_id", nullable=True),
        _number("number"),
        _word("status"),
        _number("fence"),
        _text("store_id"),
        _text("host_id"),
        _text("actor"),
        _text("host"),
        _text("holder"),
        _text("command", nullable=True),
        _time("lease_until"),
        sa.Column("lease_clock", sa.Float(53), nullable=False),
        _text("argv_json"),
        _text("cwd"),
        _text("options_json"),
        _number("position", nullable=True),
        _number("epoch", nullable=True),
        _id("pre_checkpoint_id", nullable=True),
        _id("post_checkpoint_id", nullable=True),
        _word("abort_action", nullable=True),
        _number("exit_code", nullable=True),
        _time("created_at"),
        _time("started_at", nullable=True),
        _time("ended_at", nullable=True),
        _text("result_json"),
        _primary_key("runs", "run_id"),
        _unique("runs", "plan_id", "number"),
        _unique("runs", "live_plan_id"),
        _foreign_key("runs", "plan_id", "plans.plan_id"),
        _foreign_key("runs", "live_plan_id", "plans.plan_id"),
        _foreign_key("runs", "pre_checkpoint_id", "checkpoint_metadata.checkpoint_id"),
        _foreign_key("runs", "post_checkpoint_id", "checkpoint_metadata.checkpoint_id"),
        _one_of("runs", "status", RUN_STATUSES),
        _one_of("runs", "abort_action", "'rollback', 'interrupt'"),
    )
    op.create_index("ix_runs_timeline", "runs", ["plan_id", "position"])


def _create_steps() -> None:
    op.create_table(
        "steps",
        _id("step_id"),
        _id("plan_id"),
        _text("key"),
        _number("ordinal"),
        sa.Column("digest", sa.String(64), nullable=False),
        _text("command_json"),
        _text("directory"),
        _primary_key("steps", "step_id"),
        _foreign_key("steps", "plan_id", "plans.plan_id"),
    )
    op.create_index("ix_steps_plan", "steps", ["plan_id", "step_id"])


def _create_step_marks() -> None:
    table = "step_marks"
    op.create_table(
        table,
        _id("mark_id"),
        _id("plan_id"),
        _id("step_id"),
        _word("kind"),
        _number("epoch"),
        _number("position"),
        _id("run_id", nullable=True),
        _id("attempt_id", nullable=True),
        _word("outcome", nullable=True),
        _number("exit_code", nullable=True),
        _text("value_json", nullable=True),
        _word("output", nullable=True),
        sa.Column("output_bytes", sa.BigInteger()),
        _time("at"),
        _primary_key(table, "mark_id"),
        _unique(table, "plan_id", "position"),
        _foreign_key(table, "plan_id", "plans.plan_id"),
        _foreign_key(table, "step_id", "steps.step_id"),
        _foreign_key(table, "run_id", "runs.run_id"),
        _foreign_key(table, "attempt_id", "step_marks.mark_id"),
        _one_of(table, "kind", "'started', 'completed', 'dropped', 'reused'"),
        _one_of(table, "outcome", "'succeeded', 'failed'"),
        _one_of(table, "output", "'none', 'kept', 'pruned', 'lost'"),
    )
    op.create_index("ix_step_marks_output", table, ["plan_id", "output", "output_bytes"])


def _create_corrections() -> None:
    table = "corrections"
    op.create_table(
        table,
        _id("correction_id"),
        _id("plan_id"),
        _id("decision_id"),
        _id("corrective_decision_id"),
        _word("mode"),
        _text("guidance"),
        _id("operation_id"),
        _id("checkpoint_id", nullable=True),
        _time("created_at"),
        _primary_key(table, "correction_id"),
        _foreign_key(table, "plan_id", "plans.plan_id"),
        _foreign_key(table, "decision_id", "decisions.decision_id"),
        _foreign_key(table, "corrective_decision_id", "decisions.decision_id"),
        _foreign_key(table, "operation_id", "operations.operation_id"),
        _foreign_key(table, "checkpoint_id", "checkpoint_metadata.checkpoint_id"),
        _one_of(table, "mode", "'revert', 'append'"),
    )
    op.create_index("ix_corrections_plan", table, ["plan_id", "correction_id"])


def _add_decision(table: str) -> None:
    """The decision that was current when a run or a step began."""
    # SQLite can give a table no further constraint, but a new column can bring one, without a name.
    inline = op.get_bind().dialect.name == "sqlite"
    column = _id("decision_id", nullable=True)
    column.append_foreign_key(
        sa.ForeignKey("decisions.decision_id", name=op.f(f"fk_{table}_decision_id"))
    )
    op.add_column(table, column, inline_references=inline)
    op.create_index(f"ix_{table}_decision", table, ["decision_id"])


def _fill_decisions() -> None:
    # What the checkpoint before a run carries was current when the run began. Of earlier steps
    # nobody wrote it down, but their first run did.
    op.execute(
        "UPDATE runs SET decision_id = (SELECT decision_id FROM checkpoint_metadata"
        " WHERE checkpoint_id = runs.pre_checkpoint_id)"
    )
    op.execute(
        "UPDATE steps SET decision_id = (SELECT runs.decision_id FROM step_marks"
        " JOIN runs ON runs.run_id = step_marks.run_id"
        " WHERE step_marks.step_id = steps.step_id AND step_marks.kind = 'started'"
        " ORDER BY step_marks.position LIMIT 1)"
    )


def _id(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    # Languages differ in where they put a Y or a CH; ids are ordered by their letters alone.
    plain = sa.String(26).with_variant(sa.String(26, collation="C"), "postgresql")
    return sa.Column(name, plain, nullable=nullable)


def _text(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    return sa.Column(name, sa.Text(), nullable=nullable)


def _number(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    return sa.Column(name, sa.Integer(), nullable=nullable)


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
