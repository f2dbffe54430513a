"""What only the user's index names, or git's notes do, so that it survives their gc."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from backtrail.domain.checkpoint import NotCaptured
from backtrail.domain.ids import CommitId
from backtrail.git.ignore.eligibility import NOT_WHOLE
from backtrail.git.process.runner import RunningGit
from backtrail.git.store.objects import GITLINK, RAW_CHANGE, empty_tree
from backtrail.git.store.store import PrivateStore, scratch_directory
from backtrail.git.user.head import GitState
from backtrail.git.user.merge_state import MergeState
from backtrail.git.user.transfer import Brought, bring_objects


@dataclass(frozen=True, slots=True)
class StagedScan:
    """A comparison of the user's index with HEAD that is under way."""

    store: PrivateStore
    user_index: Path | None
    running: RunningGit | None

    def bring(self) -> tuple[str, ...]:
        """The blobs that the index holds and HEAD does not, brought into the store."""
        found = self._blobs()
        bring_objects(self.store, found)
        return tuple(found)

    def _blobs(self) -> list[str]:
        if self.running is None:
            return []
        found: dict[str, None] = {}
        unmerged = False
        for record in self.running.finish().checked().records()[::2]:
            match = RAW_CHANGE.match(record)
            if match is None or match[1] == GITLINK:
                continue
            unmerged = unmerged or match[3] == b"U"
            if set(match[2]) != {ord("0")}:
                found[match[2].decode()] = None
        if unmerged:
            found.update(dict.fromkeys(self._unmerged_stages()))
        return list(found)

    def _unmerged_stages(self) -> list[str]:
        output = self.store.git(index=self.user_index).call("ls-files", "-u", "-z")
        words = (record.split(b"\t")[0].split(b" ") for record in output.records())
        return [object_id.decode() for mode, object_id, _ in words if mode != GITLINK]


def start_staged_scan(
    store: PrivateStore, user_index: Path | None, head: CommitId | None
) -> StagedScan:
    if user_index is None:
        return StagedScan(store, None, None)
    tree = head or empty_tree(store.id_length())
    running = store.git(index=user_index).start(
        "diff-index", "--cached", "--raw", "-z", "--no-abbrev", "--no-renames",
        "--ignore-submodules=all", tree, "--",
    )  # fmt: skip
    return StagedScan(store, user_index, running)


def staged_blobs(store: PrivateStore, state: GitState) -> tuple[str, ...]:
    """The blobs that an index names and its HEAD does not, brought into the store."""
    if state.index is None:
        return ()
    with scratch_directory(store) as directory:
        copy = directory / "index"
        copy.write_bytes(state.index.content)
        return start_staged_scan(store, copy, state.head_commit).bring()


def not_whole(merge: MergeState, brought: Brought) -> list[NotCaptured]:
    """A note for each file of git's that names what could not be brought into the store."""
    goes_by = merge.goes_by
    absent = (goes_by[name] for name in brought.absent if name in goes_by)
    paths = sorted({*merge.naming({*brought.broken}), *absent})
    return [NotCaptured(f".git/{path}", NOT_WHOLE) for path in paths]
