"""Steps about what a plan keeps: limits, pruning, tombstones."""

import json
import os
from functools import partial

from behave import given, step, then, when

from backtrail.domain.checkpoint import CheckpointRequest, CheckpointType
from backtrail.domain.operation import OperationKind
from backtrail.domain.rollback import RollbackRequest
from backtrail.services.retention.prune import decision_now, keep_within_limits, prune
from backtrail.services.rollback.order import rollback_order
from backtrail.services.session.journal import open_operation
from support.world import audit, drive, phrases
from support.world.world import write_files


@step('{count:d} checkpoints of type "{kind:Text}" are saved')
def _(context, count, kind):
    request = CheckpointRequest(checkpoint_type=CheckpointType(kind))
    with drive.checkpoints(context) as service:
        for number in range(count):
            write_files(drive.sandbox(context), {"work.txt": f"{kind} {number}\n"})
            service.create_checkpoint(context.plan.plan_id, request)


@step('the agent saves as "{label:Text}" something of {size:d} KiB that does not compress')
def _(context, label, size):
    write_files(drive.sandbox(context), {"noise": os.urandom(size * 1024)})
    drive.save(context, None, reason=drive.NAMED + label)


@given("every checkpoint is {days:d} days old")
def _(context, days):
    sql = "UPDATE checkpoint_metadata SET created_at = datetime('now', ?) || '.000000'"
    assert audit.change(context.world, sql, f"-{days} days")


@given("the ref of tombstone {seq:d} is put back")
def _(context, seq):
    row = _row(context, seq)
    ref = f"refs/backtrail/{row['resource_id']}/{row['checkpoint_id']}"
    assert row["state"] == "pruned", row
    assert audit.store_git(context.world, "update-ref", ref, row["sandbox_ref"]).returncode == 0


@given("a killed git left the lock that it takes to delete refs")
def _(context):
    (context.world.store / "packed-refs.lock").touch()


@given("somebody packs the refs of the store")
def _(context):
    assert audit.store_git(context.world, "pack-refs", "--all").returncode == 0
    assert not list(context.world.store.glob("refs/backtrail/*/*"))


@given("the plan's row holds this policy: {policy}")
def _(context, policy):
    sql = "UPDATE plans SET policy_json = ? WHERE plan_id = ?"
    assert audit.change(context.world, sql, policy, context.plan.plan_id) == 1


@then("the plan's row has under {name} {value}")
def _(context, name, value):
    sql = "SELECT policy_json FROM plans WHERE plan_id = ?"
    [row] = audit.query(context.world, sql, context.plan.plan_id)
    assert json.loads(row["policy_json"])[name] == json.loads(value), row


@given('a rollback to checkpoint "{label:Text}" is open')
def _(context, label):
    target = drive.find(context, label)
    order = rollback_order(target, RollbackRequest())
    with context.world.services() as services, services.workspace.database.write() as uow:
        open_operation(services.workspace, uow, context.plan, order.entry)


@when("somebody tries to prune in the middle of it")
def _(context):
    with context.world.services() as services:
        ws = services.workspace
        with ws.locked(context.plan.plan_id) as locked:
            context.error = drive.refusal(
                prune,
                locked,
                lambda uow, plan: decision_now(uow, plan, ws.now()),
                OperationKind.PRUNE,
            )


@when('somebody looks whether "{label:Text}" could be deleted')
def _(context, label):
    with drive.checkpoints(context) as service:
        delete = partial(service.delete_checkpoints, dry_run=True)
        named = [drive.reference(context, label)]
        context.error = drive.refusal(delete, context.plan.plan_id, named)


@when("pruning by itself is due in the middle of it")
def _(context):
    with context.world.services() as services:
        with services.workspace.locked(context.plan.plan_id) as locked:
            keep_within_limits(locked)
        context.notices = services.notices


@then('a notice says "{words:Text}"')
def _(context, words):
    assert any(words in notice for notice in context.notices), context.notices


def _row(context, seq):
    sql = "SELECT * FROM checkpoint_metadata WHERE plan_id = ? AND seq = ?"
    [row] = audit.query(context.world, sql, context.plan.plan_id, seq)
    return row


def _count(context, state):
    sql = "SELECT count(*) AS n FROM checkpoint_metadata WHERE plan_id = ? AND state = ?"
    [row] = audit.query(context.world, sql, context.plan.plan_id, state)
    return row["n"]


@then("{complete:d} checkpoints are complete and {gone:d} are tombstones")
def _(context, complete, gone):
    found = _count(context, "complete"), _count(context, "pruned")
    assert found == (complete, gone), found


@given("checkpoint {seq:d} has failed, although it got a ref")
def _(context, seq):
    sql = """UPDATE checkpoint_metadata SET state = 'failed', sandbox_ref = NULL
             WHERE plan_id = ? AND seq = ?"""
    assert audit.change(context.world, sql, context.plan.plan_id, seq) == 1


@given('an earlier version has pruned checkpoint {seq:d}, whose label was "{label:Text}"')
def _(context, seq, label):
    sql = "UPDATE checkpoint_metadata SET metadata_json = ? WHERE plan_id = ? AND seq = ?"
    metadata = json.dumps({"released_label": label})
    assert audit.change(context.world, sql, metadata, context.plan.plan_id, seq) == 1


@then("at most {most:d} checkpoints are complete")
def _(context, most):
    found = _count(context, "complete")
    assert 0 < found <= most, found


@then("checkpoint {seq:d} is {state}")
def _(context, seq, state):
    assert _row(context, seq)["state"] == state, _row(context, seq)


@then("these numbers are tombstones, and no ref is left of them: {numbers}")
def _(context, numbers):
    refs = audit.refs(context.world)
    for number in phrases.names(numbers):
        row = _row(context, int(number))
        assert row["state"] == "pruned", row
        assert row["checkpoint_id"] not in refs, row
        assert row["label"] is None, row


def _called(context, entry):
    [found] = [c for c in drive.listed(context) if c.checkpoint_id == entry["checkpoint_id"]]
    return drive.called(found)


@then("these would go: {listed}")
def _(context, listed):
    removed = context.ran.ok().json()["data"]["prune"]["removed"]
    found = [f"{_called(context, entry)} because {entry['reason']}" for entry in removed]
    assert found == phrases.names(listed), found


@then("these would stay: {listed}")
def _(context, listed):
    found = [_called(context, entry) for entry in context.ran.json()["data"]["prune"]["kept"]]
    assert found == phrases.names(listed), found


@then("what went and what stayed is what the dry run told, and something went")
def _(context):
    happened = context.ran.ok().json()["data"]["prune"]
    told = context.told["prune"]
    assert told["removed"], told
    assert (told["dry_run"], happened["dry_run"]) == (True, False)
    assert {**told, "dry_run": False} == happened, (told, happened)


@then("what is left on the timeline is as many as the dry run told")
def _(context):
    told = context.told["post_rollback_state"]["checkpoints_remaining"]
    happened = context.ran.ok().json()["data"]["post_rollback_state"]["checkpoints_remaining"]
    listed = len(drive.listed(context, include_all=False))
    assert told == happened == listed, (told, happened, listed)


@then("the log tells of {count:d} operations of kind {kind}")
def _(context, count, kind):
    sql = "SELECT * FROM operations WHERE plan_id = ? AND kind = ?"
    found = audit.query(context.world, sql, context.plan.plan_id, kind)
    assert len(found) == count, found
    assert all(row["state"] == "done" for row in found), found


@then('it says only once "{words:Text}"')
def _(context, words):
    said = context.ran.ok().out + context.ran.err
    assert said.count(words) == 1, context.ran
