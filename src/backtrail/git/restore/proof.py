"""The proof of a restore: an independent second look that must find the goal and nothing else.

It shares no code with the snapshot. Every path is walked and every mode, kind and link compared;
contents are hashed anew, except those of files that nobody has touched since the safety
checkpoint read them.
"""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from backtrail.domain.checkpoint import NotCaptured
from backtrail.domain.plan import Sandbox
from backtrail.domain.rollback import RevertAction
from backtrail.git.ignore.eligibility import BESIDE_THE_FILES, NESTED, SET_BITS, SPECIAL
from backtrail.git.ignore.evaluate import ignored_at
from backtrail.git.metadata.cache import InventoryMemo
from backtrail.git.metadata.inventory import proven_inventory
from backtrail.git.osfiles.beneath import PERMISSIONS, parents_of
from backtrail.git.osfiles.paths import is_there
from backtrail.git.osfiles.plain_files import NotPlainError, open_plain
from backtrail.git.osfiles.walk import DiskWalk, look_for, walk_disk
from backtrail.git.restore.metadata import directories_and_root, directories_of, with_slash
from backtrail.git.restore.plan import FilePlan
from backtrail.git.store.objects import TreeEntry
from backtrail.git.store.store import PrivateStore
from backtrail.git.user.discovery import nested_head

# Not those of the capture: the proof shares nothing with what it judges.
_HASHES = {40: "sha1", 64: "sha256"}
_CHUNK = 1 << 20
_KIND_AND_PERMISSIONS = 0o170777


@dataclass(frozen=True, slots=True)
class FileProof:
    """What the second look found."""

    wrong: tuple[str, ...]
    """Paths that are not as they should be; directories with a slash."""
    not_captured: tuple[NotCaptured, ...]
    inventory: InventoryMemo
    """What was seen, for the next capture."""

    @property
    def repositories(self) -> Mapping[str, str]:
        return self.inventory.extras.repositories


def prove_files(
    store: PrivateStore, sandbox: Sandbox, plan: FilePlan, spared: Sequence[str], since_ns: int
) -> FileProof:
    """Walk the sandbox and compare it with the goal.

    Besides the goal there may be what was ignored before the restore (`spared`, a directory with
    a trailing slash), survivors, what could not be captured, and what the goal's own rules ignore.
    Files untouched since `since_ns`, when the present began to be read, are what was found then.
    """
    return _Prover(store, sandbox, plan, spared, since_ns).proof()


