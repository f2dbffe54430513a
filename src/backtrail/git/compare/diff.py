"""What differs between two trees."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence

from backtrail.domain.ids import CommitId
from backtrail.domain.rollback import DiffAction, FileChange
from backtrail.git.process.runner import GitRunner
from backtrail.git.store.store import PrivateStore

_ACTIONS = {
    b"A": DiffAction.ADDED,
    b"D": DiffAction.DELETED,
    b"M": DiffAction.MODIFIED,
    b"T": DiffAction.TYPE_CHANGED,
}
_SAFELY = ("--no-ext-diff", "--no-textconv", "--no-renames")


def changed_files(store: PrivateStore, old: str, new: str) -> tuple[FileChange, ...]:
    """Every path that differs, with what happened to it and how many lines changed."""
    return changes_shown_by(store.git(), old, new)


def changes_shown_by(git: GitRunner, old: str, new: str) -> tuple[FileChange, ...]:
    """The same for any repository."""
    output = git.call("diff-tree", "-r", "-z", "--raw", "--numstat", *_SAFELY, old, new)
    records = iter(output.records())
    actions = dict[bytes, DiffAction]()
    changes: list[FileChange] = []
    for record in records:
        if record.startswith(b":"):
            actions[next(records)] = _action(record)
        else:
            added, removed, path = record.split(b"\t", 2)
            changes.append(
                FileChange(os.fsdecode(path), actions[path], _count(added), _count(removed))
            )
    return tuple(changes)


def _action(raw: bytes) -> DiffAction:
    old_mode, new_mode, old_id, new_id, status = raw[1:].split(b" ")
    if status == b"M" and old_id == new_id and old_mode != new_mode:
        return DiffAction.MODE_CHANGED
    return _ACTIONS[status]


def _count(text: bytes) -> int | None:
    return None if text == b"-" else int(text)


def patch_text(store: PrivateStore, old: str, new: str) -> str:
    """The difference as a patch that git apply understands."""
    output = store.git().call("diff-tree", "-r", "-p", "--binary", *_SAFELY, old, new)
    return os.fsdecode(output.stdout)


def differing_paths(store: PrivateStore, old: str, new: str) -> Iterator[bytes]:
    output = store.git().call("diff-tree", "-r", "-z", "--name-only", "--no-renames", old, new)
    yield from output.records()


def changed_file_counts(
    store: PrivateStore, pairs: Sequence[tuple[CommitId, CommitId]]
) -> dict[CommitId, int]:
    """How many files differ between a commit and an older one, by the commit; by one process.

    A commit that cannot be compared, since objects are missing, is left out. Git stops at such a
    one, so it is skipped and git asked again for the rest.
    """
    counts: dict[CommitId, int] = {}
    waiting = list(pairs)
    while waiting:
        asked = "".join(f"{commit} {older}\n" for commit, older in waiting).encode()
        output = store.git().run(
            "diff-tree", "--stdin", "--always", "-r", "-z", "--raw", *_SAFELY, stdin=asked
        )
        counts |= _counted(output.records())
        waiting = _behind_the_unread_one(waiting, counts) if output.code else []
    return counts


def _behind_the_unread_one(
    asked: Sequence[tuple[CommitId, CommitId]], counts: Mapping[CommitId, int]
) -> list[tuple[CommitId, CommitId]]:
    return [pair for pair in asked if pair[0] not in counts][1:]


def _counted(records: Sequence[bytes]) -> dict[CommitId, int]:
    """Raw records: a commit's id, then two for each file that differs, `:…` and the path."""
    counts: dict[CommitId, int] = {}
    commit = CommitId("")
    following = iter(records)
    for record in following:
        if record.startswith(b":"):
            next(following, None)
            counts[commit] += 1
        else:
            commit = CommitId(record.decode())
            counts[commit] = 0
    return counts
