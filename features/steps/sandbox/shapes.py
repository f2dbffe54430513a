"""Steps about repositories, settings and disks that are not as they usually are."""

import os
import shutil
import tempfile
from pathlib import Path

from behave import given, then, when

from support.program.forked import run_forked
from support.world import drive
from support.world.users import ignore_in_the_sandbox
from support.world.world import write_files


@given("the user's objects are {stored}")
def _(context, stored):
    world = context.world
    if stored == "packed":
        world.git("gc", "--quiet")
        return
    assert stored == "borrowed from another one", stored
    lender = world.root / "lender"
    world.repo.rename(lender)
    world.git("clone", "--quiet", "--shared", str(lender), str(world.repo), cwd=world.root)


@when("the user's repository loses all its objects")
def _(context):
    for objects in context.world.root.glob("*/.git/objects"):
        shutil.rmtree(objects)
        objects.mkdir()


@given("Backtrail's home is on another disk, if there is one")
def _(context):
    ours = context.world.root.stat().st_dev
    places = ("/dev/shm", "/var/tmp", "/tmp", ".")
    others = [p for p in places if Path(p).is_dir() and Path(p).stat().st_dev != ours]
    if not others:
        context.scenario.skip("this machine has one disk only")
        return
    home = tempfile.mkdtemp(prefix="bt home ", dir=others[0])
    context.add_cleanup(shutil.rmtree, home)
    context.world.extra_env["PLAN_HOME"] = home


@given("a repository with SHA-256")
def _(context):
    shutil.rmtree(context.world.repo)
    context.world.extra_env["GIT_DEFAULT_HASH"] = "sha256"
    context.world.make_repository()


@given('a file that needs a filter "{name:Text}" which is not installed')
def _(context, name):
    write_files(context.world.repo, {"large.bin": "small\n"})
    context.world.git("add", ".")
    write_files(context.world.repo, {".gitattributes": f"*.bin filter={name}\n"})
    context.world.git("add", ".gitattributes")
    context.world.git("commit", "--quiet", "-m", "large")
    for key in ("clean", "smudge"):
        context.world.git("config", f"filter.{name}.{key}", "/nonexistent")
    context.world.git("config", f"filter.{name}.required", "true")


@then('there is a folder "{place:Text}"')
def _(context, place):
    assert (context.world.root / place).is_dir(), place


@then('there is no folder "{place:Text}"')
def _(context, place):
    assert not os.path.lexists(context.world.root / place)


@given('a submodule "{path:Text}"')
def _(context, path):
    world = context.world
    origin = world.root / "origin"
    world.git("clone", "--quiet", str(world.repo), str(origin), cwd=world.root)
    allow = ("-c", "protocol.file.allow=always")
    world.git(*allow, "submodule", "--quiet", "add", str(origin), path)
    world.git("commit", "--quiet", "-m", "with a submodule")


@given('the user\'s own attributes, in {place}, say "{rule:Text}"')
def _(context, place, rule):
    world = context.world
    if place == "another place":
        write_files(world.home, {"my attributes": f"{rule}\n"})
        world.git("config", "core.attributesFile", "~/my attributes")
    else:
        write_files(world.home, {".config/git/attributes": f"{rule}\n"})


@then('the first checkpoint of "{name:Text}" holds what is on disk')
def _(context, name):
    with context.world.services() as services:
        plan = services.plans.resolve(name)
        first = services.checkpoints.get_checkpoint(plan.plan_id, "first")
    on_disk = (context.world.sandbox(name) / "README.md").read_bytes()
    assert on_disk == b"hello\r\n", on_disk
    spec = f"{first.sandbox_ref}:README.md"
    size = context.world.git(f"--git-dir={context.world.store}", "cat-file", "-s", spec)
    assert int(size) == len(on_disk), size


@given('the user\'s own settings ignore "{pattern:Text}", {where}')
def _(context, pattern, where):
    world = context.world
    context.settings = {}
    if where == "in a file that they name":
        write_files(world.home, {"my rules": f"{pattern}\n"})
        world.git("config", "--global", "core.excludesFile", "~/my rules")
    elif where == "in a configuration folder they named":
        write_files(world.home, {"my settings/git/ignore": f"{pattern}\n"})
        context.settings = {"XDG_CONFIG_HOME": str(world.home / "my settings")}
    else:
        ignore_in_the_sandbox(world, drive.sandbox(context), pattern, where)


@when('I run "{command:Text}" under these settings')
def _(context, command):
    context.ran = run_forked(context.world, *command.split()[1:], env=context.settings)


@when('I run "{command:Text}" without HOME')
def _(context, command):
    program = ("env", "-u", "HOME", *context.world.program(), *command.split()[1:])
    context.ran = context.world.run(*program)
