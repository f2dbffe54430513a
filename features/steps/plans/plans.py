"""Steps about plans: making them, and where they stand."""

from behave import given, step, then, when

from support.crashes import trouble
from support.program.forked import KillHere, run_forked
from support.world import drive, phrases
from support.world.world import write_files


@given('plan "{name:Text}"')
def _(context, name):
    drive.new_plan(context, name)


@given('plan "{name:Text}" on a worktree of the user\'s, on branch "{branch:Text}"')
def _(context, name, branch):
    world = context.world
    place = world.root / "users worktree"
    world.git("worktree", "add", "--quiet", "-b", branch, str(place))
    with world.services() as services:
        context.plan = services.plans.create(name, sandbox=place).plan
    drive.remember(context, "initial")


@step('the plan is in phase "{phase:Text}" and state "{state:Text}"')
def _(context, phase, state):
    drive.set_plan_state(context, phase, state)


@then('the plan is now in phase "{phase:Text}" and state "{state:Text}"')
def _(context, phase, state):
    plan = drive.plan_now(context)
    assert (plan.phase, plan.state) == (phase, state), (plan.phase, plan.state)


@step('I speak of plan "{name:Text}"')
def _(context, name):
    context.plan = context.plans[name]


@given('creating plan "{name:Text}" was killed at {failpoint}')
def _(context, name, failpoint):
    ran = run_forked(context.world, "create", name, failpoints=KillHere(failpoint))
    assert ran.code == -9, ran


@then('the sandbox of "{name:Text}" holds the files of the repository')
def _(context, name):
    world = context.world
    listed = world.git("ls-tree", "-r", "--name-only", "-z", "HEAD").split("\0")[:-1]
    place = world.sandbox(name)
    files = {str(p.relative_to(place)) for p in place.rglob("*") if p.is_file()} - {".git"}
    assert files == set(listed), files
    assert world.git("status", "--porcelain", cwd=place) == ""


@then("the plans are: {listed}")
def _(context, listed):
    with context.world.services() as services:
        found = [plan.name for plan in services.plans.list_plans()]
    assert found == phrases.names(listed), found


@then("the listed plans are: {listed}")
def _(context, listed):
    found = [plan["name"] for plan in context.ran.ok().json()["data"]["plans"]]
    assert found == phrases.names(listed), found


@when('I speak of the plan "{name:Text}" that was created')
def _(context, name):
    with context.world.services() as services:
        context.plan = services.plans.resolve(name)


@given('somebody writes "{content:Text}" to "{path:Text}" in the sandbox of "{name:Text}"')
def _(context, content, path, name):
    write_files(context.world.sandbox(name), {path: content})


@then('"{path:Text}" is not in the sandbox of "{name:Text}"')
def _(context, path, name):
    place = context.world.sandbox(name)
    assert place.is_dir(), place
    assert not (place / path).exists(), path


@then('there is no branch "{name:Text}"')
def _(context, name):
    assert context.world.git("branch", "--list", name) == ""
    assert context.world.git("branch", "--list", "main"), "branches are not listed at all"


@then('some checkpoint holds "{content:Text}" as "{path:Text}"')
def _(context, content, path):
    store = f"--git-dir={context.world.store}"
    held = [
        context.world.git(store, "show", f"{checkpoint.sandbox_ref}:{path}")
        for checkpoint in drive.listed(context)
    ]
    assert content in held, held


@given("the sandbox was {replaced}")
def _(context, replaced):
    trouble.SANDBOX[f"was {replaced}"](context.world)


@given("the database {damaged}")
def _(context, damaged):
    trouble.DATABASE[damaged](context.world)


@given('the user copies the repository to "{place:Text}"')
def _(context, place):
    context.world.run("cp", "-a", str(context.world.repo), str(context.world.root / place)).ok()


@then("the repository holds nothing of Backtrail's")
def _(context):
    assert not context.world.backtrail_home.exists()


@then("these cannot be plan names:")
def _(context):
    for row in context.table:
        name = _name(row["name"])
        ways = [[name], ["--", name]] if name.startswith("-") else [[name]]
        for words in ways:
            ran = run_forked(context.world, "create", *words)
            assert ran.code == 2, (row, ran)
            assert ran.err.startswith("error: "), ran


def _name(written):
    """A name as the table has it: in quotes if blanks matter, or so many letters."""
    count, _, letters = written.partition(" ")
    if letters == "letters":
        return "a" * int(count)
    return written.strip("'").encode().decode("unicode_escape").encode("latin-1").decode()
