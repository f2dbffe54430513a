"""Steps about who owns a repository, and who is asking."""

import os

from behave import given, then, when

from backtrail.api import open_repo
from backtrail.domain.errors import BacktrailError
from support.hostile import owners
from support.program.forked import run_forked
from support.world import drive


@given('the user\'s checkout is also at "{place:Text}"')
def _(context, place):
    context.world.git("worktree", "add", "--quiet", "-b", place, f"../{place}")


def _give(context, *places):
    if os.geteuid() != 0:
        context.scenario.skip("only root can give a file to somebody else")
        return
    owners.give(*places)


@given("the repository belongs to somebody else")
def _(context):
    _give(context, *owners.everything(context.world.repo))


@given('another repository in "{place:Text}", which belongs to somebody else')
def _(context, place):
    root = context.world.root / place
    context.world.git("init", "--quiet", str(root))
    _give(context, *owners.everything(root))


@given("the checkout's root belongs to somebody else")
def _(context):
    _give(context, context.world.repo)


@given("the git directory belongs to somebody else")
def _(context):
    _give(context, context.world.repo / ".git")


@given("the sandbox belongs to somebody else")
def _(context):
    _give(context, *owners.everything(drive.sandbox(context)))


@given('the checkout at "{place:Text}" belongs to somebody else')
def _(context, place):
    _give(context, *owners.everything(context.world.root / place))


@given("as the user has it, safe.directory is {what}")
def _(context, what):
    context.world.extra_env |= owners.SAFE[what](context.world) or {}


@then("plan list says what git says: {verdict}")
def _(context, verdict):
    git = context.world.run("git", "rev-parse", "--git-dir")
    assert (git.code == 0) == (verdict == "yes"), git
    ran = run_forked(context.world, "list")
    assert ran.code == (0 if verdict == "yes" else 5), ran


@then("a program that opens it is refused with {code:d}")
def _(context, code):
    try:
        open_repo(context.world.repo, environ=context.world.environment()).close()
    except BacktrailError as error:
        assert error.exit_code == code, error
    else:
        raise AssertionError("it was opened")


@given("a user who is not root")
def _(context):
    if os.geteuid() != 0 or not owners.nobody_may_read_the_program():
        context.scenario.skip("nobody but root can be somebody else, or read the program, here")
        return
    owners.let_everybody_read(context.world.root)


@when('that user runs "{command:Text}"')
def _(context, command):
    _, *words = command.split()
    context.ran = run_forked(context.world, *words, before=owners.become_nobody)
