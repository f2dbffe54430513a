"""Steps about the log that git keeps of a sandbox's HEAD."""

import json
import os

from behave import given, step, then, when

from support.crashes.crashes import KILLED
from support.world import drive

NAMES = {
    "something with an option": b"--stdin",
    "something with blanks": b"a to b to v1",
    "a tag and a blank": b"v1 ",
    "something that is not UTF-8": b"\xff\xfe",
    "something with a zero byte": b"v\x001",
    "something without end": b"x" * 300_000,
    "nothing": b"",
    "HEAD": b"HEAD",
}


def _log(context):
    git_dir = context.world.git("rev-parse", "--git-dir", cwd=drive.sandbox(context)).strip()
    return drive.sandbox(context) / git_dir / "logs" / "HEAD"


def _elsewhere(context):
    return context.world.root / "elsewhere"


def _replace_by_link(log, elsewhere):
    log.rename(elsewhere)
    log.symlink_to(elsewhere)


def _move_directory(log, elsewhere):
    log.parent.rename(elsewhere)
    log.parent.symlink_to(elsewhere)


TRICKS = {
    "a link to elsewhere": _replace_by_link,
    "in a directory that is elsewhere": _move_directory,
    "a second name of another file": os.link,
}


@given("there is no log of the sandbox's HEAD")
def _(context):
    _log(context).unlink(missing_ok=True)


@then("there is still no log of the sandbox's HEAD")
def _(context):
    assert not os.path.lexists(_log(context))


@given("the log of HEAD says last that {what} was checked out")
def _(context, what):
    commit = context.world.git("rev-parse", "HEAD", cwd=drive.sandbox(context)).strip().encode()
    entry = b" <a@b> 1700000000 +0000\tcheckout: moving from plan/auth to "
    with _log(context).open("ab") as file:
        file.write(commit + b" " + commit + entry + NAMES[what] + b"\n")


@step("the log of HEAD is {what}")
def _(context, what):
    TRICKS[what](_log(context), _elsewhere(context))


@when("I put the log of HEAD back")
def _(context):
    log, elsewhere = _log(context), _elsewhere(context)
    place = log.parent if elsewhere.is_dir() else log
    place.unlink()
    elsewhere.rename(place)


@then('nothing of "{name:Text}" was written elsewhere')
def _(context, name):
    newest = _elsewhere(context).read_text().splitlines()[-1]
    assert f" to {name}" not in newest, newest


@then('the state of "{name:Text}" says nothing about what HEAD was detached from')
def _(context, name):
    store, commit = f"--git-dir={context.world.store}", drive.find(context, name).sandbox_ref
    document = json.loads(context.world.git(store, "cat-file", "-p", f"{commit}^2:state.json"))
    assert set(document["head"]) == {"ref", "commit"}, document["head"]


@then("it is killed")
def _(context):
    assert context.ran.code == KILLED, context.ran
