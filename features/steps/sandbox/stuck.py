"""Steps about merges, rebases and the like that have stopped half-way."""

import os
from pathlib import Path

from behave import given, step, then, when

from support.checkpoints import older
from support.program.forked import DoHere
from support.sandbox import stuck
from support.world import drive, phrases


def _twin(context):
    return context.world.root / f"{context.world.repo_name}.plans" / "twin"


@given("branches that do not go together")
def _(context):
    world, sandbox = context.world, drive.sandbox(context)
    stuck.make_history(world, sandbox)
    branch = context.plan.sandbox.branch or "feature"
    stuck.take_up(world, sandbox, branch)


@given("a twin of the sandbox that is left alone")
def _(context):
    world = context.world
    world.git("worktree", "add", "--quiet", "-b", "plan/twin", str(_twin(context)), "mine")


@step("the agent is stuck in {what}")
def _(context, what):
    context.stuck_in = what
    stuck.begin(context.world, drive.sandbox(context), what)


@step("the agent gives it up")
def _(context):
    stuck.give_up(context.world, drive.sandbox(context), context.stuck_in)


@step("the agent goes on with it to its end")
def _(context):
    stuck.go_on(context.world, drive.sandbox(context), context.stuck_in)


@when("the agent destroys all that git knows of it")
def _(context):
    stuck.destroy(context.world, drive.sandbox(context))


@then("all is as in the twin, where it was begun and ended without any of this")
def _(context):
    world, sandbox, twin = context.world, drive.sandbox(context), _twin(context)
    stuck.begin(world, twin, context.stuck_in)
    stuck.go_on(world, twin, context.stuck_in)
    expected, found = (
        stuck.story(world, twin, "plan/twin"),
        stuck.story(world, sandbox, "plan/auth"),
    )
    assert found == expected, f"{found}\n=== but in the twin:\n{expected}"


@then("nothing is under way in the sandbox")
def _(context):
    status = context.world.git("status", cwd=drive.sandbox(context))
    for words in ("in progress", "You have unmerged", "All conflicts fixed", "bisecting"):
        assert words not in status, status
    assert not drive.look(context).under_way


def _git_dir(context):
    found = context.world.git("rev-parse", "--absolute-git-dir", cwd=drive.sandbox(context))
    return Path(found.strip())


def _outside(context):
    return context.world.root / "outside"


def _link(place, outside):
    if place.is_dir():
        place.rename(outside)
    else:
        outside.write_bytes(place.read_bytes())
        place.unlink()
    place.symlink_to(outside)


def _pipe(place, _outside):
    place.unlink()
    os.mkfifo(place)


def _huge(place, _outside):
    with place.open("wb") as file:
        file.truncate(65 * 1024**2)


def _many(place, _outside):
    place.write_text("".join(f"{number:040x}\n" for number in range(20_001)))


def _deep(place, _outside):
    place.joinpath(*["d"] * 20).mkdir(parents=True)


def _folder(place, _outside):
    place.unlink(missing_ok=True)
    place.mkdir()


def _link_anew(place, outside):
    outside.mkdir(exist_ok=True)
    if place.is_dir():
        place.rename(outside / "was here")
    place.unlink(missing_ok=True)
    place.symlink_to(outside)


MEDDLING = {
    "a folder": _folder,
    "a link to outside": _link_anew,
    "a file": lambda place, _outside: place.write_text("mine\n"),
}
ODD = {
    "deeper than git makes it": _deep,
    "a link to outside": _link,
    "a pipe": _pipe,
    "larger than all may be": _huge,
    "naming too many commits": _many,
}


@given('git\'s note "{path:Text}" is {what}')
def _(context, path, what):
    outside = _outside(context)
    ODD[what](_git_dir(context) / path, outside)
    context.outside = _content(outside)


def _content(outside):
    if outside.is_dir():
        return {p.name: p.read_bytes() for p in outside.iterdir()}
    return outside.read_bytes() if outside.exists() else None


@when(
    'git\'s note "{path:Text}" becomes {what} at "{place:Text}" of a rollback to "{reference:Text}"'
)
def _(context, path, what, place, reference):
    note, outside = _git_dir(context) / path, _outside(context)

    def meddle():
        MEDDLING[what](note, outside)
        context.outside = _content(outside)

    with context.world.services(DoHere(place, meddle)) as services:
        act = services.checkpoints.rollback_to_checkpoint
        context.error = drive.refusal(act, context.plan.plan_id, reference)


@given("the repository has lost what the merged branch comes from")
def _(context):
    lost = context.world.git("rev-parse", "theirs~1").strip()
    (context.world.repo / ".git" / "objects" / lost[:2] / lost[2:]).unlink()


def _object(context, object_id):
    return context.world.repo / ".git" / "objects" / object_id[:2] / object_id[2:]


def _without_parent(context):
    world, sandbox = context.world, drive.sandbox(context)
    tree = world.git("rev-parse", "HEAD^{tree}", cwd=sandbox).strip()
    who = "a <a@b> 1 +0000"
    text = f"tree {tree}\nparent {1:040}\nauthor {who}\ncommitter {who}\n\nx\n"
    (sandbox.parent / "commit").write_text(text)
    words = ("-w", "-t", "commit", str(sandbox.parent / "commit"))
    return world.git("hash-object", *words, cwd=sandbox).strip()


def _damaged_tag(context):
    found = context.world.git("rev-parse", "v1").strip()
    place = _object(context, found)
    content = place.read_bytes()
    place.unlink()
    place.write_bytes(content[:-20])
    context.world.git("update-ref", "-d", "refs/tags/v1")
    return found


def _directory(context):
    _object(context, "ab" * 20).mkdir(parents=True)
    return "ab" * 20


NAMED = {
    "a commit without its parent": _without_parent,
    "a tag that is damaged": _damaged_tag,
    "a directory in place of an object": _directory,
}


@given('git\'s note "{path:Text}" names {what}')
def _(context, path, what):
    (_git_dir(context) / path).write_text(f"{NAMED[what](context)}\n")


@then('the checkpoint {lists} what "{path:Text}" names as not captured')
def _(context, lists, path):
    told = f"not captured: .git/{path} (names objects" in context.ran.err
    assert told == (lists == "lists"), context.ran


@when("the repository has lost the merged branch as well")
def _(context):
    lost = context.world.git("rev-parse", "theirs").strip()
    _object(context, lost).unlink()


@then("something outside of the sandbox is as it was")
def _(context):
    assert _content(_outside(context)) == context.outside


@given('the agent adds "{line:Text}" to what the rebase has still to do')
def _(context, line):
    with (_git_dir(context) / "rebase-merge" / "git-rebase-todo").open("a") as file:
        file.write(f"{line}\n")


@step('I save checkpoint "{label:Text}" as an older version did')
def _(context, label):
    older.take_out(context.world, drive.save(context, label), ("merge",))


@when("the user deletes every other branch and tag and collects all garbage")
def _(context):
    world = context.world
    for branch in ("theirs", "mine", "fourth", "fifth"):
        world.git("branch", "--quiet", "-D", branch)
    world.run("git", "tag", "--delete", "v1")
    world.git("reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all")
    world.git("update-ref", "-d", "ORIG_HEAD", cwd=drive.sandbox(context))
    world.git("gc", "--quiet", "--prune=now")


@then("the agent's commits are: {names}, on top of {others}")
def _(context, names, others):
    wanted = [*phrases.names(names)[::-1], *phrases.names(others)[::-1], "first"]
    found = context.world.git("log", "--format=%s", cwd=drive.sandbox(context)).splitlines()
    assert found == wanted, found
