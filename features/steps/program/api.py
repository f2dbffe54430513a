"""Steps about the facade for Python programs."""

import subprocess
import sys

from behave import then, when

from backtrail.api import open_repo
from backtrail.domain.checkpoint import CheckpointRequest
from backtrail.domain.correction import CorrectionMode
from backtrail.domain.errors import BacktrailError
from backtrail.domain.run import RunStatus
from support.program.forked import run_forked
from support.world import phrases
from support.world.world import write_files


def _open(context, path=None):
    world = context.world
    return open_repo(path or world.repo, environ=world.environment())


@when('a program creates plan "{name:Text}" through the facade, decides, works, runs and corrects')
def _(context, name):
    found = context.found = {}
    with _open(context) as repo:
        plan = repo.create(name)
        plan.decisions.add("one", rationale="why", alternatives=["other"])
        write_files(plan.sandbox, {"work.txt": "one\n"})
        saved = plan.checkpoints.create(CheckpointRequest(label="saved"))
        assert plan.checkpoints.get("saved") == saved
        plan.decisions.add("two", parent="D1")
        assert plan.runs.execute(["touch", "ran"]).run.status is RunStatus.SUCCESS
        with plan.runs.run():
            write_files(plan.sandbox, {"work.txt": "in a block\n"})
        found["runs"] = len(plan.runs.list())
        assert plan.tools.execute("touch", ["touch", "tooled"]).exit_code == 0
        with plan.tools.call("edit") as call:
            write_files(plan.sandbox, {"work.txt": "by a tool\n"})
        assert not call.failed
        assert plan.tools.tool("edit")(lambda: 5)() == 5
        told = plan.corrections.preview("D2", "better", mode=CorrectionMode.REVERT)
        assert told.dry_run
        assert not plan.corrections.revert("D2", "better").dry_run
        plan.corrections.append("D1", "more")
        plan.checkpoints.rollback("saved")
        plan.checkpoints.undo()
        plan.checkpoints.redo()
        plan.checkpoints.undo()
        found["decisions"] = [e.decision.number for e in plan.decisions.list()]
        found["current"] = plan.decisions.get().decision.number
        found["checkpoints"] = [c.checkpoint_id for c in plan.checkpoints.list()]
        found["name"], found["notices"] = plan.name, repo.notices
    context.repo = repo


@then("it found what the command line finds")
def _(context):
    found, name = context.found, context.found["name"]
    assert (found["runs"], found["notices"]) == (2, ()), found

    def ask(*words):
        return run_forked(context.world, *words, "--format", "json").ok().json()["data"]

    listed = ask("decision", "list", name)["decisions"]
    assert found["decisions"] == [d["number"] for d in listed] == ["D1", "D3", "D4"], found
    assert found["current"] == "D4", found
    checkpoints = ask("checkpoint", "list", name)["checkpoints"]
    assert found["checkpoints"] == [c["checkpoint_id"] for c in checkpoints], found


@then("the database was closed")
def _(context):
    files = [p.name for p in context.world.backtrail_home.glob("plan.db*")]
    assert "plan.db-wal" not in files, files


def _unknown_plan(context):
    with _open(context) as repo:
        repo.plan("nothing")


def _of_plan(act):
    def failing(context):
        with _open(context) as repo:
            act(repo.plan("auth"))

    return failing


FAILING = {
    "an unknown plan": _unknown_plan,
    "no guidance": _of_plan(lambda plan: plan.corrections.append("D1", " ")),
    "unknown decision": _of_plan(lambda plan: plan.corrections.revert("D1", "x")),
    "nothing to undo": _of_plan(lambda plan: plan.checkpoints.undo()),
    "no repository": lambda context: _open(context, context.world.root),
}


@then("through the facade these fail with their codes:")
def _(context):
    for row in context.table:
        try:
            FAILING[row["what"]](context)
        except BacktrailError as error:
            assert error.exit_code == int(row["code"]), (row, error)
            assert error.message, row
        else:
            raise AssertionError(row)


@then('importing "{module:Text}" loads none of: {modules}')
def _(context, module, modules):
    del context
    code = f"import sys, {module}; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not set(phrases.names(modules)) & set(ran.stdout.split()), ran.stdout
