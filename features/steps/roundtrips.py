"""Steps about random trees that go round: saved, replaced by another, brought back, undone."""

from behave import then
from hypothesis import given
from hypothesis import strategies as st

from backtrail.domain.checkpoint import CheckpointRequest
from support.disk import walk
from support.drive import refusal
from support.examples import search
from support.picture import LOOK_ONLY, file_differences
from support.random_trees import comparable, make_tree, trees
from support.world import World

IN_A_ROW = 10


@then("{count:d} random trees come back exactly, in a sandbox {kind}")
def _(context, count, kind):
    @search(count, each=IN_A_ROW)
    @given(st.lists(trees, min_size=IN_A_ROW, max_size=IN_A_ROW))
    def go_round(row):
        _go_round(row, attached=kind == "of the user's own")

    go_round()


def _go_round(row, *, attached):
    world = World()
    try:
        world.make_repository()
        with world.services() as services:
            sandbox = world.repo if attached else None
            plan = services.plans.create("auth", sandbox=sandbox).plan
            root = plan.sandbox.path
            (root / "nest").mkdir()
            world.git("init", "--quiet", cwd=root / "nest")
            for tree, following in zip(row, (*row[1:], row[0]), strict=True):
                _there_and_back(world, services.checkpoints, plan, (tree, following))
    finally:
        world.remove()


def _there_and_back(world, checkpoints, plan, pair):
    root = plan.sandbox.path
    make_tree(world, root, pair[0])
    saved = checkpoints.create_checkpoint(plan.plan_id, CheckpointRequest())
    wanted = _look(world, root)
    make_tree(world, root, pair[1])
    wreck = _look(world, root)
    error = refusal(checkpoints.rollback_to_checkpoint, plan.plan_id, saved.checkpoint_id)
    assert error is None, (pair, error)
    _compare(pair, wanted, _look(world, root), attached=plan.sandbox.branch is None)
    checkpoints.undo(plan.plan_id)
    _compare(pair, wreck, _look(world, root), attached=plan.sandbox.branch is None)


def _look(world, root):
    status = world.run("git", "status", "--porcelain=v2", "--branch", cwd=root, env=LOOK_ONLY).out
    # Ignored files that are left alone may show as untracked under the rules that return, and
    # HEAD leaves a branch of the agent's that has moved on.
    known = [line for line in status.splitlines() if not line.startswith(("?", "# branch.head"))]
    return comparable(root), walk(root, directories=True), known


def _compare(pair, wanted, found, *, attached):
    there = {path: found[1][path] for path in wanted[0] if path in found[1]}
    extra = {path: entry for path, entry in found[0].items() if path not in wanted[1]}
    differences = file_differences(wanted[0], there | extra)
    assert not differences, (pair, differences)
    # What an attached sandbox has committed stays committed: its branch is the user's.
    if not attached:
        assert wanted[2] == found[2], (pair, wanted[2], found[2])
