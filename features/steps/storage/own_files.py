"""Steps about the files that Backtrail keeps for itself, and the disk that they are on."""

import os
import shutil
import signal
from pathlib import Path

from behave import given, then, when

from support.crashes import faults
from support.program.answers import in_every_format
from support.program.forked import run_forked
from support.storage import damage
from support.storage.own_disk import run_on_disk
from support.world import audit, drive
from support.world.disk import walk
from support.world.world import PATIENCE_SECONDS

LOOKS = (
    "list", "list --changes", "log auth", "status auth", "diff -p auth one", "path auth",
    "diff -p auth one two", "checkpoint list auth", "checkpoint show auth one", "ops auth",
    "steps auth", "runs auth", "config show", "policy auth", "db status", "decision list auth",
)  # fmt: skip
LITTER = (
    "objects/tmp_obj_aB3xyz", "objects/00/tmp_obj_q1W2e3", "objects/pack/tmp_pack_Zz9",
    "objects/tmp_objdir-bulk-fsync-Qq7/ab/tmp_obj_1", "HEAD.lock", "config.lock",
    "packed-refs.lock", "packed-refs.new", "refs/heads/x.lock",
)  # fmt: skip


@given("all of its own files as they are after some work")
def _(context):
    sandbox = context.world.sandbox("auth")
    run_forked(context.world, "rollback", "auth", "one", "--yes").ok()
    context.wanted = walk(sandbox)
    run_forked(context.world, "rollback", "auth", "two", "--yes").ok()
    context.rewind = damage.Rewind(context.world)
    context.add_cleanup(context.rewind.forget)


@when("each of its files and directories is damaged in turn, and it is used")
def _(context):
    context.trouble = []
    for case in damage.cases(context.world.backtrail_home):
        context.trouble += damage.trouble_of(context.world, case, context.wanted)
        context.rewind.rewind()


@then("every command ends with a documented code, and no success is claimed that is none")
def _(context):
    assert not context.trouble, "\n".join(context.trouble)


@given('"{name:Text}" of the store says: {content}')
def _(context, name, content):
    path = context.world.store / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(content.replace("\\n", "\n").replace("\\t", "\t") + "\n")


@then("it says nothing of the store")
def _(context):
    assert "store" not in context.ran.ok().err, context.ran


@given('"{name}" of the store is gone, and so is its record')
def _(context, name):
    (context.world.store / name).unlink()
    _record(context).unlink()


@given("{damage} is in the place of {what} in the store")
def _(context, damage, what):
    named = {"the base commit": "HEAD", "the base's tree": "HEAD^{tree}"}.get(what, f"HEAD:{what}")
    found = context.world.git("rev-parse", named).strip()
    place = context.world.store / "objects" / found[:2] / found[2:]
    content = place.read_bytes()
    place.unlink()
    context.damaged = {"an empty file": b"", "half a file": content[: len(content) // 2]}.get(
        damage
    )
    if context.damaged is not None:
        place.write_bytes(context.damaged)


@then("what was damaged there is still to be had")
def _(context):
    aside = context.world.backtrail_home / "set-aside"
    kept = [path.read_bytes() for path in aside.iterdir()] if aside.exists() else []
    assert kept == ([] if context.damaged is None else [context.damaged])


@given('plan "{name:Text}" whose base commit nobody has any more')
def _(context, name):
    world = context.world
    world.git("commit", "--quiet", "--allow-empty", "--message", "soon gone")
    lost = world.git("rev-parse", "HEAD").strip()
    run_forked(world, "create", name).ok()
    for place in (world.repo, world.sandbox(name)):
        world.git("reset", "--quiet", "--hard", "HEAD~1", cwd=place)
        world.git("update-ref", "-d", "ORIG_HEAD", cwd=place)
    world.git("reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all")
    world.git("gc", "--quiet", "--prune=now")
    assert world.run("git", "cat-file", "-e", lost).code
    place = world.store / "objects" / lost[:2] / lost[2:]
    place.unlink()
    place.touch()


@given('the sandbox of plan "{name:Text}" is moved away')
def _(context, name):
    shutil.move(context.world.sandbox(name), context.world.root / "moved away")


@given("every row is gone that tells it")
def _(context):
    assert audit.change(context.world, "DELETE FROM sandboxes") == 1


@given("the record of the store is gone")
def _(context):
    _record(context).unlink()


@then("the record of the store is there again")
def _(context):
    assert _record(context).is_file()


def _record(context):
    return context.world.backtrail_home / "store.json"


@given('one letter of the ref of checkpoint "{label:Text}" is another one')
def _(context, label):
    [ref] = context.world.store.glob(f"refs/*/*/{drive.find(context, label).checkpoint_id}")
    letters = ref.read_text()
    ref.write_text(("1" if letters[0] == "0" else "0") + letters[1:])


@given("the text of the schema in the database is damaged")
def _(context):
    context.world.rows.query("PRAGMA wal_checkpoint(TRUNCATE)")
    file = context.world.rows.file
    content = file.read_bytes()
    assert content.count(b"CREATE TABLE") > 5
    file.write_bytes(content.replace(b"CREATE TABLE", b"CRXATE TABLE"))


@given('plan "{name:Text}" whose checkpoints are in a home elsewhere')
def _(context, name):
    context.home = {"PLAN_HOME": str(context.world.root / "home elsewhere")}
    run_forked(context.world, "create", name, env=context.home).ok()


@given("the note there of whose it is was damaged")
def _(context):
    note = Path(context.home["PLAN_HOME"]) / "repository.json"
    note.write_text(note.read_text()[:20])


@when('I run "{command:Text}" in every format, with that home')
def _(context, command):
    context.answers = in_every_format(context.world, *command.split()[1:], env=context.home)


@given("killed commands left their things everywhere in the store")
def _(context):
    context.litter = [context.world.store / name for name in LITTER]
    context.litter.append(context.world.backtrail_home / "store.git.new" / "HEAD")
    for path in context.litter:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"half")


