"""Steps about applying a plan: what lands on the branch, and what the user's checkout is like."""

import random
import shlex

from behave import given, step, then, when

from support.crashes import crashes
from support.plans import apply_crashes, applying
from support.program.forked import DoHere, run_forked
from support.sandbox import sandboxes
from support.world import audit, drive, phrases
from support.world.world import write_files


@step('the user commits "{path:Text}"')
def _(context, path):
    applying.commit_file(context.world, path)


@step("nothing else happens")
def _(context):
    """For tables in which something else may happen."""


@given("I note the objects of the repository")
def _(context):
    context.objects = applying.objects(context.world)


@when('the user commits "{path:Text}" while "{command:Text}" is at "{place:Text}"')
def _(context, path, command, place):
    def commit():
        applying.commit_file(context.world, path)

    arguments = shlex.split(command)[1:]
    context.ran = run_forked(context.world, *arguments, failpoints=DoHere(place, commit))


@then('branch "{branch:Text}" has these files of the sandbox: {listed}')
def _(context, branch, listed):
    for path in phrases.names(listed):
        wanted = (drive.sandbox(context) / path).read_bytes()
        assert applying.blob(context.world, branch, path) == wanted, path


@then('branch "{branch:Text}" has these files of the user\'s: {listed}')
def _(context, branch, listed):
    missing = set(phrases.names(listed)) - applying.files_of(context.world, branch)
    assert not missing, missing


@then('branch "{branch:Text}" has none of: {listed}')
def _(context, branch, listed):
    found = set(phrases.names(listed)) & applying.files_of(context.world, branch)
    assert not found, found


@then('branch "{branch:Text}" has no file "{path:Text}"')
def _(context, branch, path):
    assert path not in applying.files_of(context.world, branch)


@then('branch "{branch:Text}" is {count} ahead of what it was')
def _(context, branch, count):
    steps = {"one commit": 1, "two commits": 2}[count]
    assert applying.parents(context.world, branch) != [], branch
    before = context.world.git("rev-parse", f"{branch}~{steps}").strip()
    assert before == context.world.git("rev-parse", f"{branch}@{{1}}").strip()
    assert len(applying.parents(context.world, branch)) == 1


@then('branch "{branch:Text}" is a merge of what it was and the plan\'s work')
def _(context, branch):
    first, second = applying.parents(context.world, branch)
    assert first == context.world.git("rev-parse", f"{branch}@{{1}}").strip()
    assert applying.parents(context.world, second) == [applying.head(context.world, "plan/auth")]


@then('branch "{branch:Text}" is at the commit of branch "{other:Text}"')
def _(context, branch, other):
    assert applying.head(context.world, branch) == applying.head(context.world, other)


@then('branch "{branch:Text}" has not moved')
def _(context, branch):
    log = context.world.git("reflog", "show", "--format=%gs", branch)
    assert "plan apply" not in log, log


@then('branch "{branch:Text}" has {count:d} commits')
def _(context, branch, count):
    assert int(context.world.git("rev-list", "--count", branch)) == count


@then('the message of branch "{branch:Text}" is "{message:Text}"')
def _(context, branch, message):
    found = context.world.git("log", "-1", "--format=%B", branch)
    assert found == message + "\n", found


@then('the author of branch "{branch:Text}" is the user')
def _(context, branch):
    found = context.world.git("log", "-1", "--format=%an %ae %cn", branch)
    assert found == "Test test@example.com Test\n", found


@then('the user\'s checkout is clean and at branch "{branch:Text}"')
def _(context, branch):
    assert context.world.git("symbolic-ref", "--short", "HEAD").strip() == branch
    assert not applying.status(context.world), applying.status(context.world)


@then("the user's checkout is where it was, detached")
def _(context):
    ran = context.world.run("git", "symbolic-ref", "--quiet", "HEAD")
    assert ran.code == 1, ran
    assert not applying.status(context.world), applying.status(context.world)


@then('the plan is applied, and its commit is that of branch "{branch:Text}"')
def _(context, branch):
    plan = drive.plan_now(context)
    assert (plan.phase, plan.state) == ("apply", "applied"), plan
    assert plan.applied_commit == applying.head(context.world, branch), plan


@then("the sandbox has these changes still: {listed}")
def _(context, listed):
    status = applying.status(context.world, drive.sandbox(context))
    found = {line[3:].strip('"') for line in status.splitlines()}
    assert found == set(phrases.names(listed)), status


@then("every format tells of: {words_}")
def _(context, words_):
    for ran in context.answers.values():
        assert words_ in ran.out + ran.err, ran


@then("the operations of the plan are: {listed}")
def _(context, listed):
    rows = audit.query(context.world, "SELECT kind FROM operations ORDER BY number")
    assert [row["kind"] for row in rows] == phrases.names(listed), rows


@given('a file of many lines, "{path:Text}", on both sides')
def _(context, path):
    applying.commit_file(context.world, path, applying.MANY_LINES)
    context.world.git("merge", "--quiet", "main", cwd=drive.sandbox(context))


@given('the user edits the last line of "{path:Text}" and commits it')
def _(context, path):
    applying.commit_file(context.world, path, f"{applying.MANY_LINES}the user's last line\n")


