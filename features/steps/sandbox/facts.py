"""Steps about what git does, and what Backtrail therefore does otherwise."""

import os
import shutil
import time

from behave import given, step, then, when

from support.program.forked import run_forked
from support.world import audit, drive
from support.world.world import write_files

ODD = {
    "newline": b"new\nline",
    "quotes": b"quo\"te'd",
    "dash": b"-rf",
    "option": b"--output=x",
    "star": b"*",
    "magic": b":(top)x",
    "latin-1": b"caf\xe9",
    "tilde": b"git~1",
    "backslash": b"back\\slash",
    "tab": b"ta\tb",
    "bare blank": b" ",
    "longest": b"n" * 255,
    "leading blank": b"  x",
    "trailing blank": b"x  ",
    "bare dots": b"...",
}


def _tree(context, reference):
    with drive.checkpoints(context) as service:
        return drive.stored_tree(
            context, service.get_checkpoint(context.plan.plan_id, reference).sandbox_ref
        )


def _cold_tree(context):
    """The tree that a new index gives, made by plain git with nothing but the ignore rules."""
    world = context.world
    index = world.root / "cold index"
    index.unlink(missing_ok=True)
    objects = world.root / "cold objects"
    objects.mkdir(exist_ok=True)
    env = {
        "GIT_INDEX_FILE": str(index),
        "GIT_OBJECT_DIRECTORY": str(objects),
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": f'"{world.repo}/.git/objects"',
    }
    sandbox = drive.sandbox(context)
    world.run("git", "-c", "core.autocrlf=false", "add", "--all", cwd=sandbox, env=env).ok()
    return world.run("git", "write-tree", cwd=sandbox, env=env).ok().out.strip()


@then("the latest checkpoint is what a cold index gives")
def _(context):
    assert _tree(context, "latest") == _cold_tree(context)


def _stored(context):
    with drive.checkpoints(context) as service:
        latest = service.get_checkpoint(context.plan.plan_id, "latest")
    return audit.stored_files(context.world, str(latest.sandbox_ref))


@then('"{path:Text}" is "{content:Text}" in the latest checkpoint')
def _(context, path, content):
    stored = _stored(context)
    assert stored[path.encode()][2] == content.encode(), stored[path.encode()]


@then('"{path:Text}" is not in the latest checkpoint')
def _(context, path):
    assert path.encode() not in _stored(context)


class EditWhileSaving:
    """Somebody who writes just before the file is hashed and again just after it.

    It begins with a second, so that both are in the same one unless the machine stalls.
    """

    def __init__(self, path, old, new):
        self._path = path
        self._contents = {"create.announced": old, "create.objects_written": new}
        self.dates = []

    def reach(self, name):
        if name in self._contents:
            if not self.dates:
                time.sleep(1.0 - time.time() % 1.0)
            self._path.write_text(self._contents[name])
            self.dates.append(int(self._path.stat().st_mtime))


@when('"{path:Text}" gets "{old:Text}", is saved, and in the same second gets "{new:Text}"')
def _(context, path, old, new):
    assert len(old) == len(new), "git sees another size at once"
    place = drive.sandbox(context) / path
    for _attempt in range(50):
        editor = EditWhileSaving(place, old, new)
        with context.world.services(editor) as services:
            services.checkpoints.create_checkpoint(context.plan.plan_id)
        if len(set(editor.dates)) == 1:
            return
    raise AssertionError("this machine is too slow to do it within one second")


@step('"{path:Text}" gets "{content:Text}" without any change of size or date')
def _(context, path, content):
    place = drive.sandbox(context) / path
    before = place.stat()
    assert before.st_size == len(content)
    place.write_text(content)
    os.utime(place, ns=(before.st_atime_ns, before.st_mtime_ns))


@given("the private index is dated in the future")
def _(context):
    index = audit.private_index(context.world)
    future = time.time() + 10_000
    os.utime(index, (future, future))


@given("a byte of the private index flips")
def _(context):
    index = audit.private_index(context.world)
    content = bytearray(index.read_bytes())
    at = content.index(b"README.md")
    content[at] ^= 0x20
    index.write_bytes(content)


