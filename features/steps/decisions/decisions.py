"""Steps about decisions: recording them, and which of them hold."""

from behave import given, then, when

from backtrail.domain.decision import DecisionRequest
from backtrail.domain.errors import StorageError
from backtrail.domain.ids import DecisionId
from support.crashes import crashes
from support.decisions import decisions
from support.program.crowd import work_at_once
from support.program.forked import run_forked
from support.storage import migrations
from support.world import audit, drive, phrases


@given("the decisions: {texts}")
def _(context, texts):
    for text in phrases.names(texts):
        decisions.decide(context, text)


@given('the decision "{text:Text}" after {parent}')
def _(context, text, parent):
    decisions.decide(context, text, None if parent == "none" else parent)


@given('a decision of plan "{name:Text}"')
def _(context, name):
    with context.world.services() as services:
        services.decisions.add(context.plans[name].plan_id, DecisionRequest("something"))


@given('plan "{name:Text}" is in state "{state:Text}"')
def _(context, name, state):
    spoken_of, context.plan = context.plan, context.plans[name]
    drive.set_plan_state(context, "apply", state)
    context.plan = spoken_of if spoken_of.name != name else context.plans["auth"]


@when('I decide "{text:Text}"')
def _(context, text):
    spelled = text.encode("latin-1").decode("unicode_escape")
    run_forked(context.world, "decision", "add", context.plan.name, spelled).ok()


@when("I try to decide something of {length:d} characters")
def _(context, length):
    context.error = drive.refusal(decisions.decide, context, "x" * length)


@then("the decisions that hold are: {listed}")
def _(context, listed):
    wanted = phrases.names(listed)
    found = decisions.holding(context.world, context.plan.plan_id)
    assert found == wanted, found
    with context.world.services() as services:
        told = services.decisions.list(context.plan.plan_id).entries
    assert [entry.decision.number for entry in told] == wanted, told


@then("no decision holds")
def _(context):
    assert decisions.holding(context.world, context.plan.plan_id) == []


@then("the current decision is {number}")
def _(context, number):
    with context.world.services() as services:
        found = services.decisions.get(context.plan.plan_id, "current")
    assert (found.decision.number, found.current) == (number, True), found


@then("decision {number} is {state}")
def _(context, number, state):
    with context.world.services() as services:
        found = services.decisions.get(context.plan.plan_id, number)
    assert found.state == state, found


@then('the checkpoint before {number} is of type "{kind:Text}" and has its id')
def _(context, number, kind):
    row = decisions.row_of(context.world, context.plan.plan_id, number)
    sql = (
        "SELECT checkpoint_type, state FROM checkpoint_metadata"
        " WHERE decision_id = ? AND position < ?"
    )
    [found] = audit.query(context.world, sql, row["decision_id"], row["position"])
    assert (found["checkpoint_type"], found["state"]) == (kind, "complete"), found


def _carried(context):
    numbers = decisions.numbers(context)
    found = ((drive.called(c), c.decision_id or "") for c in drive.listed(context))
    return [f"{name} {numbers.get(decision, 'none')}" for name, decision in found]


@then("the runs carry: {listed}")
def _(context, listed):
    found = decisions.carried_by(context, "runs", "number")
    assert found == phrases.names(listed), found


@then("the steps carry: {listed}")
def _(context, listed):
    found = decisions.carried_by(context, "steps", "key", order="step_id")
    assert found == phrases.names(listed), found


@then("its JSON says that run {number:d} is of {decision}")
def _(context, number, decision):
    run = context.ran.json()["data"]["run"]
    assert run["number"] == number
    assert decisions.numbers(context)[run["decision_id"]] == decision, run


@then('its JSON says that step "{key:Text}" is of {decision}')
def _(context, key, decision):
    [step] = [step for step in context.ran.json()["data"]["steps"] if step["key"] == key]
    assert decisions.numbers(context)[step["decision_id"]] == decision, step


@then("a run that carries a decision that does not exist is refused by the database")
def _(context):
    with context.world.services() as services:
        run = services.runs.get(context.plan.plan_id, "1")

        def pretend():
            with services.workspace.database.write() as uow:
                uow.runs.update(run.run_id, decision_id=DecisionId("01AAAAAAAAAAAAAAAAAAAAAAAA"))

        error = drive.refusal(pretend)
    assert isinstance(error, StorageError), error


@when("the database is taken back to revision {revision}")
def _(context, revision):
    migrations.take_back(context.world, revision)


