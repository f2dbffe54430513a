"""Steps about files, rules and directories of which whoever reads them finds no end."""

import os
import time

from behave import given, step, then, when

from support.hostile import endless
from support.program import running
from support.program.forked import run_forked
from support.world import audit, drive

SECONDS = 10.0
MEBIBYTES = {"a mebibyte": 1, "sixteen mebibytes": 16}
ANSWERS = {
    "save": ("save", "auth"),
    "diff": ("diff", "-p", "auth"),
    "rollback": ("rollback", "auth", "one", "--yes"),
    "remove": ("remove", "auth", "--yes"),
}
LOOKS = {
    "status": ("status", "auth"),
    "diff": ("diff", "-p", "auth"),
    "export": ("checkpoint", "export", "-p", "auth", "two", "../out"),
    "export as an archive": ("checkpoint", "export", "-p", "auth", "two", "../out.tar.gz"),
}


@given('{what} in the place of "{file:Text}" of a repository "{name:Text}"')
def _(context, what, file, name):
    inner = drive.sandbox(context) / name
    inner.mkdir()
    if file != ".git":
        context.world.git("init", "--quiet", cwd=inner)
    endless.put(what, inner / file)


@given("{what} in the place of {where} of {owner}")
def _(context, what, where, owner):
    _put(context, what, f"{where} of {owner}")


@given("{what} in the place of its branch")
def _(context, what):
    _put(context, what, "its branch")


def _put(context, what, where):
    context.place = endless.find(context.world, drive.sandbox(context), where)
    context.was = context.place.read_bytes() if context.place.exists() else None
    endless.put(what, context.place)
    _name_of_many_letters(context)


def _name_of_many_letters(context):
    (drive.sandbox(context) / endless.NAME).touch()


@given("files with names for which a hopeless rule is tried for ever")
def _(context):
    _name_of_many_letters(context)


@given("plan.toml chooses the ignored files of a hopeless rule")
def _(context):
    text = f'[capture]\ninclude_ignored = ["{endless.HOPELESS}"]\n'
    (context.world.repo / "plan.toml").write_text(text)


@given('git\'s list "{path:Text}" is {much} of {what}')
def _(context, path, much, what):
    place = audit.git_dir(context.world, "auth") / path
    place.parent.mkdir()
    unit = endless.FILLING[what]
    place.write_bytes(unit * (MEBIBYTES[much] * 1024**2 // len(unit)))


@then("each of these ends within seconds: {commands}")
def _(context, commands):
    for arguments in (ANSWERS[word] for word in commands.split(", ")):
        began = time.monotonic()
        run_forked(context.world, *arguments).ok()
        took = time.monotonic() - began
        assert took < SECONDS * _crowd(), f"{arguments} took {took:.1f} s"


@when("what was in that place is back")
def _(context):
    context.place.unlink()
    if context.was is not None:
        context.place.write_bytes(context.was)


@then('{commands} end within seconds with {code:d} and say "{said:Text}"')
def _(context, commands, code, said):
    for arguments in (ANSWERS[word] for word in commands.split(", ")):
        began = time.monotonic()
        ran = run_forked(context.world, *arguments)
        took = time.monotonic() - began
        assert ran.code == code, ran
        assert said in ran.err, ran
        assert took < SECONDS * _crowd(), f"{arguments} took {took:.1f} s"


@then('saving and going back in "{name:Text}" exit with {code:d} and say "{said:Text}"')
def _(context, name, code, said):
    for arguments in (("save", name), ("rollback", name, "1", "--yes")):
        ran = run_forked(context.world, *arguments)
        assert ran.code == code, ran
        assert said in ran.err, ran


def _crowd():
    """How much slower everything is on a machine with more to do than it has processors for."""
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


@given('"{command:Text}" is killed while its git is busy for ever')
def _(context, command):
    begun = running.start(context.world, *command.split()[1:])
    running.wait_until(lambda: running.child_of(begun.pid, "ls-files"), "git lists")
    context.git = running.child_of(begun.pid, "ls-files")
    begun.kill()


@step('a file below {count:d} directories named "{name:Text}"')
def _(context, count, name):
    endless.nest(drive.sandbox(context), count, name)


@then("each of these succeeds: {looks}")
def _(context, looks):
    for look in looks.split(", "):
        run_forked(context.world, *LOOKS[look]).ok()
    for made in ("out", "out.tar.gz"):
        endless.remove(context.world.root / made)


@then('"{path:Text}" does not come back')
def _(context, path):
    assert not (drive.sandbox(context) / path).exists()


@then("that file is there again")
def _(context):
    assert endless.leaves(drive.sandbox(context)) == 1


@then("that file is gone")
def _(context):
    assert endless.leaves(drive.sandbox(context)) == 0


@then("nothing of the sandbox is left")
def _(context):
    assert not drive.sandbox(context).exists()
    trash = context.world.backtrail_home / "trash"
    left = [place for removed in trash.iterdir() for place in removed.iterdir()]
    assert not left, left


@when("what it says is moved away: {what}")
def _(context, what):
    place = context.place if what == "the file" else context.place.parent
    place.rename(context.world.root / "moved away")


@given("the git directory of the sandbox is gone")
def _(context):
    git_dir = endless.find(
        context.world, drive.sandbox(context), "HEAD of its git directory"
    ).parent
    git_dir.rename(context.world.root / "moved away")
