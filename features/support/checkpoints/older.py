"""Checkpoints as older versions wrote them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from support.world import audit

if TYPE_CHECKING:
    from collections.abc import Iterable

    from backtrail.domain.checkpoint import Checkpoint
    from support.world.world import World


def take_out(world: World, checkpoint: Checkpoint, keys: Iterable[str]) -> None:
    """Put another commit in the place of a checkpoint's, whose state says nothing of these."""

    def git(*words: str, stdin: str | None = None) -> str:
        ran = world.run("git", f"--git-dir={world.store}", *words, stdin=stdin)
        return ran.ok().out.strip()

    def anew(commit: str, tree: str, parents: Iterable[str]) -> str:
        message = git("log", "-1", "--format=%B", commit)
        words = [word for parent in parents for word in ("-p", parent)]
        return git("commit-tree", *words, tree, stdin=f"{message}\n")

    commit = checkpoint.sandbox_ref or ""
    *before, state = git("rev-parse", f"{commit}^@").split()
    document = json.loads(git("cat-file", "blob", f"{state}:state.json"))
    older = {key: value for key, value in document.items() if key not in keys}
    blob = git("hash-object", "-w", "--stdin", stdin=json.dumps(older))
    was = git("rev-parse", f"{state}:state.json")
    listed = f"{git('ls-tree', state)}\n".replace(was, blob)
    past = git("rev-parse", f"{state}^@").split()
    new = anew(commit, git("rev-parse", f"{commit}^{{tree}}"), [
        *before, anew(state, git("mktree", stdin=listed), past)
    ])  # fmt: skip
    ref = f"refs/backtrail/{checkpoint.resource_id}/{checkpoint.checkpoint_id}"
    git("update-ref", ref, new)
    sql = "UPDATE checkpoint_metadata SET sandbox_ref = ? WHERE checkpoint_id = ?"
    assert audit.change(world, sql, new, checkpoint.checkpoint_id) == 1
