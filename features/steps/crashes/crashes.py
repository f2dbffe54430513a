"""Steps about crashes: the program is killed, and the next command must put everything right."""

import os
import shlex

from behave import given, step, then, when

from support.crashes import crashes, faults
from support.crashes.crashes import KILLED
from support.program.forked import DoHere, KillHere, run_forked
from support.world import audit, drive
from support.world.examples import thorough
from support.world.world import remove, write_files

UNSAVED = {"src/app.py": "print('unsaved')\n", "notes.txt": "unsaved notes\n"}
EDITS = {
    "edits a file that comes back": lambda s: write_files(s, {"work.txt": "my own words\n"}),
    "edits a file that is the same in both": lambda s: write_files(s, {"README.md": "mine\n"}),
    "adds a file": lambda s: write_files(s, {"new.txt": "mine\n"}),
    "deletes a file": lambda s: (s / "README.md").unlink(),
    "makes a file executable": lambda s: (s / "README.md").chmod(0o755),
    "replaces a file by a link": lambda s: _link(s / "README.md", "hel"),
    "replaces a file by a folder": lambda s: _folder(s / "README.md", "inside"),
    "puts a folder where a file comes back": lambda s: _folder(s / "work.txt", "inside"),
    "puts an empty folder there": lambda s: _folder(s / "work.txt"),
    "puts a folder of ignored files there": lambda s: _folder(s / "work.txt", "ignored.log"),
}


def _link(path, target):
    path.unlink()
    path.symlink_to(target)


def _folder(path, *names):
    path.unlink()
    path.mkdir()
    write_files(path, dict.fromkeys(names, "mine\n"))


def _matrix(context, command):
    """The command may go back to `one`, or come back from there."""
    pictures = {k: v for k, v in context.remembered.items() if k in ("one", "two", "three")}
    goals = {"rollback": "one", "undo": "before going back", "redo": "one", "save": "unsaved"}
    words = command.split()
    return crashes.Matrix(
        context.world,
        tuple(words[1:]),
        crashes.Acknowledged(pictures),
        context.remembered[goals[words[1]]],
    )


@given("work that is in no checkpoint yet")
def _(context):
    sandbox = drive.sandbox(context)
    write_files(sandbox, UNSAVED)
    (sandbox / "src" / "lib" / "util.py").unlink()
    (sandbox / "link").symlink_to("README.md")
    context.world.git("add", "notes.txt", cwd=sandbox)
    drive.remember(context, "unsaved")
    drive.remember(context, "before going back")


@given('already done: "{commands:Text}"')
def _(context, commands):
    for command in filter(None, commands.split("; ")):
        run_forked(context.world, *command.split()[1:]).ok()


@when('"{command:Text}" is killed at each of its failpoints, and each time the next command is run')
def _(context, command):
    matrix = _matrix(context, command)
    matrix.kill_once()
    context.crashes = matrix.crashes


@when(
    '"{command:Text}" is killed at each of its failpoints, '
    "and after those of {families} the next command is run"
)
def _(context, command, families):
    matrix = _matrix(context, command)
    matrix.kill_once(tuple(families.split(" and ")))
    context.crashes = matrix.crashes


@when(
    '"{command:Text}" is killed at each of its failpoints, '
    "and each time the next command is killed at every fourth failpoint of its recovery"
)
def _(context, command):
    matrix = _matrix(context, command)
    matrix.kill_twice(stride=1 if thorough() else 4)
    context.crashes = matrix.crashes


@when(
    '"{command:Text}" is killed at each of its failpoints, '
    "and each time the next command is killed at another one"
)
def _(context, command):
    matrix = _matrix(context, command)
    matrix.kill_twice(stride=1 if thorough() else 9)
    context.crashes = matrix.crashes


@then("the failpoints were all those of: {families}")
def _(context, families):
    wanted = crashes.all_failpoints(*families.split(", "))
    seen = {crash.places[0] for crash in context.crashes}
    assert seen == wanted, (seen - wanted, wanted - seen)


@then("at least {count:d} crashes of crashes were lived through")
def _(context, count):
    assert len(context.crashes) >= count, [crash.places for crash in context.crashes]