@given('"{command:Text}" is killed together with a git that was at work')
def _(context, command):
    env = faults.faulty_git(context.world, "write-tree", "kills the program")
    assert run_forked(context.world, *command.split()[1:], env=env).code == -signal.SIGKILL
    assert _scratch(context), "it left nothing"


@then("nothing of that is left")
def _(context):
    left = [path for path in context.litter if os.path.lexists(path)]
    assert not [*left, *_scratch(context)], (left, _scratch(context))
    assert not list(context.world.store.rglob("tmp_*"))
    assert not audit.problems(context.world)


def _scratch(context):
    return list((context.world.backtrail_home / "scratch").iterdir())


@given('"{command:Text}" is killed while git writes files')
def _(context, command):
    env = faults.faulty_git(context.world, "checkout-index", "kills the program")
    target = context.world.root / "elsewhere"
    target.mkdir()
    words = command.replace("{elsewhere}", str(target).replace(" ", "\0")).split()[1:]
    words = [word.replace("\0", " ") for word in words]
    assert run_forked(context.world, *words, env=env).code == -signal.SIGKILL


def _begun(context):
    """What an export has begun: beside its target, or where it can be renamed from."""
    places = (context.world.root / "elsewhere", context.world.backtrail_home / "staging")
    return [path for place in places if place.exists() for path in place.iterdir()]


@given("something of it is left")
def _(context):
    assert _begun(context)


@given("a file is now in the place of the directory that it was written to")
def _(context):
    places = {path.parent for path in _begun(context)}
    for place in places:
        shutil.move(place, context.world.root / "put away")
        place.write_text("in the way\n")


@then("nothing of it is left")
def _(context):
    context.ran.ok()
    assert not _begun(context), _begun(context)


@given("I take stock of what it works on")
def _(context):
    half = context.world.store / "objects" / "tmp_obj_live"
    half.write_bytes(b"half")
    context.working_on = [half, *_scratch(context)]
    assert len(context.working_on) > 1


@then("all that it works on is still there")
def _(context):
    context.ran.ok()
    gone = [path for path in context.working_on if not path.exists()]
    assert not gone, gone


@when("that git goes on")
def _(context):
    faults.let_it_go_on(context.world)


@then("that command succeeds")
def _(context):
    out, err = context.process.communicate(timeout=PATIENCE_SECONDS)
    assert context.process.returncode == 0, (out, err)


@given("the checkpoints are on a disk of their own")
def _(context):
    context.temporary = context.world.root / "temporary"
    context.temporary.mkdir()
    context.world.extra_env["TMPDIR"] = str(context.temporary)


@when("that disk is {how}")
def _(context, how):
    if how.endswith("killed at work"):
        context.world.plan_killed_at("create.connected", "save", "auth")
        # As after a restart of the machine: the log is there, and what was in memory is not.
        assert (context.world.backtrail_home / "plan.db-wal").stat().st_size
        (context.world.backtrail_home / "plan.db-shm").unlink()
    context.how = how.split()[0]
    context.looks = run_on_disk(context.world, context.how, [*LOOKS, "save auth"])


@then('looking at everything works, and tells of "{name:Text}"')
def _(context, name):
    *looks, context.ran = context.looks
    failed = [ran for ran in looks if ran.code]
    assert not failed, failed
    assert len(looks) == len(LOOKS)
    told = [ran for ran in looks if name in ran.out]
    assert {"status", "diff"} <= {ran.arguments[1] for ran in told}, looks


@then('"plan save auth" fails and says "{words:Text}", with a hint')
@then('it fails and says "{words:Text}", with a hint')
def _(context, words):
    assert context.ran.code in (1, 9, 10), context.ran
    assert words in context.ran.err, context.ran
    assert "hint: " in context.ran.err, context.ran


@then("nothing is left elsewhere")
def _(context):
    left = list(context.temporary.iterdir())
    assert not left, left


@when('that disk becomes full at "{failpoint:Text}" of "{command:Text}"')
def _(context, failpoint, command):
    words = command.removeprefix("plan ")
    [context.ran] = run_on_disk(context.world, "full", [words], failpoint)


@given("that disk has room again")
def _(context):
    assert not (context.world.backtrail_home / "filler").exists()


@when('I run "{command:Text}" on that disk')
def _(context, command):
    context.ran = run_forked(context.world, *command.split()[1:])