@then("the checkpoints carry: {listed}")
def _(context, listed):
    assert _carried(context) == phrases.names(listed), _carried(context)


@then("the newest checkpoints carry: {listed}")
def _(context, listed):
    wanted = phrases.names(listed)
    assert _carried(context)[-len(wanted) :] == wanted, _carried(context)


@then("the result counts {count:d} decisions after it")
def _(context, count):
    assert context.result.impact.decisions_after_cp == count, context.result.impact


@then('the rollback to "{reference:Text}" counts {count:d} decision after it')
def _(context, reference, count):
    with drive.checkpoints(context) as service:
        told = service.rollback_to_checkpoint(context.plan.plan_id, reference, dry_run=True)
    assert told.impact.decisions_after_cp == count, told.impact


@then("it prints exactly:")
def _(context):
    printed = [line.rstrip() for line in context.ran.ok().out.splitlines()]
    assert printed == context.text.splitlines(), context.ran.out


@then("no line is longer than {width:d}")
def _(context, width):
    assert max(map(len, context.ran.ok().out.splitlines())) <= width, context.ran.out


@then("it shows the id behind {number}")
def _(context, number):
    wanted = decisions.named_id(context, number)
    assert wanted in context.ran.ok().out, context.ran


@given("the row of the checkpoint before {number} is lost")
def _(context, number):
    wanted = decisions.named_id(context, number)
    sql = "SELECT checkpoint_id FROM checkpoint_metadata WHERE decision_id = ?"
    [row] = audit.query(context.world, sql, wanted)
    lost = row["checkpoint_id"]
    for column in ("target", "safety", "result"):
        sql = (
            f"UPDATE operations SET {column}_checkpoint_id = NULL WHERE {column}_checkpoint_id = ?"
        )
        audit.change(context.world, sql, lost)
    sql = "DELETE FROM checkpoint_metadata WHERE checkpoint_id = ?"
    assert audit.change(context.world, sql, lost) == 1


@when(
    'deciding "{text:Text}" is killed at each of its failpoints, '
    "and each time the next command is run"
)
def _(context, text):
    world, start = context.world, crashes.Frozen.of(context.world, "start")
    context.crashes = []
    for nth in range(1, 100):
        _, place = crashes.kill_at(world, nth, "decision", "add", "auth", text)
        if place is None:
            break
        crash = crashes.Crash([place])
        ran = run_forked(world, *crashes.NEXT)
        crash.note("usable", [] if ran.code == 0 else [f"it gave {ran.code}: {ran.err}"])
        crash.note("invariant", audit.problems(world))
        crash.note("decision", _wrong_decision(context, place))
        context.crashes.append(crash)
        start.thaw()
    start.drop()


def _wrong_decision(context, place):
    """The decision holds from its placing on; before that nothing is to follow from it."""
    plan = context.plan.plan_id
    holding = decisions.holding(context.world, plan)
    carried = [line for line in _carried(context) if line.endswith("D2")]
    if place == "decision.placed":
        right = holding == ["D1", "D2"] and carried == ["pre_decision D2", "manual D2"]
    else:
        row = decisions.row_of(context.world, plan, "D2")
        right = holding == ["D1"] and row["position"] is None and "manual D2" not in carried
    return [] if right else [f"{holding} hold, carried are {_carried(context)}"]


@then(
    "every time the decision held with its checkpoint, "
    "or was listed as unfinished and nothing followed from it"
)
def _(context):
    found = crashes.report(context.crashes, "decision")
    assert not found, found


@when("{count:d} processes each decide something")
def _(context, count):
    context.complaints = work_at_once(context.world, [("decide", context.plan.name, 1)] * count)


@then("{count:d} decisions hold, each with its own number and checkpoint")
def _(context, count):
    assert not context.complaints, context.complaints
    wanted = {f"D{number + 1}" for number in range(count)}
    assert set(decisions.holding(context.world, context.plan.plan_id)) == wanted
    with context.world.services() as services:
        found = services.decisions.list(context.plan.plan_id).entries
    assert len({e.checkpoint.checkpoint_id for e in found}) == count, found


@then("the checkpoints before {kept} are kept, and those before {gone} are not")
def _(context, kept, gone):
    with context.world.services() as services:
        found = services.decisions.list(context.plan.plan_id).entries
    there = {e.decision.number for e in found if e.revertible}
    assert there == set(phrases.names(kept)), found
    missing = {e.decision.number for e in found if e.checkpoint.state == "pruned"}
    assert missing == set(phrases.names(gone)), found
