"""A plan with a long story, and an independent count of what a revert takes off its timeline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from support.decisions import decisions
from support.program.forked import run_forked
from support.world import audit, drive
from support.world.world import write_files

if TYPE_CHECKING:
    from backtrail.domain.correction import CorrectionResult

Context = Any
_PARENTS = (None, "D1", "D1", "D3", "D3", "D5", "D5", "D3", None, "D9", "D9", "D1")
_TABLES = {
    "decisions": "decision_id",
    "checkpoint_metadata": "checkpoint_id",
    "runs": "run_id",
    "step_marks": "mark_id",
}


def live_a_long_story(context: Context) -> None:
    """Twelve decisions; before each the sandbox is remembered, after each there is work."""
    for number, parent in enumerate(_PARENTS, start=1):
        drive.remember(context, f"before D{number}")
        decisions.decide(context, f"choice {number}", parent)
        write_files(
            drive.sandbox(context), {f"file {number}": f"{number}\n", "same": f"{number}\n"}
        )
        drive.save(context, f"s{number}")
        if number % 3 == 0:
            write_files(drive.sandbox(context), {"by hand": f"{number}\n"})
            run_forked(context.world, "run", "auth", "--", "touch", f"ran {number}").ok()
        elif number % 3 == 1:
            command = ("touch", f"stepped {number}")
            run_forked(context.world, "run", "auth", "--step", f"k{number}", "--", *command).ok()
        if number in (2, 6, 12):
            _spawn(context, f"child-{number}")
    drive.remember(context, "after everything")


def _spawn(context: Context, name: str) -> None:
    world, parent = context.world, context.plan
    with world.services() as services:
        plan = services.plans.create(name, parent=services.plans.resolve(parent.name)).plan
    context.plans = {**context.plans, name: plan}


def invalidated(context: Context) -> set[str]:
    """Child plans that no longer hold, as the rows say."""
    sql = "SELECT plan_id FROM plans WHERE parent_plan_id = ? AND state = 'invalidated'"
    return {str(r["plan_id"]) for r in audit.query(context.world, sql, context.plan.plan_id)}


@dataclass(frozen=True, slots=True)
class Held:
    """What is on a plan's timeline, worked out with plain SQL: ids by table."""

    ids: dict[str, set[str]]

    @classmethod
    def now(cls, context: Context) -> Held:
        plan = context.plan.plan_id
        [found] = audit.query(
            context.world, "SELECT current_epoch FROM plans WHERE plan_id = ?", plan
        )
        limits = audit.lineage_limits(context.world, plan, int(str(found["current_epoch"])))

        def live(table: str, identity: str) -> set[str]:
            sql = f"SELECT * FROM {table} WHERE plan_id = ? AND position IS NOT NULL"
            return {
                str(row[identity])
                for row in audit.query(context.world, sql, plan)
                if int(str(row["position"])) <= limits.get(int(str(row["epoch"])), -1.0)
            }

        return cls({table: live(table, identity) for table, identity in _TABLES.items()})

    def after(self, context: Context, number: str) -> dict[str, set[str]]:
        """Of these, what came after the checkpoint before a decision."""
        row = decisions.row_of(context.world, context.plan.plan_id, number)
        sql = "SELECT position FROM checkpoint_metadata WHERE decision_id = ? AND position < ?"
        [own] = audit.query(context.world, sql, row["decision_id"], row["position"])
        return {
            table: self.ids[table] & _later(context, table, identity, int(str(own["position"])))
            for table, identity in _TABLES.items()
        }


def _later(context: Context, table: str, identity: str, position: int) -> set[str]:
    sql = f"SELECT {identity} FROM {table} WHERE plan_id = ? AND position > ?"
    rows = audit.query(context.world, sql, context.plan.plan_id, position)
    return {str(row[identity]) for row in rows}


def steps_begun(context: Context, marks: set[str]) -> set[str]:
    """Steps that began with one of these marks."""
    sql = "SELECT mark_id, step_id FROM step_marks WHERE kind = 'started'"
    rows = audit.query(context.world, sql)
    return {str(row["step_id"]) for row in rows if row["mark_id"] in marks}


def positions(context: Context) -> dict[str, int]:
    """Where each decision, run and step of the plan stands, by its id."""
    found: dict[str, int] = {}
    for table, identity in (("decisions", "decision_id"), ("runs", "run_id")):
        sql = f"SELECT * FROM {table} WHERE position IS NOT NULL"
        found |= {
            str(r[identity]): int(str(r["position"])) for r in audit.query(context.world, sql)
        }
    children = audit.query(context.world, "SELECT plan_id, spawn_position FROM plans")
    found |= {str(r["plan_id"]): int(str(r["spawn_position"] or 0)) for r in children}
    sql = "SELECT step_id, position FROM step_marks WHERE kind = 'started' ORDER BY position DESC"
    found |= {str(r["step_id"]): int(str(r["position"])) for r in audit.query(context.world, sql)}
    return found


def counts(result: CorrectionResult) -> dict[str, int]:
    """The counts that a result tells."""
    assert result.rollback is not None
    impact = result.rollback.impact
    return {
        "decisions": impact.decisions_after_cp,
        "checkpoint_metadata": impact.checkpoints_superseded,
        "runs": impact.runs_after_cp,
        "steps": impact.steps_superseded,
    }
