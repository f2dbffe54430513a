"""What a rollback cannot bring back and has to say: repositories, what was not captured."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from backtrail.domain.rollback import RevertAction
from backtrail.domain.wording import some_of
from backtrail.git.nested import nested_head
from backtrail.git.storable import SET_BITS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from backtrail.domain.checkpoint import Checkpoint, NotCaptured
    from backtrail.domain.rollback import LeftAlone
    from backtrail.git.restore import FilePlan
    from backtrail.git.state import SandboxState

GONE = "gone since"


def worth_saying(
    root: Path, wanted: SandboxState, before: SandboxState, files: FilePlan
) -> tuple[str, ...]:
    """Sentences about what is different although the files are as they were."""
    return (
        *_about_repositories(root, wanted, before, files),
        *_about_set_bits(wanted, before, files),
    )


def newly_missing(found: Iterable[NotCaptured], previous: Checkpoint | None) -> Iterator[str]:
    """A sentence for what this checkpoint does not hold and the one before did not speak of."""
    known = previous.not_captured_paths if previous else frozenset[str]()
    fresh = [note for note in found if note.path not in known]
    if fresh:
        more = f" and {len(fresh) - 1} more" if len(fresh) > 1 else ""
        yield f"not captured: {fresh[0].path} ({fresh[0].reason}){more}"


def _about_repositories(
    root: Path, wanted: SandboxState, before: SandboxState, files: FilePlan
) -> Iterator[str]:
    then, now = wanted.extras.repositories, dict(before.extras.repositories)
    for path, head in sorted(then.items()):
        # One that is ignored by now was not looked for, and is there all the same.
        if path not in now and (found := nested_head(root, os.fsencode(path))):
            now[path] = found
        if path not in now:
            yield f"the repository in {path}/ has been deleted since: only its files come back"
        elif now[path] != head:
            yield f"the repository in {path}/ was at {_short(head)}; its HEAD is not moved back"
    for path in sorted(now.keys() - then.keys()):
        yield f"the repository in {path}/ was made since: {_fate(path, files)}"


def _fate(repository: str, files: FilePlan) -> str:
    """What becomes of a repository that the target does not have."""
    removed = (c.file for c in files.changes if c.action is RevertAction.REMOVED)
    if not any(path.startswith(f"{repository}/") for path in removed):
        return "it stays"
    if any(path.startswith(f"{repository}/") for path in files.survivors):
        return "its files go but for those left alone, its .git stays"
    return "its files go, its .git stays"


def about_what_is_gone(
    wanted: SandboxState, gone: Sequence[LeftAlone], words: str = GONE
) -> Iterator[str]:
    """Sentences about what was there at the checkpoint, is in none, and is not there now."""
    if gone:
        yield f"not captured at the checkpoint, and {words}: {some_of([p.file for p in gone])}"
    if wanted.ignored.more:
        yield (
            f"the names of {wanted.ignored.more} more ignored files were not kept: "
            "whether they are still there is not known"
        )


def _about_set_bits(wanted: SandboxState, before: SandboxState, files: FilePlan) -> Iterator[str]:
    """Those that were there, unless they are there still and nobody writes the file."""
    written = {c.file for c in files.changes if c.action is RevertAction.RESTORED}
    kept = _with_set_bits(before) - written
    lost = sorted(_with_set_bits(wanted) - kept)
    if lost:
        yield f"set-id and sticky bits were not captured: {some_of(lost)}"


def _with_set_bits(state: SandboxState) -> set[str]:
    return {note.path for note in state.not_captured if note.reason == SET_BITS}


def _short(head: str) -> str:
    commit, _, branch = head.partition(" ")
    place = commit[:12] if len(commit) >= 40 else head
    return f"{place} ({branch})" if branch and place != head else place