@dataclass(slots=True)
class _Prover:
    store: PrivateStore
    sandbox: Sandbox
    plan: FilePlan
    spared: Sequence[str]
    since_ns: int

    def proof(self) -> FileProof:
        goal, now_ns = self.plan.goal, time.time_ns()
        files = self.plan.files
        wanted = {entry.path: entry for entry in (*files, *self.plan.included)}
        directories = directories_and_root(wanted, goal.extras)
        seen = walk_disk(self.sandbox.path, _whole(self.spared) - directories - wanted.keys())
        look_for(self.sandbox.path, seen, directories, wanted)
        unexpected = self._unexpected(seen, wanted)
        # A restore neither makes nor removes what is neither file, link nor directory.
        special = unexpected.intersection(seen.special)
        removed = (c.file for c in self.plan.changes if c.action is RevertAction.REMOVED)
        wrong = self._wrong_files(seen, wanted) | unexpected - special
        wrong |= seen.files.keys() & set(map(os.fsencode, removed))
        wrong |= {with_slash(path) for path in self._wrong_directories(seen, directories)}
        repositories = self._repositories(seen)
        return FileProof(
            wrong=tuple(os.fsdecode(path) for path in sorted(wrong)),
            not_captured=(
                *self._not_captured(seen, wanted, repositories),
                *(NotCaptured(os.fsdecode(path), SPECIAL) for path in sorted(special)),
            ),
            inventory=proven_inventory(
                seen,
                replace(goal.extras, repositories=repositories),
                {entry.path for entry in files},
                self._noted_directories(),
                now_ns,
            ),
        )

    def _noted_directories(self) -> set[bytes]:
        """Those that a capture from scratch would know: not those of chosen ignored files alone."""
        extras = self.plan.goal.extras
        found = directories_of([entry.path for entry in self.plan.files], extras)
        return {b"", *found}.difference(map(os.fsencode, extras.standing))

    def _wrong_files(self, seen: DiskWalk, wanted: Mapping[bytes, TreeEntry]) -> set[bytes]:
        """Files and links that are missing, of another kind or mode, or of other content."""
        extras, since = self.plan.goal.extras, self.since_ns
        odd = {os.fsencode(path): mode for path, mode in extras.file_modes.items()}
        usual = {b"100644": extras.usual.file, b"100755": extras.usual.executable}
        look = seen.files.get
        wrong: set[bytes] = set()
        # One loop over very many files: what holds for nearly all of them is decided first.
        for path, entry in wanted.items():
            found, kind = look(path), entry[0]
            if found is None or kind not in usual:
                right = found is not None and self._is_right_link(entry, found)
            elif found.st_mode & _KIND_AND_PERMISSIONS != stat.S_IFREG | odd.get(path, usual[kind]):
                right = False
            else:
                untouched = found.st_ctime_ns < since and found.st_mtime_ns < since
                right = untouched or _has_content(self._at(entry), found.st_size, entry)
            if not right:
                wrong.add(path)
        return wrong

    def _is_right_link(self, entry: TreeEntry, found: os.stat_result) -> bool:
        try:
            return stat.S_ISLNK(found.st_mode) and _hashed([os.readlink(self._at(entry))], entry)
        except OSError:
            # Gone meanwhile, or something else.
            return False

    def _at(self, entry: TreeEntry) -> bytes:
        return os.path.join(os.fsencode(self.sandbox.path), entry.path)

    def _unexpected(self, seen: DiskWalk, wanted: Mapping[bytes, TreeEntry]) -> set[bytes]:
        """Files and empty directories that the goal does not have and that may not be there."""
        goal = self.plan.goal
        unsaved = (note.path for note in self.plan.not_captured if note.reason != SET_BITS)
        may_be_there = (*self.spared, *self.plan.survivors, *unsaved)
        allowed = {os.fsencode(path).rstrip(b"/") for path in may_be_there}
        files = [p for p in seen.files if p not in wanted and _is_outside(p, allowed)]
        empty = seen.empty.difference(map(os.fsencode, goal.extras.bare_directories))
        extra = {*files, *(d + b"/" for d in empty if _is_outside(d, allowed))}
        return extra - ignored_at(self.store, self.plan.files, goal.ignore_rules, sorted(extra))

    def _wrong_directories(self, seen: DiskWalk, wanted: Iterable[bytes]) -> set[bytes]:
        extras, staying = self.plan.goal.extras, self.plan.extras.staying
        modes = {path: found.st_mode & PERMISSIONS for path, found in seen.directories.items()}
        wrong = {p for p in wanted if modes.get(p) != extras.directory_mode(os.fsdecode(p))}
        return wrong | {path for path, mode in staying.items() if modes.get(path, mode) != mode}

    def _repositories(self, seen: DiskWalk) -> dict[str, str]:
        places = (path.rpartition(b"/")[0] for path in seen.git)
        heads = ((os.fsdecode(p), nested_head(self.sandbox.path, p)) for p in sorted(places))
        return {place: head for place, head in heads if head is not None}

    def _not_captured(
        self,
        seen: DiskWalk,
        wanted: Mapping[bytes, TreeEntry],
        repositories: Mapping[str, str],
    ) -> tuple[NotCaptured, ...]:
        """What is there and in no checkpoint, for the record of the restored state."""
        left = [
            note
            for note in self.plan.not_captured
            if note.reason not in BESIDE_THE_FILES
            and os.fsencode(note.path) not in wanted
            and is_there(self.sandbox.path, os.fsencode(note.path))
        ]
        odd = (path for path in seen.with_set_bits if path in wanted)
        return (
            *left,
            *(NotCaptured(f"{place}/.git", NESTED) for place in repositories),
            *(NotCaptured(os.fsdecode(path), SET_BITS) for path in sorted(odd)),
        )


def _whole(spared: Iterable[str]) -> set[bytes]:
    """Directories that were ignored as a whole: nothing in them is the goal's business."""
    return {os.fsencode(path).rstrip(b"/") for path in spared if path.endswith("/")}


def _is_outside(path: bytes, allowed: set[bytes]) -> bool:
    return allowed.isdisjoint((path, *parents_of(path)))


def _has_content(path: bytes, size: int, entry: TreeEntry) -> bool:
    try:
        with open_plain(path, follow=False) as file:
            return _hashed(iter(lambda: file.read(_CHUNK), b""), entry, size)
    except (OSError, NotPlainError):
        # Gone or unreadable meanwhile: not what was asked for.
        return False


def _hashed(chunks: Iterable[bytes], entry: TreeEntry, size: int | None = None) -> bool:
    """Whether content is that of a blob, by git's own way of naming blobs."""
    parts = list(chunks) if size is None else chunks
    length = sum(map(len, parts)) if isinstance(parts, list) else size
    found = hashlib.new(_HASHES[len(entry.object_id)], usedforsecurity=False)
    found.update(b"blob %d\0" % length)
    for chunk in parts:
        found.update(chunk)
    return found.hexdigest() == entry.object_id
