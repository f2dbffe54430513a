"""Steps about where the rows are kept and what they can hold."""

import os

from behave import given, then, when

from support.program.answers import check_refusal, in_every_format
from support.program.forked import run_forked
from support.world import audit, drive, evidence
from support.world.world import write_files

REASONS = {
    "a million letters": "because " * 125_000,
    "a NUL": "before\0after",
    "bytes that are not UTF-8": os.fsdecode(b"caf\xe9"),
    "quotes and placeholders": """it's "$1", %s, %(x)s, :name, ?, \\x00 and {braces}""",
    "letters of all scripts": "größe 大 привет 🙂",
}
SECRET_PARTS = ("tell", "nobody")


@when('I run "{command:Text}" with the rows in "{file:Text}"')
def _(context, command, file):
    url = f"sqlite:///{context.world.root / file}"
    context.ran = run_forked(context.world, *command.split()[1:], env={"PLAN_DATABASE_URL": url})


@then('there is no file "{file:Text}"')
def _(context, file):
    assert context.world.root.is_dir()
    assert not (context.world.root / file).exists()


@then('"{secret:Text}" is nowhere in what it says')
def _(context, secret):
    assert secret not in context.ran.out + context.ran.err, context.ran


@then("these values of PLAN_DATABASE_URL are refused with 10, one sentence and a hint:")
def _(context):
    context.before = evidence.collect(context.world)
    for row in context.table:
        env = {"PLAN_DATABASE_URL": row["url"].replace("\\xff", "\udcff")}
        for name, ran in in_every_format(context.world, "list", env=env).items():
            check_refusal(name, ran, 10)
            assert not any(part in ran.out + ran.err for part in SECRET_PARTS), ran


@when('"{command:Text}" is run for PostgreSQL, but its driver is not installed')
def _(context, command):
    world = context.world
    write_files(world.root, {"blocked/psycopg.py": "raise ImportError('no pq wrapper available')"})
    path = [str(world.root / "blocked"), *filter(None, [os.environ.get("PYTHONPATH")])]
    env = {
        "PYTHONPATH": os.pathsep.join(path),
        "PLAN_DATABASE_URL": "postgresql://me:tell-nobody@localhost/plans",
    }
    context.ran = world.plan(*command.split()[1:], env=env)


@when("a checkpoint is saved with {words} as its reason")
def _(context, words):
    context.reason = REASONS[words]
    drive.save(context, "worded", reason=context.reason)


@then("the reason comes back as it was given")
def _(context):
    assert drive.find(context, "worded").reason == context.reason
    for ran in in_every_format(context.world, "checkpoint", "show", "auth", "worded").values():
        assert ran.ok().out, ran


@then("the log of the plan can be read")
def _(context):
    for ran in in_every_format(context.world, "ops", "auth").values():
        assert ran.ok().out, ran


@then("the checkpoint can be rolled back to and undone")
def _(context):
    write_files(drive.sandbox(context), {"README.md": "since then\n"})
    drive.remember(context, "since then")
    for command, wanted in (("rollback auth worded --yes", "worded"), ("undo auth", "since then")):
        run_forked(context.world, *command.split()).ok()
        assert not context.remembered[wanted].differences(drive.look(context)), command


@given("a worktree whose path is not UTF-8")
def _(context):
    context.place = context.world.root / os.fsdecode(b"caf\xe9 \xff")
    context.world.git("worktree", "add", "--quiet", "--detach", str(context.place))


@when("a plan is attached to it, saved, changed and rolled back")
def _(context):
    world, place = context.world, context.place
    run_forked(world, "create", "odd", "--sandbox", str(place)).ok()
    write_files(place, {"README.md": "saved\n"})
    run_forked(world, "save", "odd", "--label", "one").ok()
    write_files(place, {"README.md": "changed\n"})
    run_forked(world, "rollback", "odd", "one", "--yes").ok()


@then("its files are as they were saved")
def _(context):
    assert (context.place / "README.md").read_text() == "saved\n"


@then("the plan is found from inside it, and its path is told exactly")
def _(context):
    ran = run_forked(context.world, "path", cwd=context.place / "src")
    assert ran.ok().out == f"{context.place}\n", ran


@given("its rows say that the revision is {revision}")
def _(context, revision):
    if revision == "nothing":
        assert audit.change(context.world, "DELETE FROM alembic_version") == 1
    else:
        changed = f"UPDATE alembic_version SET version_num = '{revision}'"
        assert audit.change(context.world, changed) == 1
