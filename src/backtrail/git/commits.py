"""A checkpoint as a commit: its files as the tree, and a second parent for all that is no file.

First parent: the sandbox's base commit, if it has one. Last parent: the state commit, whose tree
holds the raw index, HEAD, the ignore text and the list of what was not captured, and whose own
parents keep commits of the user's reachable. The message describes the row completely, so that
the rows can be rebuilt from the refs alone.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from backtrail.domain.checkpoint import NotCaptured
from backtrail.domain.errors import GitFailedError
from backtrail.domain.ids import CommitId, TreeId
from backtrail.git.capture import Captured
from backtrail.git.gitstate import GitState, UserIndex
from backtrail.git.state_parts import EXCLUDES, INDEX
from backtrail.git.trees import list_tree, read_blobs

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from backtrail.git.store import PrivateStore

STATE_FORMAT = 1
_STATE, _STAGED = "state.json", "staged"
_SUBJECT_LENGTH = 100


@dataclass(frozen=True, slots=True)
class WrittenCheckpoint:
    """The two commits of a checkpoint."""

    commit: CommitId
    state_commit: CommitId


@dataclass(frozen=True, slots=True)
class CheckpointCommit(WrittenCheckpoint):
    """A checkpoint's commit, read back."""

    tree: TreeId
    facts: Mapping[str, Any]


def write_checkpoint(
    store: PrivateStore,
    captured: Captured,
    *,
    base: CommitId | None,
    subject: str,
    facts: Mapping[str, Any],
    created_at: datetime,
) -> WrittenCheckpoint:
    """Write the state commit and the checkpoint's commit; nothing refers to them yet."""
    dates = _dates(created_at)
    state_tree = _write_state_tree(store, captured)
    state = captured.git_state
    heads = dict.fromkeys(c for c in (state.head_commit, state.branch_commit) if c and c != base)
    state_commit = _commit(store, state_tree, list(heads), "backtrail state\n", dates)
    parents = [base, state_commit] if base else [state_commit]
    message = f"{_one_line(subject)}\n\n{json.dumps(facts, sort_keys=True)}\n"
    commit = _commit(store, captured.tree, parents, message, dates)
    return WrittenCheckpoint(commit, state_commit)


def _commit(
    store: PrivateStore, tree: str, parents: list[CommitId], message: str, dates: dict[str, str]
) -> CommitId:
    flags = [word for parent in parents for word in ("-p", parent)]
    output = store.git().call(
        "commit-tree", "--no-gpg-sign", *flags, tree, stdin=message.encode(), extra=dates
    )
    return CommitId(output.text)


def _dates(moment: datetime) -> dict[str, str]:
    stamp = f"@{int(moment.timestamp())} +0000"
    return {"GIT_AUTHOR_DATE": stamp, "GIT_COMMITTER_DATE": stamp}


def _one_line(text: str) -> str:
    printable = "".join(c if c.isprintable() else " " for c in text)
    return printable[:_SUBJECT_LENGTH].strip() or "checkpoint"


def _write_state_tree(store: PrivateStore, captured: Captured) -> str:
    blobs = {**captured.blobs, _STATE: _store_blob(store, _encode_state(captured))}
    lines = [f"100644 blob {blob}\t{name}" for name, blob in blobs.items()]
    if captured.staged:
        # By content id: a pin that keeps staged blobs, not a second copy of the paths.
        staged = _make_tree(store, [f"100644 blob {blob}\t{blob}" for blob in captured.staged])
        lines.append(f"040000 tree {staged}\t{_STAGED}")
    return _make_tree(store, lines)


def _store_blob(store: PrivateStore, content: bytes) -> str:
    return store.git().call("hash-object", "-w", "--no-filters", "--stdin", stdin=content).text


def _make_tree(store: PrivateStore, lines: list[str]) -> str:
    return store.git().call("mktree", stdin="".join(f"{x}\n" for x in lines).encode()).text


def _encode_state(captured: Captured) -> bytes:
    state = captured.git_state
    document = {
        "format": STATE_FORMAT,
        "head": {"ref": state.head_ref, "commit": state.head_commit},
        "branch": {"name": state.branch, "commit": state.branch_commit},
        "index": {"mtime_ns": state.index.mtime_ns} if state.index else None,
        "not_captured": [asdict(entry) for entry in captured.not_captured],
        "forced": list(captured.forced),
    }
    # Names that are no UTF-8 travel as escaped lone surrogates.
    return json.dumps(document, sort_keys=True).encode("ascii")


def read_checkpoint(store: PrivateStore, commit: CommitId) -> CheckpointCommit:
    """The commit's tree, state commit and the facts in its message."""
    raw = store.git().call("cat-file", "commit", commit).stdout
    header, _, message = raw.partition(b"\n\n")
    lines = [line.split(b" ", 1) for line in header.split(b"\n") if b" " in line]
    parents = [value.decode() for key, value in lines if key == b"parent"]
    trees = [value.decode() for key, value in lines if key == b"tree"]
    if not parents or not trees:
        raise GitFailedError(f"commit {commit} is not a checkpoint")
    facts = json.loads(message.split(b"\n", 2)[2])
    return CheckpointCommit(commit, CommitId(parents[-1]), TreeId(trees[0]), facts)


def read_captured(store: PrivateStore, checkpoint: CheckpointCommit) -> Captured:
    """What was captured, as it was; the inverse of `write_checkpoint`."""
    entries = {os.fsdecode(e.path): e.object_id for e in list_tree(store, checkpoint.state_commit)}
    names = [name for name in (_STATE, EXCLUDES, INDEX) if name in entries]
    contents = dict(zip(names, read_blobs(store, [entries[n] for n in names]), strict=True))
    document = json.loads(contents[_STATE])
    index = document["index"]
    return Captured(
        tree=checkpoint.tree,
        git_state=GitState(
            head_ref=document["head"]["ref"],
            head_commit=document["head"]["commit"],
            branch=document["branch"]["name"],
            branch_commit=document["branch"]["commit"],
            index=UserIndex(contents[INDEX], index["mtime_ns"]) if index else None,
        ),
        excludes=contents[EXCLUDES],
        staged=tuple(i for path, i in entries.items() if path.startswith(_STAGED + "/")),
        not_captured=tuple(NotCaptured(**entry) for entry in document["not_captured"]),
        forced=tuple(document["forced"]),
        blobs={name: entries[name] for name in names if name != _STATE},
    )
