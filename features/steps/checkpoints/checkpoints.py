"""Steps about checkpoints: saving, naming and finding them, and the timeline they form."""

import json
import shlex

from behave import step, then, when

from backtrail.domain.checkpoint import CheckpointType
from support.program.forked import run_forked
from support.world import drive, phrases


@step('I save checkpoint "{label:Text}"')
def _(context, label):
    drive.save(context, label)


@step("the agent works and saves: {labels}")
def _(context, labels):
    for label in phrases.names(labels):
        drive.work_and_save(context, label)


@step("the agent works and saves unlabelled: {names}")
def _(context, names):
    for name in phrases.names(names):
        drive.work_and_save(context, name, labelled=False)


@when("{count:d} checkpoints are saved while a file changes and changes back")
def _(context, count):
    file = drive.sandbox(context) / "README.md"
    original = file.read_bytes()
    with drive.checkpoints(context) as service:
        for number in range(count):
            file.write_text(f"{number}\n")
            service.create_checkpoint(context.plan.plan_id)
    file.write_bytes(original)


def _label(context, reference, label):
    with drive.checkpoints(context) as service:
        service.set_label(context.plan.plan_id, reference, label)


@when('I give checkpoint "{reference:Text}" the label "{label:Text}"')
def _(context, reference, label):
    context.error = drive.refusal(_label, context, reference, label)


@then("these can be labels:")
def _(context):
    for row in context.table:
        _label(context, "1", row["label"])
        assert drive.listed(context)[0].label == row["label"], row


@then("these cannot be labels:")
def _(context):
    before = drive.listed(context)
    for row in context.table:
        error = drive.refusal(_label, context, "1", phrases.Text()(row["label"]))
        assert error is not None, row
        assert error.exit_code == 2, (row, error)
    assert drive.listed(context) == before


@then("checkpoints of these types can be made:")
def _(context):
    for row in context.table:
        made = drive.save(context, None, checkpoint_type=CheckpointType(row["type"]))
        assert made.checkpoint_type == row["type"], made


@then('these options of "{command:Text}" are refused, and nothing is saved:')
def _(context, command):
    before = drive.listed(context)
    for row in context.table:
        _, *words = shlex.split(f"{command} {row['options']}")
        ran = run_forked(context.world, *words)
        assert ran.code == int(row["exit code"]), (row, ran)
    assert drive.listed(context) == before


@then("these references name these checkpoints:")
def _(context):
    with drive.checkpoints(context) as service:
        for row in context.table:
            found = service.get_checkpoint(context.plan.plan_id, row["reference"])
            assert drive.called(found) == row["checkpoint"], (row, found)


@then("these references name nothing:")
def _(context):
    with drive.checkpoints(context) as service:
        for row in context.table:
            plan = context.plan.plan_id
            error = drive.refusal(service.get_checkpoint, plan, row["reference"])
            assert error is not None, row
            assert error.exit_code == int(row["exit code"]), (row, error)


@then("the timeline is: {listed}")
def _(context, listed):
    found = [drive.called(c) for c in drive.listed(context, include_all=False)]
    assert found == phrases.names(listed), found


@then("superseded are: {listed}")
def _(context, listed):
    found = [drive.called(c) for c in drive.listed(context) if not c.live]
    assert found == phrases.names(listed), found


@then('"{reference:Text}" names checkpoint "{name:Text}"')
def _(context, reference, name):
    with drive.checkpoints(context) as service:
        found = service.get_checkpoint(context.plan.plan_id, reference)
    assert drive.called(found) == name, found


@then('checkpoint "{name:Text}" is found by its id, in any capitals, and by a unique beginning')
def _(context, name):
    wanted = drive.find(context, name).checkpoint_id
    others = [c.checkpoint_id for c in drive.listed(context) if c.checkpoint_id != wanted]
    unique = next(
        wanted[:length]
        for length in range(1, len(wanted))
        if not any(other.startswith(wanted[:length]) for other in others)
    )
    with drive.checkpoints(context) as service:
        for reference in (wanted, wanted.lower(), unique, unique.lower()):
            found = service.get_checkpoint(context.plan.plan_id, reference)
            assert found.checkpoint_id == wanted, (reference, found)


@then('"latest" in a new process is a new checkpoint with the files of "{name:Text}"')
def _(context, name):
    arguments = ("checkpoint", "show", context.plan.name, "--format", "json")
    ran = run_forked(context.world, *arguments).ok()
    latest = ran.json()["data"]["checkpoint"]
    assert latest["checkpoint_id"] not in context.ids_before_rollback, latest
    tree = drive.stored_tree(context, drive.find(context, name).sandbox_ref)
    assert drive.stored_tree(context, latest["sandbox_ref"]) == tree


@then("a new process lists with --all as superseded: {listed}")
def _(context, listed):
    arguments = ("checkpoint", "list", context.plan.name, "--all", "--format", "json")
    found = run_forked(context.world, *arguments).ok().json()["data"]["checkpoints"]
    superseded = [c["label"] or c["checkpoint_type"] for c in found if c["superseded_by"]]
    assert superseded == phrases.names(listed), superseded


@then("the checkpoint it tells of has {name} {value}")
def _(context, name, value):
    found = context.ran.json()["data"]["checkpoint"]
    for part in name.split("."):
        found = found[part]
    assert found == json.loads(value), found


@then("every checkpoint can be brought back exactly")
def _(context):
    with drive.checkpoints(context) as service:
        for name, picture in list(context.remembered.items()):
            target = drive.find(context, name).checkpoint_id
            service.rollback_to_checkpoint(context.plan.plan_id, target)
            differences = picture.differences(drive.look(context))
            assert not differences, (name, differences)


@then("{count:d} checkpoints are listed, numbered from 1 without a gap")
def _(context, count):
    numbers = [c.seq for c in drive.listed(context)]
    assert numbers == list(range(1, count + 1)), numbers


@then('checkpoints "{one:Text}" and "{other:Text}" hold the same files')
def _(context, one, other):
    trees = {
        drive.stored_tree(context, drive.find(context, name).sandbox_ref) for name in (one, other)
    }
    assert len(trees) == 1, trees


@then("it lists, line by line: {lines}")
def _(context, lines):
    rows = [line.split("\t") for line in context.ran.ok().out.splitlines()]
    found = [f"{row[0]} {row[6] if row[6] != '-' else row[2]}" for row in rows]
    assert found == phrases.names(lines), context.ran


@then('it prints nothing but the {value} of checkpoint "{name:Text}"')
def _(context, value, name):
    found = drive.find(context, name)
    wanted = {
        "id": found.checkpoint_id,
        "commit": found.sandbox_ref,
        "path": str(drive.sandbox(context)),
    }
    assert context.ran.ok().out == f"{wanted[value]}\n", context.ran


@then('checkpoint "{name:Text}" holds: {files}')
def _(context, name, files):
    held = drive.stored_files(context, drive.find(context, name))
    assert held == phrases.names(files), held
