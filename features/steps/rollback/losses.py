"""Steps about ways to lose work that were found and closed."""

import os
import time

from behave import then, when

from backtrail.domain.errors import BacktrailError
from backtrail.domain.rollback import RollbackRequest
from support.program.forked import DoHere, run_forked
from support.world.disk import walk
from support.world.world import write_files

LONG_AGO = (10**9, 10**9)


def plan_of(services, name="auth"):
    return services.plans.resolve(name).plan_id


def stored(world, commit, path):
    return world.run("git", "--git-dir", str(world.store), "show", f"{commit}:{path}").ok().out


@when("the main checkout is {how} while Backtrail's {own} lies inside it")
def attach_around_own_files(context, how, own):
    place = context.world.repo / "own"
    variables = {
        "home": {"PLAN_HOME": str(place)},
        "database": {"PLAN_DATABASE_URL": f"sqlite:///{place}"},
    }
    options = {"attached": ("--sandbox", "."), "taken along": ("--from-dirty",)}
    command = ("create", "inside", *options[how])
    context.ran = run_forked(context.world, *command, env=variables[own])


@then("it is refused with 5, there is no such plan, and nothing was made")
def refused_without_plan(context):
    assert context.ran.code == 5, context.ran
    assert not (context.world.repo / "own").exists()
    assert "inside" not in run_forked(context.world, "list").ok().out.split()


@when('somebody edits "README.md" just before a rollback to "first" restores files')
def edit_before_restore(context):
    sandbox = context.world.sandbox("auth")
    write_files(sandbox, {"README.md": "second\n"})
    edit = DoHere("rollback.restoring", lambda: write_files(sandbox, {"README.md": "typed\n"}))
    context.error = None
    with context.world.services(edit) as services:
        try:
            services.checkpoints.rollback_to_checkpoint(plan_of(services), "first")
        except BacktrailError as error:
            context.error = error


@when('somebody does "{deed:Text}" just before "{command:Text}" restores files')
def do_before_restore(context, deed, command):
    sandbox = context.world.sandbox("auth")
    meddler = DoHere("rollback.restoring", lambda: context.world.run("sh", "-c", deed, cwd=sandbox))
    context.ran = run_forked(context.world, *command.split()[1:], failpoints=meddler)


@then('the rollback fails and "README.md" holds what was typed')
def typed_is_there(context):
    assert context.error is not None
    assert (context.world.sandbox("auth") / "README.md").read_text() == "typed\n"


@then("undo brings back what was there before the rollback")
def undo_brings_back(context):
    with context.world.services() as services:
        services.checkpoints.undo(plan_of(services))
    assert (context.world.sandbox("auth") / "README.md").read_text() == "second\n"


@when('"{path:Text}" is rewritten at the same size under an old date, around a checkpoint')
def rewrite_backdated(context, path):
    file = context.world.sandbox("auth") / path
    with context.world.services() as services:
        plan = plan_of(services)
        time.sleep(1 - time.time() % 1)
        file.write_text("A" * 8)
        os.utime(file, LONG_AGO)
        services.checkpoints.create_checkpoint(plan)
        file.write_text("B" * 8)
        os.utime(file, LONG_AGO)
        time.sleep(2.2)
        context.checkpoint = services.checkpoints.create_checkpoint(plan)


@then("the next checkpoint holds what is on disk")
def checkpoint_holds_disk(context):
    assert stored(context.world, context.checkpoint.sandbox_ref, "README.md") == "B" * 8


@when("the user's repository holds an empty file in the place of an object")
def empty_object(context):
    world = context.world
    blob = world.run("git", "hash-object", "-w", "--stdin", stdin="PRECIOUS\n").ok().out.strip()
    path = world.repo / ".git" / "objects" / blob[:2] / blob[2:]
    path.chmod(0o644)
    path.write_bytes(b"")
    world.create_plan("later")


@when("the user's repository holds garbage in the place of an object")
def garbage_object(context):
    world = context.world
    blob = world.run("git", "hash-object", "-w", "--stdin", stdin="PRECIOUS\n").ok().out.strip()
    damage(world.repo / ".git" / "objects" / blob[:2] / blob[2:])
    world.create_plan("later")