@step("the private index is {state}")
def _(context, state):
    index = audit.private_index(context.world)
    if state == "lost":
        index.unlink()
    elif state == "cut off":
        index.write_bytes(index.read_bytes()[:40])
    else:
        assert state == "empty"
        index.write_bytes(b"")


@given("files with odd names: {names}")
def _(context, names):
    for name in names.split(", "):
        path = os.path.join(os.fsencode(drive.sandbox(context)), ODD[name])
        with open(path, "wb") as file:
            file.write(name.encode())


@when("the agent deletes everything")
def _(context):
    for entry in drive.sandbox(context).iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        elif entry.name != ".git":
            entry.unlink()


@step('a nested repository "{path:Text}" {how} commits')
def _(context, path, how):
    nested = drive.sandbox(context) / path
    nested.mkdir(parents=True)
    context.world.git("init", "--quiet", cwd=nested)
    write_files(nested, {"inside.txt": "inside\n"})
    if how == "with":
        context.world.git("add", ".", cwd=nested)
        context.world.git("commit", "--quiet", "-m", "nested", cwd=nested)


@step('a FIFO in the place of "{path:Text}"')
def _(context, path):
    place = drive.sandbox(context) / path
    place.unlink(missing_ok=True)
    os.mkfifo(place)


@then('"{path:Text}" is still a FIFO')
def _(context, path):
    assert (drive.sandbox(context) / path).is_fifo(), path


@then("the latest checkpoint tells that it does not hold: {listed}")
def _(context, listed):
    with drive.checkpoints(context) as service:
        latest = service.get_checkpoint(context.plan.plan_id, "latest")
    told = {entry["path"] for entry in latest.metadata["not_captured"]}
    assert told == set(listed.split(", ")), told


@given("attributes and settings that change bytes")
def _(context):
    sandbox = drive.sandbox(context)
    rules = [
        "*.txt text eol=crlf",
        "*.id ident",
        "*.enc working-tree-encoding=UTF-16",
        "*.f filter=f",
    ]
    write_files(
        sandbox,
        {
            ".gitattributes": "\n".join(
                [*rules, "*.auto text=auto", "*.f filter=f", "*.r filter=gone"]
            )
            + "\n",
            "mixed.txt": b"one\r\ntwo\nthree\r\n",
            "dollar.id": "$Id$\n$Id: old $\n",
            "text.enc": "plain\n".encode("utf-16"),
            "filtered.f": "lower\n",
            "some.auto": b"a\r\nb\n",
            "required.r": "needs a filter\n",
        },
    )
    for key, value in {
        "core.autocrlf": "true",
        "filter.f.clean": "tr a-z A-Z",
        "filter.f.smudge": "tr A-Z a-z",
        "filter.gone.clean": "/nonexistent",
        "filter.gone.smudge": "/nonexistent",
        "filter.gone.required": "true",
    }.items():
        context.world.git("config", key, value)


@when("the user collects garbage without mercy")
def _(context):
    world = context.world
    world.git("reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all")
    world.git("gc", "--quiet", "--prune=now", "--aggressive")
    world.git("worktree", "prune")


@then("the user's repository has no ref of ours but the plan's branch")
def _(context):
    found = context.world.git("for-each-ref", "--format=%(refname)").split()
    assert found == ["refs/heads/main", f"refs/heads/plan/{context.plan.name}"], found


@then("the store has one ref for each checkpoint, all of the same depth")
def _(context):
    listed = audit.store_git(context.world, "for-each-ref", "--format=%(refname)").stdout
    names = listed.decode().split()
    rows = audit.query(context.world, "SELECT checkpoint_id FROM checkpoint_metadata")
    assert sorted(n.split("/")[-1] for n in names) == sorted(r["checkpoint_id"] for r in rows)
    assert {n.count("/") for n in names} == {3}, names


@then('"{command:Text}" leaves everything as it is and exits with {code:d}')
def _(context, command, code):
    before = drive.look(context)
    ran = run_forked(context.world, *command.split()[1:])
    assert ran.code == code, ran
    differences = before.differences(drive.look(context))
    assert not differences, differences
