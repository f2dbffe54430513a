"""Steps about calls of tools, and how many of them a rollback takes back."""

import asyncio
import shlex
import signal
import sys

from behave import given, then, when

from backtrail.domain.errors import UsageError
from support.program import running
from support.program.forked import run_forked
from support.world import drive
from support.world.world import RUN_PLAN


def _counted(context):
    """A file beside the sandbox, in which the tools keep count themselves."""
    return drive.sandbox(context).parent / "calls"


def _would_take_back(context, reference):
    told = run_forked(
        context.world, "rollback", "auth", reference, "--dry-run", "--format", "json"
    ).ok()
    return told.json()["data"]["impact"]["tool_calls_after_cp"]


@when("tools are called {count:d} times, changing files {writing:d} times")
def _(context, count, writing):
    for number in range(count):
        write = f"; date +%N >>work.txt; echo {number} >>work.txt" if number < writing else ""
        script = f"echo call >>../calls{write}"
        run_forked(context.world, "tool", "auth", f"t{number}", "--", "sh", "-c", script).ok()


@then('the calls that a rollback to "{reference:Text}" would take back are {count:d}')
def _(context, reference, count):
    assert _would_take_back(context, reference) == count, _would_take_back(context, reference)


@then(
    'the calls that a rollback to "{reference:Text}" would take back are all '
    "that the tools counted themselves"
)
def _(context, reference):
    counted = len(_counted(context).read_text().splitlines())
    assert counted > 0
    assert _would_take_back(context, reference) == counted, counted


@when('I run "{command:Text}" inside of a run')
def _(context, command):
    plan = [sys.executable, "-c", RUN_PLAN, *shlex.split(command)[1:]]
    context.ran = run_forked(context.world, "run", "auth", "--", *plan)


@given('tool "{name:Text}" is called with "{command:Text}" in the background')
def _(context, name, command):
    words = shlex.split(command)
    context.running = running.start(context.world, "tool", "auth", name, "--", *words)
    begun = drive.sandbox(context) / "begun"
    running.wait_until(begun.exists, "the tool runs")


@when("its caller gets SIGTERM")
def _(context):
    context.running.send(signal.SIGTERM)


def _call(context, name, path, text, error=None):
    context.raised = None
    with context.world.services() as services:
        try:
            with services.tools.call(context.plan.plan_id, name) as context.call:
                (drive.sandbox(context) / path).write_text(f"{text}\n")
                if error is not None:
                    raise error
        except ValueError as raised:
            context.raised = raised


@when('Python code calls tool "{name:Text}" and writes "{text:Text}" to "{path:Text}"')
def _(context, name, text, path):
    _call(context, name, path, text)
    assert context.raised is None


@when(
    'Python code calls tool "{name:Text}" and writes "{text:Text}" to "{path:Text}" '
    "and raises ValueError"
)
def _(context, name, text, path):
    _call(context, name, path, text, ValueError("it went wrong"))


@then("the call raised ValueError")
def _(context):
    assert str(context.raised) == "it went wrong", context.raised
    assert context.call.failed


@then("the call changed unexpectedly: {path}")
def _(context, path):
    assert [change.file for change in context.call.unexpected_changes] == [path], context.call


@when(
    'a function that is tool "{name:Text}" writes "{text:Text}" to "{path:Text}", inside of a run'
)
def _(context, name, text, path):
    plan = context.plan.plan_id
    with context.world.services() as services:

        @services.tools.tool(plan, name)
        def write(content, *, to):
            return (drive.sandbox(context) / to).write_text(content)

        with services.runs.run(plan):
            context.returned = write(text, to=path)
        assert write.__name__ == "write"
    context.wanted = len(text)


@when('a coroutine that is tool "{name:Text}" writes "{text:Text}" to "{path:Text}"')
def _(context, name, text, path):
    context.returned = _awaited(context, name, path, text)
    context.wanted = len(text)


@when(
    'a coroutine that is tool "{name:Text}" writes "{text:Text}" to "{path:Text}" '
    "and raises ValueError"
)
def _(context, name, text, path):
    raised = None
    try:
        _awaited(context, name, path, text, ValueError("it went wrong"))
    except ValueError as error:
        raised = error
    assert raised is not None


def _awaited(context, name, path, text, error=None):
    with context.world.services() as services:

        @services.tools.tool(context.plan.plan_id, name)
        async def write():
            await asyncio.sleep(0)
            written = (drive.sandbox(context) / path).write_text(text)
            if error:
                raise error
            return written

        return asyncio.run(write())


@then("the last call of a tool is logged with exit code {code:d}")
def _(context, code):
    with context.world.services() as services:
        logged = services.checkpoints.list_operations(context.plan.plan_id)
    calls = [operation for operation in logged if operation.kind == "tool"]
    assert calls[0].result["exit_code"] == code, calls[0]


@then('a generator that is tool "{name:Text}" is refused, and so is an asynchronous one')
def _(context, name):
    def one():
        yield 1

    async def other():
        yield 1

    with context.world.services() as services:
        for function in (one, other):
            error = drive.refusal(services.tools.tool(context.plan.plan_id, name), function)
            assert isinstance(error, UsageError), error


@then("the function returned what it returns")
def _(context):
    assert context.returned == context.wanted, context.returned
