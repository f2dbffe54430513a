"""Steps about clones and copies of a repository that keep their rows in one database."""

import re

from behave import given, then, when

from backtrail.domain.errors import NotFoundError
from support.program import crowd
from support.program.forked import KillHere, run_forked
from support.world import audit, drive, evidence, phrases


@given('two clones that share one database, "{one:Text}" and "{other:Text}"')
def _(context, one, other):
    world = context.world
    world.share_rows()
    world.repo_name = one
    world.make_repository()
    world.git("clone", "--quiet", str(world.repo), str(world.root / other), cwd=world.root)
    context.clones = {one: world, other: world.beside(other)}


@given('clone "{clone:Text}" has plans: {names}')
def _(context, clone, names):
    for name in phrases.names(names):
        context.clones[clone].create_plan(name)


@given('clone "{clone:Text}" is copied to "{place:Text}", git directory and all')
def _(context, clone, place):
    world = context.clones[clone]
    world.run("cp", "-a", str(world.repo), str(world.root / place)).ok()
    context.clones[place] = world.beside(place)


@given('in clone "{clone:Text}" "{command:Text}" was killed at "{failpoint:Text}"')
def _(context, clone, command, failpoint):
    world = context.clones[clone]
    ran = run_forked(world, *command.split()[1:], failpoints=KillHere(failpoint))
    assert ran.code == -9, ran
    context.left = audit.unfinished(world)
    assert context.left, "nothing was left unfinished"


@then('clone "{clone:Text}" still has what was left unfinished')
def _(context, clone):
    assert audit.unfinished(context.clones[clone]) == context.left


@then('clone "{clone:Text}" has plan "{name:Text}" with the timeline: {listed}')
def _(context, clone, name, listed):
    with context.clones[clone].services() as services:
        plan = services.plans.resolve(name)
        found = services.checkpoints.list_checkpoints(plan.plan_id)
    assert [drive.called(c) for c in found] == phrases.names(listed), found


@then("its JSON names the plans: {listed}")
def _(context, listed):
    found = [plan["name"] for plan in context.ran.ok().json()["data"]["plans"]]
    assert found == phrases.names(listed), found


def _disagreements(world):
    return [f"{world.repo_name}: {problem}" for problem in audit.problems(world)]


@then("in both clones rows and refs agree, and nothing is half done")
def _(context):
    found = [p for world in context.clones.values() for p in _disagreements(world)]
    assert not found, "\n".join(found)


@then('in clone "{clone:Text}" rows and refs agree, and nothing is half done')
def _(context, clone):
    found = _disagreements(context.clones[clone])
    assert not found, "\n".join(found)


def _ids(world):
    """What the rows of a clone are called, whole and by their beginnings."""
    [plan] = audit.query(
        world, "SELECT plan_id FROM plans WHERE repository_id = ?", audit.store_id(world)
    )
    [checkpoint] = audit.query(
        world, "SELECT checkpoint_id FROM checkpoint_metadata WHERE plan_id = ?", plan["plan_id"]
    )
    ids = {"plan": plan["plan_id"], "checkpoint": checkpoint["checkpoint_id"]}
    return ids | {f"beginning of the {what}": whole[:20] for what, whole in ids.items()}


def _spelled_out(context, command):
    """A command in which `{plan of mine}` and the like stand for ids."""

    def known(found):
        what, _, clone = found[1].rpartition(" of ")
        return _ids(context.clones[clone])[what]

    return re.sub(r"\{(.+?)\}", known, command).split()[1:]


@then('in clone "{clone:Text}" none of these is found, and nothing changes:')
@then('in clone "{clone:Text}" these are refused, and nothing changes:')
def _(context, clone):
    world = context.clones[clone]
    before = evidence.collect(world)
    wrong = []
    for row in context.table:
        ran = run_forked(world, *_spelled_out(context, row["command"]))
        if ran.code != int(row["exit code"]) or "Traceback" in ran.err:
            wrong.append(str(ran))
    wrong += before.differences(evidence.collect(world))
    assert not wrong, "\n".join(wrong)


@then(
    'in clone "{clone:Text}" a Python program that gives the id of the plan of "{other:Text}" '
    "is told that there is none"
)
def _(context, clone, other):
    plan = _ids(context.clones[other])["plan"]
    with context.clones[clone].services() as services:
        made = services.checkpoints
        ways = {
            "status": lambda: services.plans.status(plan),
            "create": lambda: made.create_checkpoint(plan),
            "list": lambda: made.list_checkpoints(plan),
            "get": lambda: made.get_checkpoint(plan, "first"),
            "rollback": lambda: made.rollback_to_checkpoint(plan, "first"),
            "undo": lambda: made.undo(plan),
            "diff": lambda: made.diff(plan, "first"),
            "label": lambda: made.set_label(plan, "first", "x"),
            "operations": lambda: made.list_operations(plan),
        }
        told = {name: drive.refusal(way) for name, way in ways.items()}
    wrong = {name: error for name, error in told.items() if not isinstance(error, NotFoundError)}
    assert not wrong, wrong


@when(
    '{people:d} processes save {count:d} checkpoints each on plan "{name:Text}" in each clone, '
    "all at once"
)
def _(context, people, count, name):
    jobs = [(world, ("save", name, count)) for world in context.clones.values()]
    context.complaints = crowd.work_everywhere(jobs * people)


@when("{people:d} processes in each clone create a plan each, all at once")
def _(context, people):
    context.complaints = crowd.work_everywhere(
        [
            (world, ("create", f"plan-{number}", 0))
            for world in context.clones.values()
            for number in range(people)
        ]
    )


@when('{people:d} processes create plan "{name:Text}" in clone "{clone:Text}", all at once')
def _(context, people, name, clone):
    context.complaints = crowd.work_at_once(context.clones[clone], [("create", name, 0)] * people)


@when(
    '{people:d} processes attach the checkout of clone "{clone:Text}", '
    "each for a plan of its own, all at once"
)
def _(context, people, clone):
    jobs = [("attach", f"plan-{number}", 0) for number in range(people)]
    context.complaints = crowd.work_at_once(context.clones[clone], jobs)


@then('clone "{clone:Text}" has one plan, and who did not make it was refused with 5 or found it')
def _(context, clone):
    with context.clones[clone].services() as services:
        [_] = services.plans.list_plans()
    assert all(complaint.startswith("5: ") for complaint in context.complaints), context.complaints


@then('in both clones plan "{name:Text}" has {count:d} complete checkpoints, without a gap')
def _(context, name, count):
    for world in context.clones.values():
        with world.services() as services:
            plan = services.plans.resolve(name)
            found = services.checkpoints.list_checkpoints(plan.plan_id)
        assert [c.seq for c in found] == list(range(1, count + 1)), (world.repo_name, found)
