"""Steps about the demonstration: what it tells, where it works, and who cannot fool it."""

from behave import given, step, then, when

from support.hostile import owners
from support.program import demos, meddlers
from support.program.forked import run_forked

FAILPOINTS = {
    "rollback": "demo.rolled_back",
    "undo": "demo.undone",
    "redo": "demo.redone",
    "end": "demo.closed",
}


@given("a directory for temporary files")
def _(context):
    place = demos.temporary_files(context.world)
    place.mkdir()
    context.world.extra_env["TMPDIR"] = str(place)


@then("nothing is left behind")
def _(context):
    found = list(demos.temporary_files(context.world).iterdir())
    assert not found, found


@then("it tells these commands, in this order:")
def _(context):
    lines = [line.strip() for line in context.ran.out.splitlines()]
    told = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
    assert told == [row["command"] for row in context.table], told


@then("it tells what became of ten kinds of damage:")
def _(context):
    lines = [line.strip() for line in context.ran.out.splitlines()]
    for row in context.table:
        kind, became = row["damage"], row["after the rollback"]
        told = [x for x in lines if x.startswith(f"{kind}  ") and x.endswith(f"  {became}")]
        assert len(told) == 1, (kind, lines)
    assert len(context.table.rows) == 10


@then("the demonstration has these steps:")
def _(context):
    steps = context.ran.json()["data"]["demo"]["steps"]
    found = [(s["name"], s["check"]["expected"] if s["check"] else "") for s in steps]
    assert found == [(row["step"], row["looked at"]) for row in context.table], found
    assert all(s["check"]["paths"] > 0 for s in steps if s["check"]), steps
    assert [len(s["damage"]) for s in steps if s["damage"]] == [10], steps


@then('it prints one line, with "{words:Text}"')
def _(context, words):
    (line,) = context.ran.ok().out.splitlines()
    assert words in line, line


@when("I run the demonstration and read only its first line")
def _(context):
    context.ran = demos.first_line_read(context.world)
    assert context.ran.err == "", context.ran


@step('I run "{command:Text}" in the sandbox that was kept')
def _(context, command):
    place = demos.sandbox_of_demo(context.world)
    context.ran = run_forked(context.world, *command.split()[1:], cwd=place)


@step("the sandbox that was kept holds {sight}")
def _(context, sight):
    demos.SIGHTS[sight](context.world)


@then("it says where the sandbox is, and how to remove everything")
def _(context):
    places = list(demos.temporary_files(context.world).glob("backtrail-demo-*"))
    told = [
        place
        for place in places
        if f"cd '{place}/shop.plans/auth'" in context.ran.ok().out
        and f"rm -rf '{place}'" in context.ran.out
    ]
    assert len(told) == 1, (places, context.ran)


@when("the user starts the agent that was kept, with GIT_DIR set to the repository")
def _(context):
    agent = demos.place_of_demo(context.world) / "agent.sh"
    git_dir = {"GIT_DIR": str(context.world.repo / ".git")}
    context.world.run("sh", str(agent), env=git_dir).ok()


@given("every setting and variable that could mislead git or Backtrail")
def _(context):
    context.misleading = demos.mislead(context.world)


@when("the demonstration is run with all of them in force")
def _(context):
    context.ran = context.world.plan("demo", env=context.misleading)


@given("a user who is not root may read the program")
def _(context):
    if not owners.nobody_may_read_the_program():
        context.scenario.skip("the program is closed to everybody but root here")


@when("the demonstration is run {somehow}")
def _(context, somehow):
    context.ran = demos.SURROUNDINGS[somehow](context.world)


@when("the demonstration gets {signal} at {place}")
def _(context, signal, place):
    here = meddlers.SignalHere(place, demos.signal_named(signal))
    world = context.world
    context.ran = run_forked(world, "demo", cwd=world.root, failpoints=here)


@when('the demonstration gets {signal} while its git dawdles over "{subcommand:Text}"')
def _(context, signal, subcommand):
    number = demos.signal_named(signal)
    context.ran = demos.interrupted_at_git(context.world, number, subcommand)


@when("after the {operation} of the demonstration somebody {deed}")
def _(context, operation, deed):
    meddled_with(context, operation, deed)


@when("after the {operation} of the demonstration, to be kept, somebody {deed}")
def _(context, operation, deed):
    meddled_with(context, operation, deed, "--keep")


def meddled_with(context, operation, deed, *options):
    world = context.world
    here = meddlers.DeedHere(FAILPOINTS[operation], world, meddlers.DEEDS[deed])
    context.ran = run_forked(world, "demo", *options, cwd=world.root, failpoints=here)


@then('it exits with {code:d}, says "{words:Text}" and gives a hint')
def _(context, code, words):
    ran = context.ran
    assert ran.code == code, ran
    assert words in ran.err, ran
    lines = ran.err.splitlines()
    assert [line.startswith("error: ") for line in lines].count(True) == 1, ran
    assert lines[-1].startswith("hint: "), ran


@then("it does not say that all went well")
def _(context):
    assert "All of it exact" not in context.ran.out, context.ran
    assert context.ran.out.count("ok: ") < 4, context.ran


@then("the repository is still there to look at")
def _(context):
    place = demos.place_of_demo(context.world)
    assert (place / "shop" / ".git").is_dir(), place
    assert str(place) in context.ran.err, context.ran


@then("the witness sees whatever somebody does:")
def _(context):
    assert [row["deed"] for row in context.table] == list(meddlers.WITNESSED)
    for row in context.table:
        before = meddlers.witness(context.world)
        assert before.complaints(meddlers.witness(context.world)) == []
        meddlers.WITNESSED[row["deed"]](context.world, context.world.repo)
        seen = before.complaints(meddlers.witness(context.world))
        assert any(words.startswith(row["says"]) for words in seen), (row["deed"], seen)
