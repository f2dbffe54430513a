"""Steps about random trees that go round: saved, replaced by another, brought back, undone."""

import os
from dataclasses import dataclass

from behave import then
from hypothesis import given
from hypothesis import strategies as st

from backtrail.domain.checkpoint import CheckpointRequest
from backtrail.domain.errors import NotFoundError, RefusedError
from backtrail.domain.rollback import RollbackRequest
from support.checkpoints.kept_things import Account, account_of, in_the_way
from support.checkpoints.random_trees import make_tree, trees
from support.world.drive import refusal
from support.world.examples import search
from support.world.picture import LOOK_ONLY, file_differences
from support.world.world import World, write_files

IN_A_ROW = 10
# What of the ignored files is captured all the same; read once, before any tree is made.
CHOSEN = (
    ["default"],
    ["default", "ign*"],
    ["default", "a/ign"],
    [],
    ["ign*"],
    ["ign*", "dir/**/ign*"],
    ["ign.txt", "a/ign"],
)
# In which of the rounds one path is brought back alone, and by a number, which one.
PICKS = st.dictionaries(st.integers(0, IN_A_ROW - 1), st.integers(0, 10**6), max_size=2)


@then("{count:d} random trees come back exactly, in a sandbox {kind}")
def _(context, count, kind):
    @search(count, each=IN_A_ROW)
    @given(st.lists(trees, min_size=IN_A_ROW, max_size=IN_A_ROW), st.sampled_from(CHOSEN), PICKS)
    def go_round(row, chosen, picks):
        _go_round(row, chosen, picks, attached=kind == "of the user's own")

    go_round()


def _go_round(row, chosen, picks, *, attached):
    world = World()
    try:
        world.make_repository()
        write_files(world.repo, {"plan.toml": f"[capture]\ninclude_ignored = {chosen}\n"})
        world.with_small_files = "default" in chosen
        with world.services() as services:
            sandbox = world.repo if attached else None
            plan = services.plans.create("auth", sandbox=sandbox).plan
            root = plan.sandbox.path
            (root / "nest").mkdir()
            world.git("init", "--quiet", cwd=root / "nest")
            for number, pair in enumerate(zip(row, (*row[1:], row[0]), strict=True)):
                _there_and_back(world, services.checkpoints, plan, pair, picks.get(number))
    finally:
        world.remove()


def _there_and_back(world, checkpoints, plan, pair, pick):
    root, attached = plan.sandbox.path, plan.sandbox.branch is None
    make_tree(world, root, pair[0])
    saved = checkpoints.create_checkpoint(plan.plan_id, CheckpointRequest())
    wanted = _look(world, root)
    make_tree(world, root, pair[1])
    wreck = _look(world, root)
    told = _result_of(checkpoints, plan, saved, dry_run=True)
    done = _result_of(checkpoints, plan, saved)
    error = done if isinstance(done, Exception) else None
    assert _summary(told) == _summary(done), (pair, told, done)
    if error is not None:
        assert isinstance(error, RefusedError), (pair, error)
        assert in_the_way(wanted.account, wreck.account, ignored=True), (pair, error)
        assert _look(world, root) == wreck, (pair, "refused, and yet something changed")
        return
    assert not in_the_way(wanted.account, wreck.account), (pair, "not refused")
    _compare(pair, wanted, _look(world, root), attached=attached)
    checkpoints.undo(plan.plan_id)
    back = _look(world, root)
    _compare(pair, wreck, back, attached=attached)
    # Undo owes all of it, ignored or not: what was left alone is there, what was replaced, too.
    _same(pair, wreck, back)
    if pick is not None:
        paths = sorted({*wanted.account.everything, *wreck.account.everything})
        _one_path(world, checkpoints, plan, (*pair, paths[pick % len(paths)]), saved, wanted, back)


def _one_path(world, checkpoints, plan, case, saved, wanted, wreck):
    """One path alone, its undo, redo and undo again; all else stays as it is."""
    root, path = plan.sandbox.path, case[-1]
    paths = (os.fsdecode(path),)
    told = _result_of(checkpoints, plan, saved, RollbackRequest(paths), dry_run=True)
    done = _result_of(checkpoints, plan, saved, RollbackRequest(paths))
    assert _summary(told) == _summary(done), (case, told, done)
    partial = _look(world, root)
    if isinstance(done, Exception):
        assert isinstance(done, (RefusedError, NotFoundError)), (case, done)
        assert partial == wreck, (case, "refused, and yet something changed")
        return
    due = {p: e for p, e in wanted.account.owed.items() if p == path or p.startswith(path + b"/")}
    there = {p: partial.account.everything[p] for p in due if p in partial.account.everything}
    assert not file_differences(due, there), (case, file_differences(due, there))
    for act, state in ((checkpoints.undo, wreck), (checkpoints.redo, partial)):
        act(plan.plan_id)
        _same(case, state, _look(world, root))
    checkpoints.undo(plan.plan_id)
    _same(case, wreck, _look(world, root))


def _same(case, wanted, found):
    differences = file_differences(wanted.account.everything, found.account.everything)
    assert not differences, (case, differences)


def _result_of(checkpoints, plan, saved, request=None, **how):
    """What came of a rollback: a result, or the reason why not."""
    roll_back = checkpoints.rollback_to_checkpoint
    results = []

    def go():
        results.append(roll_back(plan.plan_id, saved.checkpoint_id, request, **how))

    return refusal(go) or results[0]


def _summary(result):
    """What a dry run has to know beforehand."""
    if isinstance(result, Exception):
        return str(result)
    return result.changes, result.left_alone, result.messages


@dataclass(frozen=True)
class Look:
    """Files by a walk, and what git says of index and HEAD, and of the files if it can."""

    account: Account
    staged: str
    status: list[str]


def _look(world, root):
    def ask(*words):
        return world.run("git", *words, cwd=root, env=LOOK_ONLY).out

    status = ask("status", "--porcelain=v2", "--branch")
    # Ignored files that are left alone may show as untracked under the rules that return, and
    # HEAD leaves a branch of the agent's that has moved on.
    known = [line for line in status.splitlines() if not line.startswith(("?", "# branch.head"))]
    staged = ask("ls-files", "--stage", "-v", "-z") + ask("diff", "--cached", "--raw", "-z")
    return Look(account_of(root, with_small=world.with_small_files), staged, known)


def _compare(pair, wanted, found, *, attached):
    before, now = wanted.account, found.account
    there = {path: now.everything[path] for path in before.owed if path in now.everything}
    extra = {path: e for path, e in now.captured.items() if not before.may_hold(path)}
    differences = file_differences(before.owed, there | extra)
    assert not differences, (pair, differences)
    # What an attached sandbox has committed stays committed: its branch is the user's.
    if not attached:
        assert wanted.staged == found.staged, (pair, wanted.staged, found.staged)
        # A pipe or a repository that nobody brings back shows in git's account of the files.
        if not (before.pipes or before.repositories or now.pipes or now.repositories):
            assert wanted.status == found.status, (pair, wanted.status, found.status)
