"""Steps about runs: commands under protection, and how they ended."""

import json
import shlex
import sys

from behave import given, step, then, when

from support.program import running
from support.program.forked import run_forked
from support.world import audit, drive
from support.world.world import RUN_PLAN


def runs(context):
    return audit.query(context.world, "SELECT * FROM runs ORDER BY number")


def run_row(context, number):
    [found] = [row for row in runs(context) if row["number"] == number]
    return found


def _place(context, path):
    return drive.sandbox(context) / path


@then('it prints nothing but "{words:Text}"')
def _(context, words):
    assert context.ran.out == f"{words}\n", context.ran


@then('"{path:Text}" in the sandbox holds the path of the sandbox')
def _(context, path):
    assert _place(context, path).read_text() == f"{drive.sandbox(context).resolve()}\n"


@then('"{path:Text}" in the sandbox holds "{content:Text}"')
def _(context, path, content):
    assert _place(context, path).read_text() == f"{content}\n", _place(context, path).read_text()


@then('"{copy:Text}" and "{path:Text}" in the sandbox are the same')
def _(context, copy, path):
    assert _place(context, copy).read_bytes() == _place(context, path).read_bytes()


@then('"{path:Text}" in the sandbox holds nothing')
def _(context, path):
    assert _place(context, path).read_text() == ""


@then('"{path:Text}" is not in the sandbox')
def _(context, path):
    assert not _place(context, path).exists()


@then("run {number:d} is {status} and ended with {code:d}")
def _(context, number, status, code):
    row = run_row(context, number)
    assert (row["status"], row["exit_code"]) == (status, code), row
    assert row["live_plan_id"] is None, row


@then("run {number:d} started before the checkpoint after it, and its command ended with {code:d}")
def _(context, number, code):
    ran = run_forked(context.world, "runs", "show", "auth", str(number), "--format", "json")
    run = ran.ok().json()["data"]["run"]
    assert run["result"]["command_exit_code"] == code, run
    shown = ("checkpoint", "show", "auth", run["post_checkpoint_id"], "--format", "json")
    after = run_forked(context.world, *shown).ok().json()["data"]["checkpoint"]
    assert run["started_at"] < after["created_at"], (run, after)


@then("run {number:d} is {status:w}")
def _(context, number, status):
    assert run_row(context, number)["status"] == status, run_row(context, number)


@then('its variables are those of the caller, and of plan "{name:Text}" and run {number:d}')
def _(context, name, number):
    lines = _place(context, "variables").read_text().splitlines()
    found = dict(line.split("=", 1) for line in lines)
    plan = context.plans[name]
    given_ = {k: v for k, v in context.world.environment().items() if k.startswith("GIT_")}
    wanted = {
        **given_,
        "GIT_EDITOR": "mine",
        "PLAN_ID": plan.plan_id,
        "PLAN_RUN_ID": run_row(context, number)["run_id"],
        "PLAN_SANDBOX": str(plan.sandbox.path),
    }
    assert {k: v for k, v in found.items() if k != "PLAN_DATABASE_URL"} == wanted, found


@then('"{reference:Text}" is a checkpoint of type {kind}')
def _(context, reference, kind):
    with drive.checkpoints(context) as service:
        found = service.get_checkpoint(context.plan.plan_id, reference)
    assert found.checkpoint_type == kind, found
    assert found.restorable, found


@then('"{one:Text}" and "{other:Text}" are the same checkpoint')
def _(context, one, other):
    with drive.checkpoints(context) as service:
        plan = context.plan.plan_id
        assert service.get_checkpoint(plan, one) == service.get_checkpoint(plan, other)


@then('"{reference:Text}" is the checkpoint after run {number:d}')
def _(context, reference, number):
    with drive.checkpoints(context) as service:
        found = service.get_checkpoint(context.plan.plan_id, reference)
    assert found.checkpoint_id == run_row(context, number)["post_checkpoint_id"], found


@then('the envelope in "{file:Text}" has {path} {value}')
def _(context, file, path, value):
    found = json.loads((context.world.repo / file).read_text())
    for part in path.split("."):
        found = found[part]
    assert found == json.loads(value), found


@then("no other file was left beside it")
def _(context):
    left = {p.name for p in context.world.repo.iterdir()}
    assert left == {".git", ".gitignore", "README.md", "src", "answer.json"}, left


@given('the agent links "{path:Text}" to "{target:Text}"')
def _(context, path, target):
    _place(context, path).symlink_to(target)


@then("these are refused with 125, and nothing is run:")
def _(context):
    before = len(runs(context))
    for row in context.table:
        words = row["command"].split()[1:]
        ran = run_forked(context.world, *words)
        assert ran.code == 125, ran
        assert row["says"] in ran.err, ran
        assert ran.out == "", ran
        told = run_forked(context.world, "--format", "json", *words).json()
        assert (told["exit_code"], told["status"]) == (125, "error"), told
        assert told["error"]["details"]["exit_code"] == int(row["code"]), told
    assert len(runs(context)) == before, runs(context)


@then("the error names the safety checkpoint")
def _(context):
    answer = context.ran.json()
    assert "was not rolled back" in answer["error"]["message"], answer
    [row] = audit.query(
        context.world,
        "SELECT * FROM checkpoint_metadata WHERE checkpoint_type = 'pre_rollback'",
    )
    assert answer["error"]["details"]["safety_checkpoint"] == row["checkpoint_id"], answer


@when('a run of plan "{name:Text}" saves checkpoint "{label:Text}" while it runs')
def _(context, name, label):
    plan = [sys.executable, "-c", RUN_PLAN, "save", "--label", label]
    context.ran = run_forked(context.world, "run", name, "--", *plan)


@then("run {number:d} is found by its id and by a unique beginning")
def _(context, number):
    run_id = run_row(context, number)["run_id"]
    for word in (run_id, run_id.lower(), run_id[:20]):
        ran = run_forked(context.world, "runs", "show", "auth", word, "--format", "json").ok()
        assert ran.json()["data"]["run"]["number"] == number, ran
        ran = run_forked(context.world, "checkpoint", "show", "auth", f"before:{word}").ok()
        assert "pre_run" in ran.out, ran


@then('the process whose id is in "{path:Text}" is gone')
def _(context, path):
    pid = int(_place(context, path).read_text())
    assert not running.is_alive(pid), pid


@step('plan "{name:Text}" runs "{command:Text}" in the background')
def _(context, name, command):
    words = shlex.split(command)
    context.running = running.start(context.world, "run", name, "--", *words)
    running.wait_until(
        lambda: [r for r in runs(context) if r["status"] == "running"], "the command runs"
    )


@then('what ran in the background exits with {code:d} and says "{words:Text}"')
def _(context, code, words):
    ran = context.running.wait()
    assert ran.code == code, ran
    assert words in ran.err, ran
