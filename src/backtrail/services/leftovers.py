"""What a rollback neither restores nor removes, and what is gone, told path by path."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from backtrail.domain.rollback import LeftAlone
from backtrail.git.ignored import IgnoredNames, untouched, with_directories
from backtrail.git.paths import is_there
from backtrail.git.storable import NESTED, SET_BITS

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from backtrail.domain.checkpoint import NotCaptured
    from backtrail.git.restore import FilePlan
    from backtrail.git.state import SandboxState


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
    found |= {entry.path: entry.reason for entry in not_captured if entry.reason != SET_BITS}
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
    notes = (n for n in wanted.not_captured if n.reason not in (NESTED, SET_BITS))
    found = {n.path: n.reason for n in notes if not is_there(root, os.fsencode(n.path))}
    ignored = dict.fromkeys(wanted.ignored.gone(root), "ignored")
    return tuple(LeftAlone(path, why) for path, why in sorted((ignored | found).items()))


def _touched(files: FilePlan) -> set[str]:
    """What was restored or removed, also against the ignore rules, and the directories above."""
    return with_directories((*(change.file for change in files.changes), *files.goal.forced))
