"""Decisions as plain SQL tells of them, and ways to make some quickly."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from backtrail.domain.decision import DecisionRequest
from support.world import audit

if TYPE_CHECKING:
    from support.storage.rows import Row
    from support.world.world import World

Context = Any
_NUMBER = re.compile(r"D([0-9]+)")


def decide(context: Context, text: str, parent: str | None = None) -> None:
    """Record a decision of the plan that steps speak of."""
    world: World = context.world
    with world.services() as services:
        services.decisions.add(context.plan.plan_id, DecisionRequest(text, parent))


def row_of(world: World, plan: str, number: str) -> Row:
    """The row of a decision such as D3."""
    sql = "SELECT * FROM decisions WHERE plan_id = ? AND seq = ?"
    [row] = audit.query(world, sql, plan, int(number.removeprefix("D")))
    return row


def numbers(context: Context) -> dict[str, str]:
    """`D1` and so on by the id."""
    sql = "SELECT decision_id, seq FROM decisions WHERE plan_id = ?"
    rows = audit.query(context.world, sql, context.plan.plan_id)
    return {str(row["decision_id"]): f"D{row['seq']}" for row in rows}


def carried_by(context: Context, table: str, name: str, *, order: str | None = None) -> list[str]:
    """What the rows of a table are called, each with the number of its decision."""
    sql = f"SELECT {name} AS name, decision_id FROM {table} WHERE plan_id = ?"
    rows = audit.query(context.world, f"{sql} ORDER BY {order or name}", context.plan.plan_id)
    known = numbers(context)
    return [f"{row['name']} {known.get(row['decision_id'], 'none')}" for row in rows]


def holding(world: World, plan: str) -> list[str]:
    """Numbers of the decisions that the plan's lineage holds, worked out without the program."""
    sql = "SELECT current_epoch FROM plans WHERE plan_id = ?"
    [found] = audit.query(world, sql, plan)
    limits = audit.lineage_limits(world, plan, int(str(found["current_epoch"])))
    sql = "SELECT * FROM decisions WHERE plan_id = ? AND position IS NOT NULL ORDER BY position"
    return [
        f"D{row['seq']}"
        for row in audit.query(world, sql, plan)
        if int(str(row["position"])) <= limits.get(int(str(row["epoch"])), -1.0)
    ]


def named_id(context: Context, what: str) -> str | None:
    """The id behind `D1`, `other's D1` or `D1 and D2` (their common beginning)."""
    plans = {name: plan.plan_id for name, plan in context.plans.items()}
    whose, _, number = what.rpartition("'s ")
    plan = plans[whose] if whose else context.plan.plan_id
    numbers = _NUMBER.findall(number)
    if not numbers or _NUMBER.sub("", number).strip() not in ("", "and"):
        return None
    ids = [str(row_of(context.world, plan, n)["decision_id"]) for n in numbers]
    if len(ids) == 1:
        return ids[0]
    same = [one == other for one, other in zip(*ids, strict=True)]
    return ids[0][: same.index(False)]
