"""Steps about corrections: decisions that are taken back or added to."""

from behave import given, step, then, when

from support.crashes import crashes
from support.decisions import corrections, decisions
from support.program.forked import WriteHere, run_forked
from support.world import audit, drive
from support.world.examples import thorough

SAMPLED = (
    "rollback.opened",
    "create.pinned",
    "rollback.safety_made",
    "rollback.restoring",
    "rollback.files_restored",
    "rollback.proved",
    "rollback.result_announced",
    "rollback.result_pinned",
    "rollback.landed",
    "rollback.done",
)
REVERT = ("correct", "auth", "D5", "--mode", "revert", "--guidance", "other", "--yes")


@given(
    "{count:d} decisions in a tree, with work, runs, steps and child plans between them: "
    "at least {checkpoints:d} checkpoints"
)
def _(context, count, checkpoints):
    corrections.live_a_long_story(context)
    context.at_first = corrections.Held.now(context)
    assert len(context.at_first.ids["decisions"]) == count
    assert len(context.at_first.ids["checkpoint_metadata"]) >= checkpoints


@step('decision {number} is reverted with "{guidance:Text}"')
def _(context, number, guidance):
    context.reverted = number
    context.before = corrections.Held.now(context)
    context.leaving = context.before.after(context, number)
    with context.world.services() as services:
        plan = context.plan.plan_id
        context.corrected = services.corrections.revert(plan, number, guidance)


@then("exactly what came after its checkpoint has left the timeline, by an independent count")
def _(context):
    now, leaving = corrections.Held.now(context), context.leaving
    for table, before in context.before.ids.items():
        assert before - now.ids[table] == leaving[table], table
    counted = {table: len(ids) for table, ids in leaving.items() if table != "step_marks"}
    counted["steps"] = len(corrections.steps_begun(context, leaving["step_marks"]))
    assert min(counted.values()) > 0, counted
    assert corrections.counts(context.corrected) == counted, counted
    assert len(context.corrected.affected) == counted["decisions"]


@then("what has to be done again is what left, in its old order")
def _(context):
    again = [item.identity for item in context.corrected.recompute]
    wrong = decisions.row_of(context.world, context.plan.plan_id, context.reverted)["decision_id"]
    leaving = context.leaving
    left = (leaving["decisions"] - {wrong}) | leaving["runs"]
    left |= corrections.steps_begun(context, leaving["step_marks"])
    left |= corrections.invalidated(context)
    assert set(again) == left, (again, left)
    places = corrections.positions(context)
    assert again == sorted(again, key=places.__getitem__), again


@then("child plans that began after it are invalidated, and no others")
def _(context):
    wanted = {context.plans[name].plan_id for name in ("child-6", "child-12")}
    assert corrections.invalidated(context) == wanted
    assert context.corrected.rollback.impact.child_plans_invalidated == len(wanted)


@then(
    "the corrective decision stands in the place of {number}, "
    "with the revert's result as its checkpoint"
)
def _(context, number):
    wrong = decisions.row_of(context.world, context.plan.plan_id, number)
    result = context.corrected
    assert result.corrective.current, result
    assert result.corrective.decision.parent_decision_id == wrong["parent_decision_id"], result
    restored = result.rollback.restored_checkpoint
    assert result.corrective.checkpoint.checkpoint_id == restored.checkpoint_id, result
    [row] = audit.query(context.world, "SELECT * FROM corrections")
    assert row["decision_id"] == wrong["decision_id"], row
    assert row["corrective_decision_id"] == result.corrective.decision.decision_id, row
    assert row["operation_id"] == result.rollback.operation_id, row


@then("decisions, steps, runs and child plans hold as they did at first")
def _(context):
    now = corrections.Held.now(context)
    for table in ("decisions", "runs", "step_marks"):
        assert now.ids[table] == context.at_first.ids[table], table
    assert corrections.invalidated(context) == set()
    assert context.at_first.ids["checkpoint_metadata"] <= now.ids["checkpoint_metadata"]


@then("what the dry run told of decisions happened, too")
def _(context):
    happened = context.ran.ok().json()["data"]
    assert happened["affected_subtree"] == context.told["affected_subtree"]
    assert happened["recompute"] == context.told["recompute"]
    assert happened["affected_subtree"]["decisions"], happened


@given("the checkpoints before {one} and {other} were deleted")
def _(context, one, other):
    with drive.checkpoints(context) as service:
        service.delete_checkpoints(context.plan.plan_id, [f"before:{one}", f"before:{other}"])


@given("no checkpoint of the plan can be restored")
def _(context):
    sql = "UPDATE checkpoint_metadata SET state = 'damaged' WHERE plan_id = ?"
    assert audit.change(context.world, sql, context.plan.plan_id)


@when("reverting D5 is killed at sampled failpoints, and each time the next command is run")
def _(context):
    world, start = context.world, crashes.Frozen.of(context.world, "start")
    context.leaving = context.at_first.after(context, "D5")
    before, context.crashes = drive.look(context), []
    for nth in range(1, 100):
        place = _killed(world, nth)
        if place is None:
            break
        if thorough() or place in SAMPLED:
            context.crashes.append(_crash(context, place, before))
        start.thaw()
    start.drop()
    assert {crash.places[0] for crash in context.crashes} >= set(SAMPLED)


def _killed(world, nth):
    _, place = crashes.kill_at(world, nth, *REVERT)
    return place


def _crash(context, place, before):
    world, crash = context.world, crashes.Crash([place])
    ran = run_forked(world, *crashes.NEXT)
    crash.note("usable", [] if ran.code == 0 else [f"it gave {ran.code}: {ran.err}"])
    crash.note("invariant", audit.problems(world))
    crash.note("whole", _not_whole(context, before))
    return crash


def _not_whole(context, before):
    """All as before, or all as asked for; what is half of each is told."""
    now, held = drive.look(context), corrections.Held.now(context).ids
    recorded = len(audit.query(context.world, "SELECT * FROM corrections"))
    lost = {table: ids - held[table] for table, ids in context.at_first.ids.items()}
    invalid = corrections.invalidated(context)
    later = {context.plans[name].plan_id for name in ("child-6", "child-12")}
    goal = context.remembered["before D5"]
    untouched = not (before.differences(now) or any(lost.values()) or recorded or invalid)
    done = (lost, recorded, invalid) == (context.leaving, 1, later) and not goal.differences(now)
    return [] if untouched or done else [f"{lost} left, {recorded} corrections, {invalid} invalid"]


@then(
    "every time files, timeline, child plans and correction were all as before or all as asked for"
)
def _(context):
    found = crashes.report(context.crashes, "whole")
    assert not found, found


@when('somebody writes to "{path:Text}" while {number} is reverted')
def _(context, path, number):
    meddler = WriteHere("rollback.git_restored", drive.sandbox(context) / path, "meddling\n")
    with context.world.services(meddler) as services:
        revert = services.corrections.revert
        context.error = drive.refusal(revert, context.plan.plan_id, number, "other")


@then("no correction is recorded")
def _(context):
    assert audit.query(context.world, "SELECT * FROM corrections") == []
