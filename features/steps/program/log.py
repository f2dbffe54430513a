"""Steps about the drawn timeline."""

import json
import re
import shlex
import sys

from behave import given, step, then, when

from backtrail.domain.rollback import RollbackRequest
from support.program import drawings
from support.program.forked import run_forked
from support.world import audit, drive, phrases
from support.world.world import write_files

# Far from where the words would change, however long a scenario takes.
AGES = {"2 days": "-60 hours", "3 hours": "-210 minutes", "no time": "+1 hour"}


def _save(context, reason, options=""):
    sandbox = drive.sandbox(context)
    another = f"file {len(list(sandbox.iterdir()))}.txt"
    write_files(sandbox, {"work.txt": f"{reason}\n", another: "new\n"})
    run_forked(context.world, "save", context.plan.name, "-m", reason, *shlex.split(options)).ok()


@step('I save "{reason:Text}"')
def _(context, reason):
    _save(context, reason)


@step('I save "{reason:Text}" with: {options}')
def _(context, reason, options):
    _save(context, reason, options)


@step('I roll back to "{reference:Text}" since "{reason:Text}"')
def _(context, reference, reason):
    with drive.checkpoints(context) as service:
        service.rollback_to_checkpoint(
            context.plan.plan_id, reference, RollbackRequest(reason=reason)
        )


@given("I roll back to each of: {references}")
def _(context, references):
    with drive.checkpoints(context) as service:
        for reference in phrases.names(references):
            service.rollback_to_checkpoint(context.plan.plan_id, reference)


def _tamper(context, change, label):
    sql = f"UPDATE checkpoint_metadata SET {change} WHERE label = ?"
    assert audit.change(context.world, sql, label) == 1


@given('checkpoint "{label:Text}" was found green')
def _(context, label):
    _tamper(context, "verified_green = 1", label)


@given('checkpoint "{label:Text}" was pruned')
def _(context, label):
    _tamper(context, "state = 'pruned', label = NULL", label)


@given("checkpoint {seq:d} was pruned")
def _(context, seq):
    sql = "UPDATE checkpoint_metadata SET state = 'pruned' WHERE seq = ?"
    assert audit.change(context.world, sql, seq) == 1


@given('checkpoint "{label:Text}" had failed')
def _(context, label):
    _tamper(context, "state = 'failed', sandbox_ref = NULL, label = NULL", label)


@given('checkpoint "{label:Text}" was found damaged')
def _(context, label):
    _tamper(context, "state = 'damaged'", label)


@given("checkpoints {first:d} to {last:d} are {age} old")
def _(context, first, last, age):
    sql = (
        "UPDATE checkpoint_metadata SET created_at = strftime('%Y-%m-%d %H:%M:%f', 'now', ?)"
        " WHERE seq BETWEEN ? AND ?"
    )
    assert audit.change(context.world, sql, AGES[age], first, last) == last - first + 1


@given("every checkpoint had failed")
def _(context):
    assert audit.change(context.world, "UPDATE checkpoint_metadata SET state = 'failed'")


@given('the store loses the list of files of checkpoint "{label:Text}"')
def _(context, label):
    tree = drive.stored_tree(context, drive.find(context, label).sandbox_ref)
    (context.world.store / "objects" / tree[:2] / tree[2:]).unlink()


@then("it draws:")
def _(context):
    assert context.ran.ok().out == f"{context.text}\n", f"\n{context.ran.out}"


@then("it draws, times left out:")
def _(context):
    drawn = drawings.without_times(context.ran.ok().out)
    assert drawn == f"{context.text}\n", f"\n{drawn}"


@then("the entries of the log are:")
def _(context):
    entries = context.ran.ok().json()["data"]["entries"]
    wanted = [dict(zip(row.headings, row.cells, strict=True)) for row in context.table]
    found = [{name: _cell(entry, name) for name in context.table.headings} for entry in entries]
    assert found == wanted, found


def _cell(entry, name):
    if name != "came from":
        return json.dumps({**entry["checkpoint"], **entry}[name])
    came_from = entry["came_from"]
    return f"{came_from['kind']} {came_from['seq']}" if came_from else "-"


@then('the checkpoint of the last entry is what "{command:Text}" shows')
def _(context, command):
    _, *arguments = shlex.split(f"{command} --format json")
    shown = run_forked(context.world, *arguments).ok().json()["data"]["checkpoint"]
    assert context.ran.json()["data"]["entries"][-1]["checkpoint"] == shown, shown


@then("it prints nothing")
def _(context):
    assert context.ran.ok().out == "", context.ran


def _drawn_and_told(context):
    """What the drawing shows, and the same as the JSON tells it."""
    drawn = drawings.read(drawings.graph_of(context.ran.ok().out))
    ran = run_forked(context.world, "log", context.plan.name, "--format", "json")
    entries = ran.ok().json()["data"]["entries"]
    numbers = [entry["checkpoint"]["seq"] for entry in entries]
    told = [numbers.index(e["follows_seq"]) if e["follows_seq"] else None for e in entries]
    assert len(drawn) == len(told), (drawn, numbers)
    return drawn, told


@then("every line of the drawing leads to the checkpoint that it should")
def _(context):
    drawn, told = _drawn_and_told(context)
    assert [one.leads_to for one in drawn] == told, context.ran.out


@then("the drawing has {count:d} columns")
def _(context, count):
    drawn = drawings.read(drawings.graph_of(context.ran.ok().out))
    assert max(one.column for one in drawn) + 1 == count, context.ran.out


@then("no line fades")
def _(context):
    drawn = drawings.read(drawings.graph_of(context.ran.ok().out))
    assert not [one for one in drawn if one.fades], context.ran.out


@then('"{command:Text}" fits into terminals, and every line of the drawing leads where it should:')
def _(context, command):
    for row in context.table:
        width = int(row["width"])
        terminal = {"COLUMNS": row["width"]}
        _, *arguments = shlex.split(f"{command} --format rich")
        context.ran = run_forked(context.world, *arguments, env=terminal)
        lines = context.ran.ok().out.splitlines()
        assert max(map(drawings.width, lines)) <= width, context.ran.out
        assert all(line.isprintable() for line in lines), lines
        drawn, told = _drawn_and_told(context)
        assert [one.leads_to for one in drawn] == told, context.ran.out
        each = [one.line for one in drawn]
        if row["a checkpoint takes"] == "two lines":
            assert each == list(range(0, len(lines), 2)), lines
        else:
            assert each == [at for at, line in enumerate(lines) if re.search(r"\w", line)], lines


@then("it names every checkpoint by its id")
def _(context):
    named = re.findall(r"\b[0-9A-Z]{26}\b", context.ran.ok().out)
    assert named == [c.checkpoint_id for c in reversed(drive.listed(context))], context.ran.out


@when("I look at the timeline")
def _(context):
    started = []
    watching = True

    def watch(event, arguments):
        if watching and event == "subprocess.Popen":
            started.append(arguments[1])

    sys.addaudithook(watch)
    with drive.checkpoints(context) as service:
        started.clear()
        history = service.history(context.plan.plan_id)
        context.started = list(started)
    watching = False
    assert [entry.files_changed for entry in history.entries][:-1] == [2] * 4, history


@then("git was started {count:d} time")
def _(context, count):
    assert len(context.started) == count, context.started
