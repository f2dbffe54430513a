"""Steps about sandboxes that do not mean well."""

import os
import shutil
from pathlib import Path

from behave import given, then, when

from support.hostile import traps
from support.program.forked import run_forked
from support.world import audit, drive
from support.world.world import write_files

LIFE = (
    "save auth -m first",
    "status auth",
    "diff -p auth first",
    "diff -p auth --patch first",
    "rollback auth first --yes",
    "undo auth",
    "redo auth",
    "rollback auth one --yes --path README.md",
    "save auth",
)


def _worktree_config(context):
    context.world.git("config", "extensions.worktreeConfig", "true")
    return audit.git_dir(context.world, "auth") / "config.worktree"


def _included(context):
    place = context.world.root / "included.config"
    context.world.git("config", "include.path", str(place))
    return place


def _repositorys_own(context):
    return context.world.repo / ".git" / "config"


PLACES = {
    "the repository's own configuration": _repositorys_own,
    "the sandbox's config.worktree": _worktree_config,
    "a file that the repository's configuration includes": _included,
    "the user's own configuration": lambda context: context.world.home / ".gitconfig",
}


@given("hostile settings in {place}")
def _(context, place):
    settings = traps.hostile_settings(context.world)
    with PLACES[place](context).open("a") as file:
        file.write(traps.config_text(settings))
    write_files(
        drive.sandbox(context),
        {".gitattributes": "* filter=evil diff=evil merge=evil text eol=crlf\n"},
    )


@given("hooks of every kind in the repository")
def _(context):
    for name in traps.HOOKS:
        shutil.copy(traps.trap(context.world, name), context.world.repo / ".git" / "hooks" / name)


@given("a nested repository in the sandbox with hostile settings")
def _(context):
    nested = drive.sandbox(context) / "nested"
    nested.mkdir()
    context.world.git("init", "--quiet", cwd=nested)
    write_files(nested, {"file": "1\n"})
    context.world.git("add", ".", cwd=nested)
    context.world.git("commit", "--quiet", "-m", "nested", cwd=nested)
    context.world.git("add", "nested", cwd=drive.sandbox(context))
    settings = traps.config_text(traps.hostile_settings(context.world))
    with (nested / ".git" / "config").open("a") as file:
        file.write(settings)
    write_files(nested, {"file": "2\n"})


@then("plain git falls into a trap")
def _(context):
    context.world.run("git", "status", cwd=drive.sandbox(context))
    context.world.run("git", "diff", cwd=drive.sandbox(context))
    context.world.run("git", "update-ref", "refs/heads/tried", "HEAD", cwd=drive.sandbox(context))
    assert traps.sprung(context.world), "the traps do not work, so that nothing is shown"
    traps.forget_sprung(context.world)


@when("the plan lives its life: save, look, roll back, undo, redo")
def _(context):
    for command in LIFE:
        write_files(drive.sandbox(context), {"README.md": f"before {command}\n"})
        run_forked(context.world, *command.split()).ok()


@then("nothing was run")
def _(context):
    assert not traps.sprung(context.world), traps.sprung(context.world)


@given("the sandbox's .git leads to a hostile git directory")
def _(context):
    evil = context.world.root / "evil.git"
    context.world.git("init", "--quiet", "--bare", str(evil))
    settings = traps.config_text({**traps.hostile_settings(context.world), "core.bare": "false"})
    (evil / "config").write_text(settings)
    (drive.sandbox(context) / ".git").write_text(f"gitdir: {evil}\n")


@given("the sandbox's .git leads to a forged git directory of this very repository")
def _(context):
    real = audit.git_dir(context.world, "auth")
    forged = drive.sandbox(context) / ".forged"
    shutil.copytree(real, forged)
    (forged / "commondir").write_text(f"{context.world.repo / '.git'}\n")
    context.world.git("config", "extensions.worktreeConfig", "true")
    settings = traps.config_text(traps.hostile_settings(context.world))
    (forged / "config.worktree").write_text(settings)
    (drive.sandbox(context) / ".git").write_text(f"gitdir: {forged}\n")


@given("the sandbox's .git leads to the git directory of another worktree")
def _(context):
    context.world.git("worktree", "add", "--quiet", str(context.world.root / "other"))
    text = (context.world.root / "other" / ".git").read_text()
    (drive.sandbox(context) / ".git").write_text(text)


@given("the sandbox was moved away and is a link to where it is now")
def _(context):
    away = context.world.root / "away"
    drive.sandbox(context).rename(away)
    drive.sandbox(context).symlink_to(away)


@then("each of these exits with {code:d}: {commands}")
def _(context, code, commands):
    for command in commands.split("; "):
        ran = run_forked(context.world, *command.split()[1:])
        assert ran.code == code, ran


