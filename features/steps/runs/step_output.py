"""Steps about the recorded output of durable steps."""

import os
import resource
import signal
import subprocess

from behave import step, then, when

from support.crashes import faults
from support.program.forked import run_forked
from support.runs.scripts import RANDOM, script_of
from support.world import audit, drive, phrases
from support.world.world import write_files

MIB = 1024**2
MANY_BYTES, LITTLE_MEMORY = 128 * MIB, 48 * MIB
NAMED = (
    "SELECT DISTINCT key FROM steps JOIN step_marks USING (step_id) WHERE output = 'kept'"
    " ORDER BY key"
)


def _files(context):
    return sorted((context.world.backtrail_home / "output").rglob("*.gz"))


@step('"plan.toml" lets steps keep {count:d} bytes of output')
def _(context, count):
    write_files(context.world.repo, {"plan.toml": f"[steps]\nmax_output_bytes = {count}\n"})


@when("steps that print 1000 random bytes each run: {keys}")
def _(context, keys):
    for key in phrases.names(keys):
        context.ran = script_of(context).run(key, RANDOM).ok()


@then("output is kept of: {keys}")
def _(context, keys):
    found = [row["key"] for row in audit.query(context.world, NAMED)]
    assert found == sorted(phrases.names(keys)), found


@then('plan steps says "output pruned" of: {keys}')
def _(context, keys):
    lines = run_forked(context.world, "steps", "auth").ok().out.splitlines()
    found = [line.split("\t")[0] for line in lines if "\toutput pruned\t" in line]
    assert found == phrases.names(keys), lines


@when("a checkpoint fails because git fails")
def _(context):
    env = faults.faulty_git(context.world, "write-tree", "fails")
    assert run_forked(context.world, "save", "auth", env=env).code == 9


@when('step "{key:Text}" prints 1000 random bytes and fails, and is killed when it runs again')
def _(context, key):
    body = f"{RANDOM}; exit 1"
    assert script_of(context).run(key, body).code == 1
    assert script_of(context).run(key, body, env={"DEADLY": "1"}).code == -signal.SIGKILL


@when("I roll back to the oldest checkpoint after the first one")
def _(context):
    oldest = [c for c in drive.listed(context) if c.restorable and c.live][1]
    context.valid = oldest.last_completed_step
    with drive.checkpoints(context) as service:
        service.rollback_to_checkpoint(context.plan.plan_id, oldest.checkpoint_id)


@then("what was valid after the rollback was reused, and the rest ran twice")
def _(context):
    keys = list(script_of(context).bodies)
    valid = keys.index(context.valid) + 1
    assert 0 < valid < len(keys), context.valid
    found = [script_of(context).times(key) for key in keys]
    assert found == [1] * valid + [2] * (len(keys) - valid), (context.valid, found)


@then("no file of output is left")
def _(context):
    assert not _files(context), _files(context)


@when('step "{key:Text}" prints 1000 random bytes while the disk takes no more of its output')
def _(context, key):
    place = context.world.backtrail_home / "output"
    write_files(place.parent, {"output": "in the way\n"})
    context.ran = script_of(context).run(key, RANDOM)
    assert len(context.ran.out.encode("utf-8", "surrogateescape")) == 1000


@when("somebody {what} the recorded output")
def _(context, what):
    (path,) = _files(context)
    content = path.read_bytes()
    if what == "deleted":
        path.unlink()
    else:
        path.write_bytes(content[:500] if what == "shortened" else b"\0" * len(content))


@then(
    'standard output was "{out}" both times, and standard error began with "{err}"',
)
def _(context, out, err):
    for ran in script_of(context).said["one"]:
        assert ran.out == _bytes(out), ran
        assert ran.err.startswith(_bytes(err)), ran


def _bytes(written):
    raw = written.encode().decode("unicode_escape").encode("latin-1")
    return raw.decode("utf-8", "surrogateescape")


@then('"yes | head" through a step ends at once, and so does its replay')
def _(context):
    world, program = context.world, context.world.program()
    for number, command in enumerate(("yes", "yes | head -c 300000; true")):
        for _time in range(2):
            plan = subprocess.Popen(
                [*program, "run", "auth", "--step", str(number), "--", "sh", "-c", command],
                cwd=world.repo,
                env=world.environment(),
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
            assert plan.stdout is not None
            assert plan.stdout.readline() == b"y\n"
            plan.stdout.close()
            assert plan.wait(60) in (128 + signal.SIGPIPE, 0)


@then(
    "a step that prints 128 MiB passes it on whole with 48 MiB of memory more than at rest, "
    "and so does its replay"
)
def _(context):
    at_rest = _data_bytes()

    def with_little_memory():
        limit = at_rest + LITTLE_MEMORY
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))

    body = f"head -c {MANY_BYTES} /dev/zero"
    for _time in range(2):
        ran = script_of(context).run("big", body, before=with_little_memory).ok()
        assert len(ran.out) == MANY_BYTES, ran.err
    assert script_of(context).times("big") == 1


def _data_bytes():
    with open(f"/proc/{os.getpid()}/status") as status:
        line = next(line for line in status if line.startswith("VmData:"))
    return int(line.split()[1]) * 1024
