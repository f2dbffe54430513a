"""What a rollback neither restores nor removes, and what it cannot bring back, path by path."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from backtrail.domain.rollback import LeftAlone, RevertAction
from backtrail.domain.wording import some_of
from backtrail.git.ignore.eligibility import BESIDE_THE_FILES, NOT_WHOLE, SET_BITS
from backtrail.git.ignore.ignored import IgnoredNames, untouched, with_directories
from backtrail.git.osfiles.paths import is_there
from backtrail.git.user.discovery import nested_head

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from backtrail.domain.checkpoint import NotCaptured
    from backtrail.git.checkpoint.state import SandboxState
    from backtrail.git.restore.plan import FilePlan


def spared(root: Path, ignored: Iterable[str], files: FilePlan) -> list[str]:
    """What of the ignored files stays, as the sandbox is before the restore.

    A directory that was ignored as a whole is one entry, unless something in it is restored.
    """
    return list(untouched(root, ignored, _touched(files)))


def left_alone(
    files: FilePlan, ignored: Iterable[str], not_captured: Iterable[NotCaptured]
) -> tuple[LeftAlone, ...]:
    """Survivors, the ignored files that are spared, and what cannot be captured.

    Chosen ignored files of the goal are as they were, by what was proven of them.
    """
    chosen = {os.fsdecode(entry.path) for entry in files.included}
    found = dict.fromkeys((path for path in ignored if path not in chosen), "ignored")
    found |= files.survivors
    found |= {n.path: n.reason for n in not_captured if n.reason not in (SET_BITS, NOT_WHOLE)}
    touched = _touched(files)
    return tuple(LeftAlone(path, why) for path, why in sorted(found.items()) if path not in touched)


def left_names(root: Path, ignored: Iterable[str], files: FilePlan) -> IgnoredNames:
    """What a restore has left of the ignored files, and other survivors; not the chosen ones."""
    chosen = (os.fsdecode(entry.path) for entry in files.included)
    touched = _touched(files) | with_directories(chosen)
    return IgnoredNames.of((*untouched(root, ignored, touched), *files.survivors))


def gone_since(root: Path, wanted: SandboxState) -> tuple[LeftAlone, ...]:
    """What a checkpoint knew of and did not capture, and what is not there any more.

    Repositories are spoken of for themselves, and of set bits the file itself comes back.
    """
    notes = (n for n in wanted.not_captured if n.reason not in BESIDE_THE_FILES)
    found = {n.path: n.reason for n in notes if not is_there(root, os.fsencode(n.path))}
    ignored = dict.fromkeys(wanted.ignored.gone(root), "ignored")
    return tuple(LeftAlone(path, why) for path, why in sorted((ignored | found).items()))


def _touched(files: FilePlan) -> set[str]:
    """What was restored or removed, also against the ignore rules, and the directories above."""
    return with_directories((*(change.file for change in files.changes), *files.goal.forced))


GONE = "gone since"


def worth_saying(
    root: Path, wanted: SandboxState, before: SandboxState, files: FilePlan
) -> tuple[str, ...]:
    """Sentences about what is different although the files are as they were."""
    return (
        *_about_repositories(root, wanted, before, files),
        *_about_set_bits(wanted, before, files),
    )


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