@given("a decoy repository, and GIT_ variables that lead there")
def _(context):
    decoy = context.world.root / "decoy"
    decoy.mkdir()
    context.world.git("init", "--quiet", cwd=decoy)
    write_files(decoy, {"decoy.txt": "decoy\n"})
    context.world.git("add", ".", cwd=decoy)
    context.world.git("commit", "--quiet", "-m", "decoy", cwd=decoy)
    context.decoy = _everything(decoy)
    context.led_astray = {
        "GIT_DIR": str(decoy / ".git"),
        "GIT_WORK_TREE": str(decoy),
        "GIT_INDEX_FILE": str(decoy / ".git" / "index"),
        "GIT_OBJECT_DIRECTORY": str(decoy / ".git" / "objects"),
        "GIT_COMMON_DIR": str(decoy / ".git"),
        "GIT_NAMESPACE": "decoy",
        "GIT_CEILING_DIRECTORIES": "/",
        "GIT_CONFIG_COUNT": "2",
        "GIT_CONFIG_KEY_0": "core.fsmonitor",
        "GIT_CONFIG_VALUE_0": traps.trap(context.world, "fsmonitor"),
        "GIT_CONFIG_KEY_1": "core.hooksPath",
        "GIT_CONFIG_VALUE_1": str(traps.hooks_directory(context.world)),
        "GIT_EXTERNAL_DIFF": traps.trap(context.world, "external-diff"),
        "GIT_LITERAL_PATHSPECS": "0",
        "GIT_ATTR_SOURCE": "HEAD",
    }


def _everything(root: Path):
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


@when('with these variables I run "{command:Text}"')
def _(context, command):
    context.ran = run_forked(context.world, *command.split()[1:], env=context.led_astray)


@then("the decoy is untouched")
def _(context):
    assert _everything(context.world.root / "decoy") == context.decoy


@given('the content of "{path:Text}" is replaced by a forgery with git replace')
def _(context, path):
    sandbox = drive.sandbox(context)
    real = context.world.git("rev-parse", f"HEAD:{path}", cwd=sandbox).strip()
    forgery = context.world.root / "forgery"
    forgery.write_text("forged\n")
    fake = context.world.git("hash-object", "-w", str(forgery), cwd=sandbox).strip()
    context.world.git("replace", real, fake, cwd=sandbox)
    assert context.world.git("show", f"HEAD:{path}", cwd=sandbox) == "forged\n"


@given("something precious outside of the sandbox")
def _(context):
    write_files(
        context.world.root / "outside", {"precious.txt": "precious\n", "deep/er.txt": "x\n"}
    )
    context.outside = _everything(context.world.root / "outside")


@given('the agent puts a link to it in the place of "{path:Text}"')
def _(context, path):
    place = drive.sandbox(context) / path
    folder = place.is_dir()
    shutil.rmtree(place) if folder else place.unlink()
    outside = context.world.root / "outside"
    place.symlink_to(outside if folder else outside / "precious.txt")


def _no_directory(log, make):
    shutil.rmtree(log.parent)
    make(log.parent)


LOGS = {
    "a link to something precious": lambda log, out: log.symlink_to(out / "precious.txt"),
    "a second name of something precious": lambda log, out: os.link(out / "precious.txt", log),
    "a link to a file that is not there": lambda log, out: log.symlink_to(out / "new.txt"),
    "a link to itself": lambda log, _: log.symlink_to(log.name),
    "a directory": lambda log, _: log.mkdir(),
    "a FIFO": lambda log, _: os.mkfifo(log),
    "one in a directory outside": lambda log, out: _no_directory(
        log, lambda place: place.symlink_to(out / "deep")
    ),
    "one in a directory that is a link to itself": lambda log, _: _no_directory(
        log, lambda place: place.symlink_to(place.name)
    ),
    "one in a directory that is a FIFO": lambda log, _: _no_directory(log, os.mkfifo),
    "one in a directory that is a file": lambda log, _: _no_directory(log, Path.touch),
}


def _replace_log(context, log, what):
    log.unlink()
    LOGS[what](log, context.world.root / "outside")


@given("the log of HEAD is replaced by {what}")
def _(context, what):
    _replace_log(context, audit.git_dir(context.world, "auth") / "logs" / "HEAD", what)


@given("the log of the sandbox's branch is replaced by {what}")
def _(context, what):
    branch = context.world.repo / ".git" / "logs" / "refs" / "heads" / "plan" / "auth"
    _replace_log(context, branch, what)


@then("what is outside is untouched")
def _(context):
    assert _everything(context.world.root / "outside") == context.outside


@then("no file called {name} was written anywhere")
def _(context, name):
    found = [p for p in context.world.root.rglob("*") if p.name == name]
    assert not found, found


@given("everybody may write to Backtrail's home")
def _(context):
    os.chmod(context.world.backtrail_home, 0o777)
