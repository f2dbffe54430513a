"""A checkpoint as a commit: its files as the tree, and a last parent for all that is no file.

First parent: the sandbox's base commit, if it has one. Last parent: the state commit. The message
describes the row completely, so that the rows can be rebuilt from the refs alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from backtrail.domain.errors import GitFailedError
from backtrail.domain.ids import CommitId, TreeId
from backtrail.git.checkpoint.state import Captured, read_state
from backtrail.git.store.store import PrivateStore

_SUBJECT_LENGTH = 100


@dataclass(frozen=True, slots=True)
class CheckpointCommit:
    """A checkpoint's commit, read back."""

    commit: CommitId
    captured: Captured
    facts: Mapping[str, Any]


def write_checkpoint(
    store: PrivateStore,
    captured: Captured,
    *,
    base: CommitId | None,
    subject: str,
    facts: Mapping[str, Any],
    created_at: datetime,
) -> CommitId:
    """Write the checkpoint's commit; nothing refers to it yet."""
    parents = [parent for parent in (base, captured.state_commit) if parent]
    stamp = f"@{int(created_at.timestamp())} +0000"
    output = store.git().call(
        "commit-tree", "--no-gpg-sign", *(w for p in parents for w in ("-p", p)), captured.tree,
        stdin=f"{_one_line(subject)}\n\n{json.dumps(facts, sort_keys=True)}\n".encode(),
        extra={"GIT_AUTHOR_DATE": stamp, "GIT_COMMITTER_DATE": stamp},
    )  # fmt: skip
    return CommitId(output.text)


def _one_line(text: str) -> str:
    printable = "".join(c if c.isprintable() else " " for c in text)
    return printable[:_SUBJECT_LENGTH].strip() or "checkpoint"


def read_checkpoint(store: PrivateStore, commit: CommitId) -> CheckpointCommit:
    """What was captured and what is said about it; the inverse of `write_checkpoint`."""
    raw = store.git().call("cat-file", "commit", commit).stdout
    header, _, message = raw.partition(b"\n\n")
    lines = [line.split(b" ", 1) for line in header.split(b"\n") if b" " in line]
    parents = [value.decode() for key, value in lines if key == b"parent"]
    trees = [value.decode() for key, value in lines if key == b"tree"]
    if not parents or not trees:
        raise GitFailedError(f"commit {commit} is not a checkpoint")
    state_commit = CommitId(parents[-1])
    try:
        captured = Captured(TreeId(trees[0]), state_commit, read_state(store, state_commit))
        facts = json.loads(message.split(b"\n", 2)[2])
    except (IndexError, KeyError, TypeError, ValueError) as error:
        raise GitFailedError(f"commit {commit} is not a checkpoint of ours") from error
    return CheckpointCommit(commit, captured, facts)
