"""Steps about the end of plans and sandboxes, and about their return."""

from behave import given, step, then

from support.crashes import crashes
from support.program.forked import run_forked
from support.sandbox import lives
from support.world import audit, drive


@given("the agent commits its work, stages some and leaves some")
def _(context):
    lives.busy_work(context.world, drive.sandbox(context))


@given(
    "the sandbox holds what no checkpoint can: ignored and huge files, a pipe, another repository"
)
def _(context):
    lives.uncapturable(context.world, drive.sandbox(context))


@step("the sandbox is destroyed: {how}")
def _(context, how):
    lives.destroy(context.world, drive.sandbox(context), how)


@then("the sandbox is gone, for git as well")
def _(context):
    assert not drive.sandbox(context).exists()
    listed = context.world.git("worktree", "list", "--porcelain")
    assert str(context.world.repo) in listed
    assert listed.count("worktree ") == 1, listed


@then("the repository inside the sandbox has its history")
def _(context):
    said = context.world.git("log", "--format=%s", cwd=drive.sandbox(context) / "nested")
    assert said == "never pushed\n", said


@then('the newest checkpoint is of type "{kind:Text}"')
def _(context, kind):
    [row] = audit.query(
        context.world,
        "SELECT checkpoint_type, state FROM checkpoint_metadata ORDER BY seq DESC LIMIT 1",
    )
    assert (row["checkpoint_type"], row["state"]) == (kind, "complete"), row


@then("nothing is set aside any more")
def _(context):
    trash = context.world.backtrail_home / "trash"
    assert trash.is_dir(), "nothing was ever set aside"
    left = [path for path in trash.rglob("*") if path.parent != trash]
    assert not left, left


@then('its problem and hint say "{words:Text}"')
def _(context, words):
    data = context.ran.json()["data"]
    assert data["problem"], data
    assert words in f"{data['problem']} {data['hint']}", data


def _restored(context):
    def after(crash):
        ran = run_forked(context.world, "restore", "auth")
        if ran.code not in (0, lives.IN_PLACE):
            crash.note("usable", [f"restore gave {ran.code}: {ran.err}"])
        before = context.remembered["before"]
        crash.note("sandbox", before.differences(drive.look(context)))

    return after


@step(
    '"{command:Text}" is killed at its failpoints {families}, '
    'and each time I run "plan restore auth"'
)
def _(context, command, families):
    words = tuple(command.split()[1:])
    families = tuple(families.split(", "))
    context.crashes = lives.killed_everywhere(context.world, words, families, _restored(context))


@then('every time the sandbox was as it was at "before", and nothing was half done')
def _(context):
    assert len(context.crashes) >= 4, context.crashes
    topics = ("usable", "sandbox", "invariant")
    found = [crashes.report(context.crashes, topic) for topic in topics]
    assert not any(found), "\n".join(found)


@step('"{command:Text}" is killed at its failpoints {families}, and each time it is run again')
def _(context, command, families):
    words = tuple(command.split()[1:])

    def after(crash):
        ran = run_forked(context.world, *words)
        crash.note("usable", [] if ran.code == 0 else [f"{ran.code}: {ran.err}"])
        rows = audit.query(context.world, "SELECT state FROM checkpoint_metadata")
        crash.note("left", [str(row) for row in rows if row["state"] != "pruned"])
        crash.note("left", list(audit.refs(context.world)))
        crash.note("left", [str(p) for p in context.world.backtrail_home.glob("trash/*/*")])

    families = tuple(families.split(", "))
    context.crashes = lives.killed_everywhere(context.world, words, families, after)


@then("every time nothing was left of the plan but tombstones")
def _(context):
    assert len(context.crashes) >= 4, context.crashes
    found = [crashes.report(context.crashes, topic) for topic in ("usable", "left", "invariant")]
    assert not any(found), "\n".join(found)
