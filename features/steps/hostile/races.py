"""Steps about directories that are exchanged for links while they are worked on."""

import os
import re
import shlex
import signal
from pathlib import Path

from behave import given, then, when

from support.crashes import kernels
from support.hostile import races
from support.program.forked import DoHere, run_forked
from support.world import drive
from support.world.examples import rounds


@given("two checkpoints that differ below a directory, and a directory outside with the same names")
def _(context):
    context.races = races.Races(context.world, context.world.root / "outside")
    races.prepare(context.world, context.races.outside)


@when("rollbacks race with a process that exchanges it for a link to there: {where}")
def _(context, where):
    context.races.run(rounds(10) // 2, link_in_sandbox=where == "the link is in the sandbox")


@then("every rollback succeeds, or fails with 9 or 11, and nothing outside was touched")
def _(context):
    outcomes = context.races.outcomes
    touched = [outcome for outcome in outcomes if outcome.touched]
    odd = [outcome for outcome in outcomes if outcome.code not in races.ALLOWED]
    told = (
        f"{dict(context.races.codes)}, {len(touched)} of {len(outcomes)} touched something outside"
    )
    print(told)  # noqa: T201 - behave shows it if the step fails, or if asked to
    assert not touched and not odd, f"{told}: {touched[:3]} {odd[:3]}"


@when('"{command:Text}" is run by a kernel that {lacks}')
def _(context, command, lacks):
    context.ran = run_forked(
        context.world, *command.split()[1:], before=lambda: kernels.lacking(lacks)
    )


@when('somebody types into "{path:Text}", open already, when "{command:Text}" has moved it aside')
def _(context, path, command):
    _type_into(context, path, command, lambda: None)


@when(
    'somebody types into "{path:Text}", open already, when "{command:Text}" has moved it aside '
    "and is killed"
)
def _(context, path, command):
    _type_into(context, path, command, lambda: os.kill(os.getpid(), signal.SIGKILL))


def _type_into(context, path, command, then):
    with (drive.sandbox(context) / path).open("r+") as file:

        def type_into() -> None:
            file.write("typed")
            file.flush()
            then()

        moment = DoHere("rollback.moved_aside", type_into)
        context.ran = run_forked(context.world, *command.split()[1:], failpoints=moment)


@then('the notice names a place that keeps "{content:Text}"')
def _(context, content):
    place = re.search(r"kept in '([^']+)'", context.ran.err)
    assert place, context.ran.err
    kept = [path.read_text() for path in Path(place[1]).rglob("old/*")]
    assert kept == [content], kept


@when("files come and go in another file system that is mounted in the sandbox: {how}")
def _(context, how):
    world, sandbox = context.world, drive.sandbox(context)
    staging = world.backtrail_home / "staging"
    for place in (sandbox / "mounted", staging):
        place.mkdir(exist_ok=True)
    program = shlex.join(world.program())
    script = _MOUNTS[how].format(
        plan=program, sandbox=shlex.quote(str(sandbox)), staging=shlex.quote(str(staging))
    )
    words = ("unshare", "--map-root-user", "--mount", "sh", "-ec", script)
    context.ran = world.run(*words, cwd=sandbox)


_STORY = """
cd {sandbox}
echo 1 > mounted/edited; echo 1 > mounted/deleted; ln -s edited mounted/link; chmod 600 mounted/*d
{plan} save auth --label mounted
echo 2 > mounted/edited; rm mounted/deleted mounted/link; echo 2 > mounted/new
{plan} rollback auth mounted --yes
cat mounted/edited mounted/deleted mounted/link; ls -A mounted; stat -c %a mounted/deleted
ls -A {staging} ..
"""
_MOUNTS = {
    "a file system of its own": "mount -t tmpfs none {sandbox}/mounted" + _STORY,
    "the same file system once more": (
        "mkdir {staging}.bound; mount --bind {staging}.bound {sandbox}/mounted" + _STORY
    ),
    "Backtrail's own is elsewhere": "mount -t tmpfs none {staging}" + _STORY,
}


@then("they are as they were, and nothing is left of what was got ready")
def _(context):
    told = context.ran.ok().out.split("\n1\n1\n1\n")[1].split()
    names = {*told}
    assert names == {"deleted", "edited", "link", "600", "auth", "..:", *_headline(context)}, told


def _headline(context) -> set[str]:
    return set(f"{context.world.backtrail_home / 'staging'}:".split())


@when(
    'somebody makes "{path:Text}" anew when "{command:Text}" has taken away what goes, '
    "by a kernel that {lacks}"
)
def _(context, path, command, lacks):
    place = drive.sandbox(context) / path
    context.ran = run_forked(
        context.world,
        *command.split()[1:],
        failpoints=DoHere("rollback.taken_away", lambda: place.write_text("made anew\n")),
        before=lambda: kernels.lacking(lacks),
    )
