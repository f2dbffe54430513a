"""Steps about what is many."""

from behave import given, step, then, when

from support.crashes import faults
from support.program.terminals import shown_on_terminal
from support.world import drive

_FOLDERS = 20


def _paths(first, count):
    return [f"many/d{n % _FOLDERS}/file{n}.txt" for n in range(first, first + count)]


def _write(context, paths, text):
    for path in paths:
        file = drive.sandbox(context) / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{text} {path}\n")


@given("the agent writes {count:d} files")
def _(context, count):
    _write(context, _paths(0, count), "file")


@given("the agent writes {count:d} files with names of {length:d} characters")
def _(context, count, length):
    _write(context, [f"{n:0{length}}" for n in range(count)], "file")


@when("the agent edits {edited:d} of them, deletes {deleted:d} others and adds {added:d}")
def _(context, edited, deleted, added):
    _write(context, _paths(0, edited), "edited")
    for path in _paths(edited, deleted):
        (drive.sandbox(context) / path).unlink()
    _write(context, _paths(1_000_000, added), "new")


@when('"{command:Text}" is run while git takes {seconds:d} seconds before it reads')
def _(context, command, seconds):
    # What is handed over in pieces is still being handed over then.
    env = faults.faulty_git(context.world, "update-index -z --add", f"waits {seconds} seconds")
    arguments = [*context.world.program(), *command.split()[1:]]
    context.ran = context.world.run(*arguments, env=env)


@step('I run "{command:Text}" on a terminal')
def _(context, command):
    context.shown = shown_on_terminal(context.world, *command.split()[1:])


@then('the terminal showed "{words:Text}"')
def _(context, words):
    assert words in context.shown, context.shown


@then("the terminal showed less than {count:d} lines")
def _(context, count):
    assert context.shown.count("\n") < count, context.shown


@then("no operation takes more than {count:d} bytes of the log")
def _(context, count):
    rows = context.world.rows.query("SELECT kind, result_json FROM operations")
    assert len(rows) > 2, rows
    assert all(len(str(row["result_json"])) <= count for row in rows), rows
