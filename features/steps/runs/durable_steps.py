"""Steps about durable steps: scripts that are run again, and what their commands counted."""

import json
import shlex

from behave import step, then, when

from support.program.forked import DoHere, KillHere
from support.runs.scripts import script_of
from support.world import audit, drive, phrases

KILLED = -9


@when("the script runs: {keys}")
def _(context, keys):
    for key in phrases.names(keys):
        context.ran = script_of(context).run(key).ok()
        context.notes = getattr(context, "notes", "") + context.ran.err


@step('step "{key:Text}" runs "{body:Text}"')
def _(context, key, body):
    context.ran = script_of(context).run(key, body)


@step('step "{key:Text}" runs "{body:Text}" with {options}')
def _(context, key, body, options):
    context.ran = script_of(context).run(key, body, tuple(shlex.split(options)))


@step('step "{key:Text}" runs as usual with {options}')
def _(context, key, options):
    context.ran = script_of(context).run(key, options=tuple(shlex.split(options)))


@step('TARGET is "{value:Text}" and step "{key:Text}" runs "{body:Text}" with {options}')
def _(context, value, key, body, options):
    words = tuple(shlex.split(options))
    context.ran = script_of(context).run(key, body, words, env={"TARGET": value})


@when('step "{key:Text}" runs the same again')
def _(context, key):
    context.ran = script_of(context).again(key)


@when('step "{key:Text}" is killed while its command runs')
def _(context, key):
    ran = script_of(context).run(key, env={"DEADLY": "1"})
    assert ran.code == KILLED, ran


@when('step "{key:Text}" is killed at "{place:Text}"')
def _(context, key, place):
    ran = script_of(context).run(key, failpoints=KillHere(place))
    assert ran.code == KILLED, ran


@when('step "{key:Text}" runs, and while it is in flight checkpoint "{label:Text}" is saved')
def _(context, key, label):
    saving = DoHere("step.ended", lambda: drive.save(context, label))
    script_of(context).run(key, failpoints=saving).ok()
    drive.remember(context, label)


@then("each ran once: {keys}")
def _(context, keys):
    found = {key: script_of(context).times(key) for key in phrases.names(keys)}
    assert set(found.values()) == {1}, found


@then("one ran once, and two and three twice")
def _(context):
    found = [script_of(context).times(key) for key in ("one", "two", "three")]
    assert found == [1, 2, 2], found


@then('"{key:Text}" ran once')
def _(context, key):
    assert script_of(context).times(key) == 1, script_of(context).times(key)


@then('"{key:Text}" ran {count:d} times')
def _(context, key, count):
    assert script_of(context).times(key) == count, script_of(context).times(key)


@then("the second time each said the same on both streams, and exited with the same code")
def _(context):
    for key, (first, second) in script_of(context).said.items():
        assert first.out == second.out == f"out of {key}\n", (first, second)
        assert first.err == f"err of {key}\n", first
        assert second.err.startswith(first.err), second
        assert first.code == second.code


@then("the steps are: {listed}")
def _(context, listed):
    found = script_of(context).statuses()
    assert found == phrases.names(listed), found


@then("on the timeline is one entry each: {keys}")
def _(context, keys):
    found = [step["key"] for step in script_of(context).listed("--live")]
    assert found == phrases.names(keys), found


@then('the plan has {runs:d} runs and {count:d} "{kind:Text}" checkpoints')
def _(context, runs, count, kind):
    assert audit.query(context.world, "SELECT count(*) AS n FROM runs")[0]["n"] == runs
    made = [c for c in drive.listed(context) if c.checkpoint_type == kind]
    assert len(made) == count, made


@then("the rollback told of {gone:d} superseded steps, and of {again:d} that are pending again")
def _(context, gone, again):
    impact = context.result.impact
    assert (impact.steps_superseded, impact.steps_pending_again) == (gone, again), impact


@then('checkpoint "{name:Text}" was made after step "{key:Text}"')
def _(context, name, key):
    newest = [c for c in drive.listed(context) if drive.called(c) == name][-1]
    assert newest.last_completed_step == key, newest


@then('checkpoint "{name:Text}" was made after no step')
def _(context, name):
    assert drive.find(context, name).last_completed_step is None


@then('the "pre_run" checkpoint was kept for a step')
def _(context):
    with drive.checkpoints(context) as service:
        decision = service.prune(context.plan.plan_id, dry_run=True).decision
    kept = {str(entry.checkpoint.checkpoint_type): entry.reason for entry in decision.kept}
    assert kept.get("pre_run") == "step", kept


@when("the steps with these keys run, twice over:")
def _(context):
    script = script_of(context)
    context.keys = [json.loads(f'"{_quoted(row["key"])}"') for row in context.table]
    assert len(set(context.keys)) == len(context.keys)
    for _time in range(2):
        for key in context.keys:
            script.run(key, "true").ok()


def _quoted(text):
    return text.replace('"', r"\"")


@then("each of them ran once")
def _(context):
    found = {key: script_of(context).times(key) for key in context.keys}
    assert set(found.values()) == {1}, found


@then("all of them are listed, each with its own key")
def _(context):
    rows = audit.query(context.world, "SELECT key FROM steps")
    assert len({row["key"] for row in rows}) == len(context.keys), rows
    listed = [(step["key"], step["status"]) for step in script_of(context).listed()]
    wanted = [(key.replace("\udcff", r"\xff"), "reused") for key in context.keys]
    assert listed == wanted, listed
