"""Steps about repositories and sandboxes: files, git, and how things look."""

import os
import shlex
import shutil

from behave import given, step, then

from support.sandbox import changes
from support.world import drive, phrases, users
from support.world.world import remove, write_files


@given("a repository")
def _(context):
    context.world.make_repository()


@given("a repository without commits")
def _(context):
    shutil.rmtree(context.world.repo)
    context.world.repo.mkdir()
    context.world.git("init", "--quiet", "--initial-branch=main")


@given('another repository in "{place:Text}"')
def _(context, place):
    context.world.git("init", "--quiet", str(context.world.root / place))


@given('a repository with plan "{name:Text}"')
def _(context, name):
    context.world.make_repository()
    drive.new_plan(context, name)
    drive.remember(context, "initial")


@given("the sandbox holds files of every kind")
def _(context):
    changes.varied_tree(drive.sandbox(context))


@step('the agent writes "{content:Text}" to "{path:Text}"')
def _(context, content, path):
    write_files(drive.sandbox(context), {path: content})


@step('the agent deletes "{path:Text}"')
def _(context, path):
    remove(drive.sandbox(context) / path)


@step("the agent does this: {change}")
def _(context, change):
    changes.make(change, drive.sandbox(context))


@step('the agent runs "{command:Text}"')
def _(context, command):
    context.world.run(*shlex.split(command), cwd=drive.sandbox(context)).ok()


@given('the agent is in the middle of "{command:Text}"')
def _(context, command):
    """Most of these stop at a conflict, and git calls that a failure."""
    context.world.run(*shlex.split(command), cwd=drive.sandbox(context))


@step('the user runs "{command:Text}"')
def _(context, command):
    context.world.run(*shlex.split(command)).ok()


@step('the user writes "{content:Text}" to "{path:Text}"')
def _(context, content, path):
    write_files(context.world.repo, {path: content})


@step('I remember the sandbox as "{name:Text}"')
def _(context, name):
    drive.remember(context, name)


@then('the sandbox is exactly as it was at "{name:Text}"')
def _(context, name):
    differences = context.remembered[name].differences(drive.look(context))
    assert not differences, "\n".join(differences)


@then('"{path:Text}" holds "{content:Text}"')
def _(context, path, content):
    found = (drive.sandbox(context) / path).read_bytes()
    assert found == content.encode(), found


@then('"{path:Text}" is not there')
def _(context, path):
    assert not os.path.lexists(drive.sandbox(context) / path)


@then('the files that changed since "{name:Text}" are: {listed}')
def _(context, name, listed):
    before, now = context.remembered[name].files, drive.look(context).files
    changed = {os.fsdecode(p) for p in {*before, *now} if before.get(p) != now.get(p)}
    changed -= {os.fsdecode(p) for p, e in (before | now).items() if e[0] == "directory"}
    assert changed == set(phrases.names(listed)), changed


@then('HEAD is on branch "{branch:Text}"')
def _(context, branch):
    assert drive.look(context).head.strip() == f"refs/heads/{branch}", drive.look(context).head


@then("HEAD is detached")
def _(context):
    head = drive.look(context).head
    assert head.startswith(("HEAD detached ", "Not currently on any branch")), head


@then('git status begins with "{words:Text}"')
def _(context, words):
    head = drive.look(context).head
    assert head == words, head


@then('git status begins as at "{name:Text}", with "{words:Text}"')
def _(context, name, words):
    """Where an id is part of what git says, only its beginning can be written down."""
    head = drive.look(context).head
    assert head == context.remembered[name].head, (head, context.remembered[name].head)
    assert head.startswith(words), head


@then('the sandbox\'s commit is that of "{name:Text}"')
def _(context, name):
    now = drive.look(context).commit
    assert now == context.remembered[name].commit, now


@then('branch "{branch:Text}" is where it was at "{name:Text}"')
def _(context, branch, name):
    now = context.world.git("rev-parse", f"refs/heads/{branch}")
    assert now == context.remembered[name].commit, now


@then('branch "{branch:Text}" follows no other one')
def _(context, branch):
    listed = context.world.git("for-each-ref", "--format=%(upstream)", f"refs/heads/{branch}")
    assert listed == "\n", listed


@given('the agent commits "{ours:Text}", and branch "{branch:Text}" has "{theirs:Text}" instead')
def _(context, ours, branch, theirs):
    def git(*arguments):
        context.world.git(*arguments, cwd=drive.sandbox(context))

    git("switch", "--quiet", "-c", branch)
    write_files(drive.sandbox(context), {"README.md": theirs})
    git("commit", "--quiet", "-am", "theirs")
    git("switch", "--quiet", "-")
    write_files(drive.sandbox(context), {"README.md": ours})
    git("commit", "--quiet", "-am", "ours")


@given('the user\'s own settings ignore "{pattern:Text}"')
def _(context, pattern):
    write_files(context.world.home, {".config/git/ignore": f"{pattern}\n"})


@given("the user has a stash, a tag, staged work and work that is not staged")
def _(context):
    users.busy_user(context.world)


@given("I take stock of the user's repository")
def _(context):
    context.facts = users.repository_facts(context.world)


@then("the user's repository is as it was")
def _(context):
    changed = users.differences(context.facts, users.repository_facts(context.world))
    assert not changed, changed


@then('the user\'s repository is as it was, but for branch "{branch:Text}"')
def _(context, branch):
    now = users.repository_facts(context.world)
    changed = users.differences(context.facts, now)
    ours = {"for-each-ref", "worktree list", "worktrees/auth/index", "status of auth"}
    assert set(changed) <= {*ours, f"logs/refs/heads/{branch}"}, changed
    old = str(context.facts["for-each-ref"]).splitlines()
    new = str(now["for-each-ref"]).splitlines()
    assert [ref.split("\t")[1] for ref in new if ref not in old] == [f"refs/heads/{branch}"], new
    assert set(old) <= set(new), new


@then("the user's repository is as it was, but for the sandbox")
def _(context):
    changed = users.differences(context.facts, users.repository_facts(context.world))
    assert not {name for name in changed if "auth" not in name}, changed


@then('the user finds "{content:Text}" in "{path:Text}"')
def _(context, content, path):
    found = (context.world.repo / path).read_bytes()
    assert found == content.encode(), found


@given("every hook of the repository shouts")
def _(context):
    users.shouting_hooks(context.world, context.world.repo / ".git" / "hooks")


@given("every hook in the user's own hooks folder shouts")
def _(context):
    folder = context.world.home / "hooks"
    users.shouting_hooks(context.world, folder)
    context.world.git("config", "--global", "core.hooksPath", str(folder))


@given("commits are signed by a program that shouts")
def _(context):
    users.shouting_signer(context.world)


@given("silence")
def _(context):
    users.silence(context.world)


@then("there was shouting")
def _(context):
    assert users.shouted(context.world), "the hooks of this scenario do not work"


@then("there was no shouting")
def _(context):
    assert not users.shouted(context.world), users.shouted(context.world)
