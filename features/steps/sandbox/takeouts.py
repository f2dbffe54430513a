"""Steps about states taken elsewhere: forks, branches, exports, and what new sandboxes bring."""

import json
import os
from dataclasses import replace

from behave import given, then, when

from support.crashes import crashes
from support.crashes.crashes import all_failpoints
from support.program.forked import DoHere, run_forked
from support.sandbox import lives
from support.sandbox.sandboxes import dates_and_inodes
from support.world import drive, phrases
from support.world.disk import walk
from support.world.picture import file_differences, picture
from support.world.world import write_files


@given('"plan.toml" captures the ignored files: {listed}')
def _(context, listed):
    names = json.dumps(phrases.names(listed))
    write_files(context.world.repo, {"plan.toml": f"[capture]\ninclude_ignored = {names}\n"})


def _branchless(seen):
    """A picture without what the name of the branch shows in."""
    return replace(seen, head="")


def _fork_differences(context, name, label):
    fork = picture(context.world, context.world.sandbox(name), f"plan/{name}")
    assert fork.head.strip() == f"refs/heads/plan/{name}", fork.head
    return _branchless(context.remembered[label]).differences(_branchless(fork))


@given('I take stock of the sandbox of "{name:Text}"')
def _(context, name):
    context.stock = picture(context.world, context.world.sandbox(name), f"plan/{name}")


@then('the sandbox of "{name:Text}" is as it was')
def _(context, name):
    now = picture(context.world, context.world.sandbox(name), f"plan/{name}")
    assert not context.stock.differences(now), context.stock.differences(now)


@then('the sandbox of "{name:Text}" is as "auth" was at "{label:Text}", but for the branch')
def _(context, name, label):
    differences = _fork_differences(context, name, label)
    assert not differences, "\n".join(differences)


@when(
    '"{command:Text}" is killed at each failpoint of making a plan, and each time it is run again'
)
def _(context, command):
    words = tuple(command.split()[1:])
    by_copying = {"plan.files_filled", "plan.git_filled"}
    assert by_copying < all_failpoints("plan"), "a fork has places of its own"

    def after(crash):
        ran = run_forked(context.world, *words)
        if ran.code and crash.places != ["plan.done"]:
            crash.note("usable", [f"{ran.code}: {ran.err}"])
        crash.note("sandbox", _fork_differences(context, "twin", "dirty"))

    context.crashes = lives.killed_everywhere(context.world, words, ("plan",), after)


@then('every time the fork was as "auth" was at "dirty", and nothing was half done')
def _(context):
    assert len(context.crashes) >= 6, context.crashes
    topics = ("usable", "sandbox", "invariant")
    found = [crashes.report(context.crashes, topic) for topic in topics]
    assert not any(found), "\n".join(found)


@when(
    'somebody writes to "{path:Text}" of the fork "{name:Text}" of "{label:Text}" while it is made'
)
def _(context, path, name, label):
    place = context.world.sandbox(name) / path
    meddler = DoHere("plan.git_filled", lambda: place.write_text("meddling\n"))
    with context.world.services(meddler) as services:
        fork = services.lifecycle.fork
        context.error = drive.refusal(fork, context.plan.plan_id, label, name)


@then('branch "{branch:Text}" holds: {listed}')
def _(context, branch, listed):
    found = context.world.git("ls-tree", "-r", "--name-only", "-z", branch).split("\0")[:-1]
    assert found == phrases.names(listed), found


@then('"{path:Text}" of branch "{branch:Text}" is "{content:Text}"')
def _(context, path, branch, content):
    assert context.world.git("show", f"{branch}:{path}") == content


@then('the parent of branch "{branch:Text}" is what "plan/auth" was at "{label:Text}"')
def _(context, branch, label):
    found = context.world.git("rev-parse", f"{branch}^")
    assert found == context.remembered[label].commit, found


@then('branch "{branch:Text}" is no different from "{other:Text}"')
def _(context, branch, other):
    assert context.world.git("rev-parse", branch) != context.world.git("rev-parse", other)
    assert context.world.git("diff", "--stat", branch, other) == ""


@then('the directory "{name:Text}" is as "auth" was at "{label:Text}", without: {listed}')
def _(context, name, label, listed):
    # The directory itself is whoever's it is written for.
    without = {b".", *(os.fsencode(path) for path in phrases.names(listed))}
    then = context.remembered[label].files
    wanted = {path: entry for path, entry in then.items() if path not in without}
    found = walk(context.world.root / name, directories=True)
    assert found, "nothing is there"
    assert not file_differences(wanted, found), file_differences(wanted, found)


@then("no half-written export is left beside the repository")
def _(context):
    left = [path.name for path in context.world.root.iterdir() if path.name.startswith(".")]
    assert not left, left


@then('"{path:Text}" has mode {mode}')
def _(context, path, mode):
    found = (drive.sandbox(context) / path).stat().st_mode & 0o777
    assert found == int(mode, 8), oct(found)


@then('"{path:Text}" is a link to "{target:Text}"')
def _(context, path, target):
    assert os.readlink(drive.sandbox(context) / path) == target


@given("I take stock of the user's files")
def _(context):
    repo = context.world.repo
    context.users_files = (dates_and_inodes(repo), (repo / ".git" / "index").read_bytes())


@then("the user's files are as they were, dates and index included")
def _(context):
    repo = context.world.repo
    inside = {p: v for p, v in dates_and_inodes(repo).items() if not p.startswith(".git/")}
    dates, index = context.users_files
    assert inside == {p: v for p, v in dates.items() if not p.startswith(".git/")}
    assert (repo / ".git" / "index").read_bytes() == index


@then('the sandbox of "{name:Text}" has the user\'s files, staged and not')
def _(context, name):
    users = _branchless(picture(context.world, context.world.repo, "main"))
    assert users.staged, "the user has nothing staged"
    ours = _branchless(picture(context.world, context.world.sandbox(name), f"plan/{name}"))
    assert not users.differences(ours), users.differences(ours)