@then("the recovery was killed, among others, at: {places}")
def _(context, places):
    met = {crash.places[1] for crash in context.crashes}
    missed = set(places.split(", ")) - met
    assert not missed, (missed, met)


@then("every time the plan was usable at once")
def _(context):
    found = crashes.report(context.crashes, "usable")
    assert not found, found


@then(
    "every time complete checkpoints and refs were one to one, connected, and nothing was half done"
)
def _(context):
    found = crashes.report(context.crashes, "invariant")
    assert not found, found


@then("every time the sandbox was wholly as before or wholly as asked for, and undo led back")
def _(context):
    found = crashes.report(context.crashes, "sandbox")
    assert not found, found


@then("every time each acknowledged checkpoint was exact")
def _(context):
    found = crashes.report(context.crashes, "exact")
    assert not found, found


@then("rows and refs agree, and nothing is half done")
def _(context):
    found = audit.problems(context.world)
    assert not found, "\n".join(found)


@when(
    '"{command:Text}" is killed wherever files may be half changed, '
    "and each time somebody {edit} before the next command"
)
def _(context, command, edit):
    matrix = _matrix(context, command)
    matrix.edit_after_kill(lambda: EDITS[edit](drive.sandbox(context)))
    context.crashes = matrix.crashes


@then("it happened at least {count:d} times")
def _(context, count):
    assert len(context.crashes) >= count, [crash.places for crash in context.crashes]


@then("every time the edit stayed in place, and undo led back to before the command")
def _(context):
    found = crashes.report(context.crashes, "sandbox")
    assert not found, found


@then("every time a notice said what to type")
def _(context):
    found = crashes.report(context.crashes, "told")
    assert not found, found


@then("every time the edited state was kept as a checkpoint")
def _(context):
    found = crashes.report(context.crashes, "exact")
    assert not found, found


@step('"{command:Text}" is killed at "{failpoint:Text}"')
def _(context, command, failpoint):
    ran = run_forked(context.world, *shlex.split(command)[1:], failpoints=KillHere(failpoint))
    assert ran.code == KILLED, ran


@when("somebody {edit} in the sandbox")
def _(context, edit):
    if edit == "commits the present state":
        context.world.git("add", "--all", cwd=drive.sandbox(context))
        context.world.git("commit", "--quiet", "-m", "mine", cwd=drive.sandbox(context))
    else:
        EDITS[edit](drive.sandbox(context))
    drive.remember(context, "edited")


@when('git had just removed "{path:Text}"')
def _(context, path):
    remove(drive.sandbox(context) / path)


