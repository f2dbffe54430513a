"""Steps about what comes back exactly, and what is said of the rest."""

import os
import signal
import stat

from behave import given, step, then, when

from support.program import running
from support.program.forked import run_forked
from support.sandbox import sandboxes
from support.world import audit, drive
from support.world.phrases import names
from support.world.picture import file_differences
from support.world.world import write_files

UNSPEAKABLE = "it's two\nlines and \x01"


@step("these modes: {listed}")
def _(context, listed):
    sandboxes.set_modes(drive.sandbox(context), sandboxes.parse_modes(listed))


@then('the mode of "{path:Text}" is {mode}')
def _(context, path, mode):
    found = stat.S_IMODE((drive.sandbox(context) / path).lstat().st_mode)
    assert found == int(mode, 8), oct(found)


@given("everything in the sandbox may be changed by the group")
def _(context):
    for path in drive.sandbox(context).rglob("*"):
        if path.name != ".git" and not path.is_symlink():
            path.chmod(path.stat().st_mode | 0o020)


@step("the agent makes the directories: {listed}")
def _(context, listed):
    for name in names(listed):
        (drive.sandbox(context) / name).mkdir(parents=True)


@step('the agent does this to "{path:Text}": makes {what}')
def _(context, path, what):
    sandboxes.make_thing(drive.sandbox(context) / path, what)


@given('a socket in the place of "{path:Text}"')
def _(context, path):
    sandboxes.make_socket(drive.sandbox(context) / path)


@given("I note the dates and inodes of every file")
def _(context):
    context.dates = sandboxes.dates_and_inodes(drive.sandbox(context))


@then("only these files have another date or inode: {listed}")
def _(context, listed):
    now = sandboxes.dates_and_inodes(drive.sandbox(context))
    changed = {path for path, marks in now.items() if context.dates[path] != marks}
    assert changed == set(names(listed)), changed


@given('a bare repository "{path:Text}"')
def _(context, path):
    place = drive.sandbox(context) / path
    context.world.git("init", "--quiet", "--bare", str(place))


@then('the repository in "{path:Text}" is whole')
def _(context, path):
    context.world.git("fsck", "--strict", cwd=drive.sandbox(context) / path)


@then('"{path:Text}" is there')
def _(context, path):
    assert os.path.lexists(drive.sandbox(context) / path)


@given(
    'the agent adds the submodules "{ready:Text}" and "{bare:Text}", '
    'and only "{initialised:Text}" is initialised'
)
def _(context, ready, bare, initialised):
    assert initialised == ready
    sandboxes.add_submodules(context.world, drive.sandbox(context), ready, bare)


@step("plan.toml says: {line}")
def _(context, line):
    write_files(context.world.repo, {"plan.toml": f"[capture]\n{line}\n"})


@given('plan.toml is "{text:Text}"')
def _(context, text):
    write_files(context.world.repo, {"plan.toml": text})


@given(".gitignore in the sandbox says: {listed}")
def _(context, listed):
    write_files(drive.sandbox(context), {".gitignore": "".join(f"{n}\n" for n in names(listed))})


@step('the agent writes {count:d} bytes to "{path:Text}"')
def _(context, count, path):
    write_files(drive.sandbox(context), {path: b"x" * count})


@then('"{path:Text}" has {count:d} bytes')
def _(context, path, count):
    assert (drive.sandbox(context) / path).stat().st_size == count


@then('it does not print "{words:Text}"')
def _(context, words):
    assert context.ran.code == 0, context.ran
    assert words not in context.ran.out + context.ran.err, context.ran


@then("it notes nothing")
def _(context):
    assert context.ran.code == 0, context.ran
    assert context.ran.err == "", context.ran


@then("its JSON tells of the changed: {listed}")
def _(context, listed):
    found = [change["file"] for change in context.ran.ok().json()["data"]["files"]]
    assert found == names(listed), found


@then('its JSON tells of "{path:Text}" as left alone')
def _(context, path):
    left = [entry["file"] for entry in context.ran.json()["data"]["left_alone"]]
    assert path in left, left


@given('"{path:Text}" is rewritten whenever it has been read')
def _(context, path):
    """A git that, when it has stored a file, finds it changed again."""
    place = drive.sandbox(context) / path
    place.write_text("0\n")
    context.env = sandboxes.restless_git(context.world, place)


@when('I save checkpoint "{label:Text}" meanwhile')
def _(context, label):
    context.world.plan("save", "auth", "--label", label, env=context.env).ok()


@when('somebody without privileges runs "{command:Text}"')
def _(context, command):
    context.ran = run_forked(
        context.world, *command.split()[1:], before=sandboxes.without_privileges
    )


@when('"{command:Text}" gets {name} while git waits')
def _(context, command, name):
    begun = running.start(context.world, *command.split()[1:])
    running.wait_until(lambda: running.waits_in(begun.pid, "ls-files"), "git lists")
    begun.send(signal.Signals[name])
    context.ran = begun.wait()


@given('the user excludes "{pattern:Text}"')
@when('the user excludes "{pattern:Text}"')
def _(context, pattern):
    with (context.world.repo / ".git" / "info" / "exclude").open("a") as rules:
        rules.write(f"{pattern}\n")


@given("a directory with a line end and a control character in its name that cannot be read")
def _(context):
    (drive.sandbox(context) / UNSPEAKABLE).mkdir(mode=0)


@then("the latest checkpoint tells that it does not hold that directory")
def _(context):
    with drive.checkpoints(context) as service:
        latest = service.get_checkpoint(context.plan.plan_id, "latest")
    told = [entry["path"] for entry in latest.metadata["not_captured"]]
    assert told == [UNSPEAKABLE], told


@given("the user's home is itself a repository")
def _(context):
    context.world.git("init", "--quiet", cwd=context.world.home)


@when("I attach the user's home as a sandbox")
def _(context):
    home = context.world.home
    context.ran = run_forked(context.world, "create", "absurd", "--sandbox", str(home), cwd=home)


@given('a plan "{name:Text}" made while the repository is sparse')
def _(context, name):
    context.world.git("sparse-checkout", "set", "--cone", "nothing")
    drive.new_plan(context, name)


@given('a {kind} clone of the repository, with plan "{name:Text}"')
def _(context, kind, name):
    sandboxes.clone(context.world, kind)
    drive.new_plan(context, name)


@given("the agent is left with {what}")
def _(context, what):
    world, place = context.world, drive.sandbox(context)
    if what == "assumed files":
        world.git("update-index", "--assume-unchanged", "README.md", cwd=place)
        write_files(place, {"README.md": "changed\n"})
        return
    write_files(place, {"README.md": "stashed\n"})
    world.git("stash", "--quiet", cwd=place)
    write_files(place, {"README.md": "committed\n"})
    world.git("commit", "--quiet", "-am", "theirs", cwd=place)
    assert world.run("git", "stash", "pop", "--quiet", cwd=place).code != 0


@then('no tree of files in the store holds "{content:Text}"')
def _(context, content):
    commits = audit.refs(context.world).values()
    held = [
        entry for commit in commits for entry in audit.stored_files(context.world, commit).items()
    ]
    assert held, "no checkpoint was found"
    assert not [path for path, entry in held if entry[2] == content.encode()]


@then('what was selected is as it was at "{name:Text}": {path}')
def _(context, name, path):
    wanted = sandboxes.at_around(context.remembered[name].files, path)
    assert wanted, "nothing was there"
    found = sandboxes.at_around(drive.look(context).files, path)
    assert not file_differences(wanted, found), file_differences(wanted, found)
