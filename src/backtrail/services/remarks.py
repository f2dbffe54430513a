"""What a rollback cannot bring back and has to say: nested repositories, a merge under way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backtrail.domain.rollback import RevertAction

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from backtrail.domain.checkpoint import Checkpoint, NotCaptured
    from backtrail.git.restore import FilePlan
    from backtrail.git.state import SandboxState


def worth_saying(wanted: SandboxState, before: SandboxState, files: FilePlan) -> tuple[str, ...]:
    """Sentences about what is different although the files are as they were."""
    return (*_about_repositories(wanted, before, files), *_about_work_under_way(wanted))


def newly_missing(found: Iterable[NotCaptured], previous: Checkpoint | None) -> Iterator[str]:
    """A sentence for what this checkpoint does not hold and the one before did not speak of."""
    known = previous.not_captured_paths if previous else frozenset[str]()
    fresh = [note for note in found if note.path not in known]
    if fresh:
        more = f" and {len(fresh) - 1} more" if len(fresh) > 1 else ""
        yield f"not captured: {fresh[0].path} ({fresh[0].reason}){more}"


def _about_repositories(
    wanted: SandboxState, before: SandboxState, files: FilePlan
) -> Iterator[str]:
    then, now = wanted.extras.repositories, before.extras.repositories
    for path, head in sorted(then.items()):
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


def _about_work_under_way(wanted: SandboxState) -> Iterator[str]:
    if wanted.under_way:
        yield f"{wanted.under_way} was under way at the checkpoint; it is not under way again"


def _short(head: str) -> str:
    commit, _, branch = head.partition(" ")
    place = commit[:12] if len(commit) >= 40 else head
    return f"{place} ({branch})" if branch and place != head else place