def damage(path):
    """Flip bits in the middle: the beginning still looks like an object."""
    content = bytearray(path.read_bytes())
    for at in range(len(content) // 2, len(content)):
        content[at] ^= 0xFF
    path.chmod(0o644)
    path.write_bytes(content)


@then("a file with that object's content is not called saved until it is")
def not_called_saved(context):
    (context.world.sandbox("later") / "precious.txt").write_text("PRECIOUS\n")
    first = context.world.plan("save", "later", "--format", "json")
    assert first.code == 9, first
    second = context.world.plan("save", "later", "--format", "json").ok()
    commit = second.json()["data"]["checkpoint"]["sandbox_ref"]
    assert stored(context.world, commit, "precious.txt") == "PRECIOUS\n"


@when("an object of the user's commit is damaged while its file is not")
def damaged_commit(context):
    world = context.world
    blob = world.git("rev-parse", "HEAD:README.md").strip()
    damage(world.repo / ".git" / "objects" / blob[:2] / blob[2:])


@then("an attached sandbox is saved exactly all the same")
def attached_is_exact(context):
    world = context.world
    world.plan("create", "here", "--sandbox", str(world.repo), cwd=world.repo).ok()
    (world.repo / "README.md").write_text("wrecked\n")
    world.plan("rollback", "here", "first", "--yes").ok()
    assert (world.repo / "README.md").read_text() == "hello\n"


@then("a file with that object's content survives rollback and undo in a new plan")
def content_survives(context):
    file = context.world.sandbox("later") / "precious.txt"
    file.write_text("PRECIOUS\n")
    with context.world.services() as services:
        plan = plan_of(services, "later")
        services.checkpoints.rollback_to_checkpoint(plan, "first")
        assert not file.exists()
        services.checkpoints.undo(plan)
    assert file.read_text() == "PRECIOUS\n"


@when('the plan\'s branch is made a symbolic ref to "main" and "main" moves on')
def symbolic_branch(context):
    context.world.git("symbolic-ref", "refs/heads/plan/auth", "refs/heads/main")
    context.world.git("commit", "--quiet", "--allow-empty", "-m", "more")
    context.main = context.world.git("rev-parse", "main")


@then('a rollback is refused with 5 and "main" stays where it is')
def main_stays(context):
    assert run_forked(context.world, "rollback", "auth", "first", "--yes").code == 5
    assert context.world.git("rev-parse", "main") == context.main


@when('"d/a" comes back by a rollback of that path alone, in the place of a file "d"')
def path_in_place_of_file(context):
    sandbox = context.world.sandbox("auth")
    write_files(sandbox, {"d/a": "A\n"})
    with context.world.services() as services:
        plan = plan_of(services)
        target = services.checkpoints.create_checkpoint(plan)
        (sandbox / "d" / "a").unlink()
        (sandbox / "d").rmdir()
        write_files(sandbox, {"d": "PRECIOUS\n"})
        services.checkpoints.rollback_to_checkpoint(
            plan, target.checkpoint_id, RollbackRequest(("d/a",))
        )
    assert (sandbox / "d" / "a").read_text() == "A\n"


@then('undo brings the file "d" back')
def file_is_back(context):
    with context.world.services() as services:
        services.checkpoints.undo(plan_of(services))
    assert (context.world.sandbox("auth") / "d").read_text() == "PRECIOUS\n"


@when("a rollback is killed before it restored anything")
def killed_before_restoring(context):
    sandbox = context.world.sandbox("auth")
    write_files(sandbox, {"README.md": "second\n", "new.txt": "new\n"})
    killed = context.world.plan_killed_at("rollback.restoring", "rollback", "auth", "1", "--yes")
    assert killed.code == -9, killed
    context.before = walk(sandbox)


@then("a dry run leaves every file as it is and says what awaits repair")
def dry_run_repairs_nothing(context):
    ran = run_forked(context.world, "rollback", "auth", "1", "--dry-run").ok()
    assert "interrupted rollback" in ran.err, ran
    assert walk(context.world.sandbox("auth")) == context.before


@when('a plan is made under "core.autocrlf=yes", slowly')
def plan_under_autocrlf(context):
    context.world.git("config", "core.autocrlf", "yes")
    with context.world.services(DoHere("plan.checked_out", lambda: time.sleep(2.1))) as services:
        context.checkpoint = services.plans.create("crlf").checkpoint


@then("its first checkpoint holds what is on disk")
def first_holds_disk(context):
    disk = (context.world.sandbox("crlf") / "README.md").read_bytes()
    assert disk == b"hello\r\n", disk
    show = ["git", "--git-dir", str(context.world.store), "cat-file", "-s"]
    size = context.world.run(*show, f"{context.checkpoint.sandbox_ref}:README.md").ok().out
    assert int(size) == len(disk)
