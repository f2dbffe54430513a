"""Steps about a PostgreSQL server that is away, says no or lets somebody wait.

Where the features run on SQLite the driver need not be there, so it is imported late.
"""

import os
import signal
import zlib
from contextlib import ExitStack
from urllib.parse import quote

from behave import given, then, when

from support.program.answers import in_every_format
from support.program.forked import DoHere, run_forked
from support.runs import holders
from support.world import audit, evidence

UNSEEN = 777
STILL = {
    "a checkpoint": "SELECT 1 FROM checkpoint_metadata WHERE state = ?",
    "a rollback": "SELECT 1 FROM operations WHERE kind = 'rollback' AND state = ?",
}
ALL_COMMANDS = (
    "db upgrade", "create mine", "save mine --label one", "list", "status mine",
    "rollback mine first --yes", "undo mine", "ops mine", "checkpoint list mine --all",
    "checkpoint show mine one", "diff -p mine first", "db status", "db path", "db upgrade",
    "rollback mine nosuch --yes", "create mine", "status nosuch", "nonsense",
)  # fmt: skip


def _server():
    from support.storage.postgresql import server

    return server()


def _restart():
    _server().stop()
    _server().start()


@given("the server is stopped")
def _(context):
    context.before = evidence.collect(context.world)
    context.add_cleanup(_server().start)
    _server().stop()


@given("the server runs again")
def _(context):
    _server().start()


@when('I run "{command:Text}" in every format, without a server')
def _(context, command):
    context.answers = in_every_format(context.world, *command.split()[1:])


@then("no file, no ref, no index and no row has changed since the server was stopped")
def _(context):
    differences = context.before.differences(evidence.collect(context.world))
    assert not differences, "\n".join(differences)


@when('"{command:Text}" is run, and the server is {treated} at "{failpoint:Text}"')
def _(context, command, treated, failpoint):
    action = {"stopped": _server().stop, "restarted": _restart}[treated]
    context.add_cleanup(_server().start)
    context.ran = run_forked(
        context.world, *command.split()[1:], failpoints=DoHere(failpoint, action)
    )


@then("{what} is still {state}")
def _(context, what, state):
    assert audit.query(context.world, STILL[what], state), f"no row is {state}"


@given("a user of the server for whom {reason}")
@given("a user of the server who {reason}")
def _(context, reason):
    from support.storage import saying_no

    context.before = evidence.collect(context.world)
    context.holder = ExitStack()
    context.url = saying_no.WAYS[reason](context)


@when('I run "{command:Text}" in every format, as that user')
def _(context, command):
    env = {"PLAN_DATABASE_URL": context.url}
    context.answers = in_every_format(context.world, *command.split()[1:], env=env)
    # Whoever holds something lets go, or nobody could look at the rows.
    context.holder.close()


def _is_secret_in(text):
    from support.storage.postgresql import PASSWORD

    return any(form in text for form in (PASSWORD, quote(PASSWORD, safe="")))


@then("the password is nowhere in what it says")
def _(context):
    assert not any(_is_secret_in(ran.out + ran.err) for ran in context.answers.values())


@when("that user creates a plan, saves, rolls back, looks at everything and makes mistakes")
def _(context):
    env = {"PLAN_DATABASE_URL": context.url}
    context.said = [
        ran.out + ran.err
        for command in ALL_COMMANDS
        for ran in in_every_format(context.world, "-v", *command.split(), env=env).values()
    ]
    assert any("takes back rollback" in text for text in context.said), context.said


@then("the password is nowhere: not in what was said, not in a file, not in a row")
def _(context):
    files = [path for path in context.world.root.rglob("*") if path.is_file()]
    texts = [*context.said, str(context.url_rows.dump())]
    texts += [_readable(path.read_bytes()) for path in files]
    assert len(files) > 50, files
    assert not any(map(_is_secret_in, texts)), [t for t in texts if _is_secret_in(t)]


def _readable(content):
    """The text of a file; git compresses its objects."""
    try:
        return zlib.decompress(content).decode(errors="replace")
    except zlib.error:
        return content.decode(errors="replace")


@when('"{command:Text}" is run, and at each failpoint the server is asked for open transactions')
def _(context, command):
    context.seen = context.world.root / "open transactions"
    probe = Probe(context.world.rows, context.seen)
    run_forked(context.world, *command.split()[1:], failpoints=probe).ok()


class Probe:
    """Writes down at every failpoint which transactions are open in the database."""

    def __init__(self, rows, seen):
        self._rows, self._seen = rows, seen

    def reach(self, name):
        found = self._rows.open_transactions()
        with self._seen.open("a") as file:
            file.write(f"{name}: {len(found)}\n")


@then("there was never one")
def _(context):
    lines = context.seen.read_text().splitlines()
    assert len(lines) > 10, lines
    assert all(line.endswith(": 0") for line in lines), lines


@given("a process that was stopped while it wrote rows")
def _(context):
    _stop_while_writing(context)


@given("a process that was stopped while it wrote rows, under the settings {setting}={value}")
def _(context, setting, value):
    context.world.extra_env = _settings(context, setting, value)
    _stop_while_writing(context)
    context.world.extra_env = {}
    context.add_cleanup(os.kill, context.holder, signal.SIGKILL)


@when('I run "{command:Text}" under the settings {setting}={value}')
def _(context, command, setting, value):
    env = _settings(context, setting, value)
    context.ran = run_forked(context.world, *command.split()[1:], env=env)


def _settings(context, setting, value):
    return {"PLAN_DATABASE_URL": f"{context.world.rows.url()}&options=-c{setting}%3D{value}"}


def _stop_while_writing(context):
    def write(services):
        with services.workspace.database.write() as uow:
            uow.plans.set_policy(context.plan.plan_id, {"max_checkpoints": UNSEEN})
            os.kill(os.getpid(), signal.SIGSTOP)

    context.holder = holders.forked(context.world, write)
    holders.wait_until_stopped(context.holder)


@when("that process goes on")
def _(context):
    os.kill(context.holder, signal.SIGCONT)


@then("it ends with {code:d}, and has written nothing")
def _(context, code):
    _, status = os.waitpid(context.holder, 0)
    assert os.waitstatus_to_exitcode(status) == code, status
    plans = audit.query(context.world, "SELECT policy_json FROM plans")
    assert plans, "there is no plan"
    assert not any(str(UNSEEN) in str(plan["policy_json"]) for plan in plans), plans


@given('the server isolates transactions as "{level:Text}" unless told otherwise')
def _(context, level):
    from support.storage.postgresql import administer

    name = context.world.rows.name
    administer(f"ALTER DATABASE {name} SET default_transaction_isolation = '{level}'")


@then('every column that holds ids has the collation "{collation:Text}"')
def _(context, collation):
    columns = audit.query(
        context.world,
        "SELECT table_name, column_name, collation_name FROM information_schema.columns"
        " WHERE table_schema = 'public' AND character_maximum_length = 26",
    )
    assert len(columns) > 15, columns
    assert {column["collation_name"] for column in columns} == {collation}, columns