@when('"{path:Text}" was written only half')
def _(context, path):
    place = drive.sandbox(context) / path
    content = place.read_bytes()
    place.write_bytes(content[: len(content) // 2])


def _checkpoint(context, label):
    sql = "SELECT * FROM checkpoint_metadata WHERE checkpoint_id = ?"
    [row] = audit.query(context.world, sql, drive.find(context, label).checkpoint_id)
    return row


def _ref(row):
    return f"refs/backtrail/{row['resource_id']}/{row['checkpoint_id']}"


@given('the ref of checkpoint "{label:Text}" is deleted')
def _(context, label):
    gone = audit.store_git(context.world, "update-ref", "-d", _ref(_checkpoint(context, label)))
    assert gone.returncode == 0, gone


@given('the content of "{path:Text}" at checkpoint "{label:Text}" is lost from the store')
def _(context, path, label):
    _stored(context, path, label).unlink()


@given(
    'the content of "{path:Text}" at checkpoint "{label:Text}" is lost from the store, '
    "and kept elsewhere"
)
def _(context, path, label):
    context.lost = _stored(context, path, label)
    context.lost.rename(context.world.root / "kept elsewhere")


@when("that content is brought back to the store")
def _(context):
    (context.world.root / "kept elsewhere").rename(context.lost)


def _stored(context, path, label):
    commit = _checkpoint(context, label)["sandbox_ref"]
    found = audit.store_git(context.world, "rev-parse", f"{commit}:{path}")
    blob = found.stdout.decode().strip()
    return context.world.store / "objects" / blob[:2] / blob[2:]


@given('the row of checkpoint "{label:Text}" is deleted by hand')
def _(context, label):
    sql = "DELETE FROM checkpoint_metadata WHERE label = ?"
    assert audit.change(context.world, sql, label) == 1


@given("a killed git left the lock of the ref that is still to be written")
def _(context):
    [row] = audit.query(context.world, "SELECT * FROM checkpoint_metadata WHERE state = 'creating'")
    lock = context.world.store / f"{_ref(row)}.lock"
    assert lock.parent.is_dir()
    lock.touch()


@given("killed gits left locks everywhere in the store")
def _(context):
    store = context.world.store
    for place in (*store.glob("refs/backtrail/*/"), audit.private_index(context.world)):
        (place / "01ARZ3NDEKTSV4RRFFQ69G5FAV.lock" if place.is_dir() else _lock(place)).touch()


def _lock(path):
    return path.with_name(f"{path.name}.lock")


@then("no lock of git is left in the store")
def _(context):
    home = context.world.backtrail_home
    found = [*home.glob("store.git/refs/**/*.lock"), *home.glob("index/*.lock")]
    assert not found, found


@given("another git of the user's holds the sandbox's index")
def _(context):
    (audit.git_dir(context.world, "auth") / "index.lock").write_text("theirs")


@when('another git of the user\'s has made "{file:Text}"')
def _(context, file):
    (audit.git_dir(context.world, "auth") / file).write_text("theirs")


@when('the lock "{file:Text}" is removed')
def _(context, file):
    (audit.git_dir(context.world, "auth") / file).unlink()


@then("their lock is still there")
def _(context):
    lock = audit.git_dir(context.world, "auth") / "index.lock"
    assert lock.read_text() == "theirs"


@given("a killed command left its own lock of the sandbox's index")
def _(context):
    git_dir = audit.git_dir(context.world, "auth")
    (git_dir / "backtrail-index").write_bytes((git_dir / "index").read_bytes())
    os.link(git_dir / "backtrail-index", git_dir / "index.lock")


@then("no lock of the sandbox's index is left")
def _(context):
    git_dir = audit.git_dir(context.world, "auth")
    left = [p for p in ("index.lock", "backtrail-index") if (git_dir / p).exists()]
    assert not left, left


@then('checkpoint "{label:Text}" is {state}')
def _(context, label, state):
    assert _checkpoint(context, label)["state"] == state, _checkpoint(context, label)


@then("the newest checkpoint is {state} and holds no ref")
def _(context, state):
    [row] = audit.query(
        context.world, "SELECT * FROM checkpoint_metadata ORDER BY seq DESC LIMIT 1"
    )
    assert row["state"] == state, row
    assert row["checkpoint_id"] not in audit.refs(context.world)


@then("these checkpoints can be brought back exactly: {labels}")
def _(context, labels):
    for label in labels.split(", "):
        named = drive.reference(context, label)
        run_forked(context.world, "rollback", "auth", named, "--yes").ok()
        differences = context.remembered[label].differences(drive.look(context))
        assert not differences, (label, differences)


@when('"{command:Text}" is run while git "{subcommand:Text}" {way}')
def _(context, command, subcommand, way):
    env = faults.faulty_git(context.world, subcommand, way)
    context.ran = run_forked(context.world, *command.split()[1:], env=env)


@when('"{command:Text}" finds the disk full when it restores files, with git and with its rows')
def _(context, command):
    env = faults.faulty_git(context.world, "checkout-index", "finds the disk full")
    full = DoHere("rollback.restoring", faults.fill_database)
    context.ran = run_forked(context.world, *command.split()[1:], env=env, failpoints=full)


@when('"{command:Text}" is killed at random moments {count:d} times, git and all')
def _(context, command, count):
    context.crashes = crashes.random_kills(context.world, command.split()[1:], count)


@then("after the next command rows and refs agreed every time, and nothing was lost")
def _(context):
    found = crashes.report(context.crashes, "any")
    assert not found, found