@then('branch "{branch:Text}" has "{path:Text}" with the user\'s last line, and no "{gone:Text}"')
def _(context, branch, path, gone):
    found = applying.blob(context.world, branch, path) or b""
    assert found.endswith(b"the user's last line\n"), found
    assert gone not in applying.files_of(context.world, branch)


@given('the agent writes {count:d} random bytes to "{path:Text}"')
def _(context, count, path):
    write_files(drive.sandbox(context), {path: b"\0" + random.Random(path).randbytes(count)})


@then('the user\'s "{path:Text}" is that of the sandbox')
def _(context, path):
    wanted = (drive.sandbox(context) / path).read_bytes()
    assert (context.world.repo / path).read_bytes() == wanted


@given('the user has an empty checkout of branch "{branch:Text}", which has no commit')
def _(context, branch):
    applying.empty_checkout(context.world, branch)


@given("the repository is a shallow clone")
def _(context):
    applying.commit_file(context.world, "second.txt")
    context.world.git("worktree", "remove", "--force", str(drive.sandbox(context)))
    sandboxes.clone(context.world, "shallow")


@given("the origin moves on, and the user fetches no more than its newest commit")
def _(context):
    applying.move_origin_on(context.world)


@when("the user does what the hint says")
def _(context):
    applying.as_hinted(context.world, context.ran)


@then("the repository got no object")
def _(context):
    assert context.objects == applying.objects(context.world)


@then("its files are those that the dry run told: {listed}")
def _(context, listed):
    happened = context.ran.ok().json()["data"]["files"]
    assert happened == context.told["files"], (happened, context.told)
    assert {change["file"] for change in happened} == set(phrases.names(listed)), happened


@then('the newest checkpoint is of type "{type_:Text}" and holds the sandbox of "{name:Text}"')
def _(context, type_, name):
    newest = drive.listed(context)[-1]
    assert newest.checkpoint_type == type_, newest
    stored = audit.stored_files(context.world, newest.sandbox_ref or "")
    assert stored == context.remembered[name].without_directories(), stored


@given("work of every kind to apply, and edits of the user's elsewhere")
def _(context):
    applying.work_of_every_kind(drive.sandbox(context))
    applying.edit_elsewhere(context.world)
    context.edits = applying.edits(context.world)


@given("work of every kind to apply")
def _(context):
    applying.work_of_every_kind(drive.sandbox(context))


@given('plan "{name:Text}" in the user\'s own checkout')
def _(context, name):
    with context.world.services() as services:
        context.plan = services.plans.create(name, sandbox=context.world.repo).plan


@given('a hook "{name:Text}" that runs "{command:Text}"')
def _(context, name, command):
    hook = context.world.repo / ".git" / "hooks" / name
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\n{command}\n")
    hook.chmod(0o755)


@when(
    '"{command:Text}" is killed at each of its failpoints, '
    "and each time the plan is saved and applied again"
)
def _(context, command):
    killed = apply_crashes.KilledApplies(context.world, tuple(shlex.split(command)[1:]))
    killed.kill_everywhere()
    context.crashes = killed.crashes


@then("every time the branch was where it was, or wholly where it was to go")
def _(context):
    found = crashes.report(context.crashes, "branch")
    assert not found, found


@then("every time the next command went well, and rows and refs agreed after it")
def _(context):
    found = crashes.report(context.crashes, "next")
    assert not found, found


@then("every time the work was applied in the end, once, and the user's own edits were as before")
def _(context):
    found = crashes.report(context.crashes, "applied")
    assert not found, found


@when("the checkout of the user's had got {how}")
def _(context, how):
    place = context.world.repo
    files = dict(list(applying.WORK.items())[: 1 if how == "some of the files" else None])
    write_files(place, files)
    if how == "some of the files":
        return
    (place / "run.sh").chmod(0o755)
    (place / applying.GONE).unlink()
    if how.endswith("the index"):
        context.world.git("add", "--", *applying.WORK, applying.GONE)


@then(
    'the work is on branch "{branch:Text}", '
    "and the user's checkout has it and the user's own edits"
)
def _(context, branch):
    assert not applying.landed(context.world, branch), applying.landed(context.world, branch)
    assert applying.edits(context.world) == context.edits, applying.edits(context.world)
    for path, text in applying.WORK.items():
        assert (context.world.repo / path).read_text() == text, path
    assert not (context.world.repo / applying.GONE).exists()


@then("the user's own edits are as before, and nothing else is in their checkout")
def _(context):
    assert applying.edits(context.world) == context.edits, applying.edits(context.world)


@then('its commit is the one before that of branch "{branch:Text}"')
def _(context, branch):
    [before] = applying.parents(context.world, branch)
    assert drive.plan_now(context).applied_commit == before


@given('a filter of the user\'s that can store files "{pattern:Text}" but not write them')
def _(context, pattern):
    name = pattern.removeprefix("*.")
    for key, value in (("clean", "cat"), ("smudge", "false"), ("required", "true")):
        context.world.git("config", f"filter.{name}.{key}", value)
