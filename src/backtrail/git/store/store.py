"""The private object store: one bare repository per user repository, which only we write.

It exists so that a snapshot is byte-exact whatever attributes and filters say, and so that the
user's gc, hooks and configuration cannot touch a checkpoint.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from backtrail.domain.errors import NoSpaceError, RefusedError, StorageError
from backtrail.domain.ids import CheckpointId, CommitId, SandboxId
from backtrail.domain.wording import some_of
from backtrail.git.osfiles.durable import fsync_tree, is_plain, read_own, write_durably
from backtrail.git.osfiles.locks import exclusive_lock
from backtrail.git.osfiles.walk import delete_tree
from backtrail.git.process.environment import (
    STORE_SETTINGS,
    quoted_path,
    scrubbed_environment,
    store_environment,
)
from backtrail.git.process.runner import GitRunner, RunningGit
from backtrail.git.store.elsewhere import Elsewhere
from backtrail.git.store.linking import link_objects
from backtrail.git.store.mending import mend, put_right_notice
from backtrail.git.store.own_files import (
    StoreRecord,
    adopted_record,
    altered_files,
    boundary_text,
    move_aside,
    read_record,
    rewrite,
    with_boundary,
    write_own_files,
)
from backtrail.git.store.presence import join

REF_ROOT = "refs/backtrail"
_REF_SIZES = (41, 65)
_SHORT_WAIT = 30.0
# How git says that an object is not there, as opposed to any other reason to fail.
_MISSING = (b"missing", b"bad object", b"Could not read", b"unable to read", b"bad tree object")


@dataclass(frozen=True, slots=True)
class StoreLayout:
    """Where things are below the home directory of one repository's checkpoints."""

    home: Path

    @property
    def git_dir(self) -> Path:
        return self.home / "store.git"

    @property
    def indexes(self) -> Path:
        return self.home / "index"

    @property
    def locks(self) -> Path:
        return self.home / "locks"

    @property
    def scratch(self) -> Path:
        return self.home / "scratch"

    @property
    def staging(self) -> Path:
        return self.home / "staging"

    def sandbox_index(self, sandbox: SandboxId) -> Path:
        return self.indexes / sandbox

    def trash(self, sandbox: SandboxId) -> Path:
        """Where a removed sandbox is set aside, if it lies on the same file system."""
        return self.home / "trash" / sandbox

    def sandbox_lock(self, sandbox: SandboxId) -> Path:
        return self.locks / f"{sandbox}.lock"

    @property
    def record(self) -> Path:
        """A second copy of what the store was made with."""
        return self.home / "store.json"

    @property
    def aside(self) -> Path:
        """Where goes what should not have been here."""
        return self.home / "set-aside"

    def make_directories(self) -> None:
        """Make what is missing; what is none of ours is moved out of the way."""
        self.home.mkdir(mode=0o700, parents=True, exist_ok=True)
        for directory in (self.indexes, self.locks, self.scratch):
            try:
                directory.mkdir(mode=0o700)
            except FileExistsError:
                if directory.is_symlink() or not directory.is_dir():
                    move_aside(directory, self.aside)
                    directory.mkdir(mode=0o700, exist_ok=True)


def _is_ref(entry: os.DirEntry[str]) -> bool:
    return entry.is_file(follow_symlinks=False) and entry.stat().st_size in _REF_SIZES


def check_private(directory: Path) -> None:
    """Refuse a home that somebody else could write: git itself would not look."""
    found = directory.stat()
    if found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & 0o022:
        raise RefusedError(
            f"{str(directory)!r} belongs to another user or can be written by others",
            hint="run as the owner of that directory, or set PLAN_HOME to one of your own",
        )


def claim_home(layout: StoreLayout, common_dir: Path) -> None:
    """Tie a home that lies elsewhere to one repository: two in one would mix their plans."""
    identity = common_dir.stat()
    ours = {"path": str(common_dir), "inode": [identity.st_dev, identity.st_ino]}
    record = layout.home / "repository.json"
    known = _claim_at(record) if os.path.lexists(record) else ours
    if known["path"] != ours["path"] and known["inode"] != ours["inode"]:
        raise RefusedError(
            f"{str(layout.home)!r} holds the checkpoints of another repository, {known['path']!r}",
            hint="give each repository a PLAN_HOME of its own, or leave it unset",
        )
    if known != ours or not record.exists():
        write_durably(record, json.dumps(ours).encode())


def _claim_at(record: Path) -> dict[str, Any]:
    try:
        known = json.loads(read_own(record))
        return {"path": known["path"], "inode": known["inode"]}
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise StorageError(
            f"{str(record)!r} is damaged: whose checkpoints these are cannot be told",
            hint="if they are those of this repository, delete that file and try again",
        ) from error


@contextmanager
def scratch_directory(store: PrivateStore) -> Generator[Path]:
    """A directory beside the store that is gone when it is done with."""
    path = Path(tempfile.mkdtemp(dir=store.scratch))
    try:
        yield path
    finally:
        with suppress(OSError):
            delete_tree(path)


@dataclass(frozen=True, slots=True)
class ObjectWalk:
    """A walk over all objects below a commit that is under way."""

    running: RunningGit

    def reached_all(self) -> bool:
        """Whether none of them was missing."""
        walk = self.running.finish()
        if walk.code and not any(word in walk.stderr for word in _MISSING):
            walk.checked()
        return walk.code == 0


class PrivateStore:
    """The bare repository and what is asked of it; `lock_descriptors` go to every git child.

    `deadline` is when a lock of the user's own git is no longer waited for.
    """

    def __init__(
        self,
        layout: StoreLayout,
        common_dir: Path,
        lock_descriptors: tuple[int, ...] = (),
        deadline: float = 0.0,
        elsewhere: Elsewhere | None = None,
        notices: list[str] | None = None,
    ) -> None:
        self.layout = layout
        self.common_dir = common_dir
        self.lock_descriptors = lock_descriptors
        self.deadline = deadline
        self.git_dir = layout.git_dir
        self.elsewhere = elsewhere or Elsewhere()
        self.notices: list[str] = [] if notices is None else notices
        """What was put right on the way, in sentences."""

    def locked(self, descriptor: int, deadline: float = 0.0) -> PrivateStore:
        """The same store whose git children hold this lock as well."""
        locks = (*self.lock_descriptors, descriptor)
        return PrivateStore(
            self.layout, self.common_dir, locks, deadline, self.elsewhere, self.notices
        )

    @contextmanager
    def joined(self) -> Generator[PrivateStore]:
        """The same store, used together with others; what killed commands left in it is gone."""
        descriptor = join(self.layout)
        try:
            yield self if descriptor is None else self.locked(descriptor)
        finally:
            self.elsewhere.close()
            if descriptor is not None:
                os.close(descriptor)

    @property
    def scratch(self) -> Path:
        """Where temporary things go."""
        place = self.elsewhere.place
        return self.layout.scratch if place is None else place / "scratch"

    def git(self, work_tree: Path | None = None, index: Path | None = None) -> GitRunner:
        """Scrubbed git on the store, for a work tree and an index where they matter."""
        tree = work_tree or self.scratch
        environment = store_environment(self.git_dir, tree, index or self.scratch / "no-index")
        lenders = (self.git_dir / "objects", self.common_dir / "objects")
        borrowing = self.elsewhere.environment(*map(quoted_path, lenders))
        git = GitRunner({**environment, **borrowing}, STORE_SETTINGS, tree, self.lock_descriptors)
        return replace(git, mend=partial(mend, self, git))

    def look_from_elsewhere(self, cause: str) -> None:
        """From here on nothing is written into the store, also nothing that is to be kept."""
        self.elsewhere.open(cause)

    def refuse_elsewhere(self) -> None:
        """Refuse to keep what refers to objects that are in no store."""
        if self.elsewhere.place is not None:
            raise NoSpaceError(
                "the checkpoint store cannot be written: it is read-only, or its disk is full",
                hint="free some space and try again",
            )

    def exists(self) -> bool:
        """Whether it is there; one that was there and is gone is not made anew in silence."""
        # First this: whoever is just making the store writes the record after it.
        recorded = os.path.lexists(self.layout.record)
        if self.git_dir.is_dir():
            return True
        if recorded:
            raise StorageError(
                f"the checkpoint store {str(self.git_dir)!r} is gone, with all checkpoints in it",
                hint="restore it from a backup; to begin anew, move "
                f"{str(self.layout.home)!r} away",
            )
        return False

    def store_id(self) -> str:
        return self._record().store_id

    def _record(self) -> StoreRecord:
        record = read_record(self.layout.record)
        if record is None:
            path = str(self.layout.record)
            raise StorageError(f"{path!r} is damaged", hint="try again: it is then put right")
        return record

    def check_own_files(
        self, known_id: Callable[[], str | None], object_format: Callable[[], str]
    ) -> list[str]:
        """Compare what git reads with what we wrote, and put it right; what there is to tell.

        Nothing is done with a store that cannot be put right: its files are not believed.
        """
        record = read_record(self.layout.record)
        if record is not None and not altered_files(self.git_dir, record):
            return []
        store_lock, boundary_lock = self._locks("store.lock"), self._locks("shallow.lock")
        with store_lock, boundary_lock:
            # Another process may have been about to change it, or has put it right.
            record, recorded = read_record(self.layout.record), os.path.lexists(self.layout.record)
            lost = record is None
            if record is None:
                record = adopted_record(self.git_dir, known_id, object_format)
                record.write(self.layout.record)
            wrong = altered_files(self.git_dir, record)
            rewrite(self.git_dir, record, wrong, self.layout.aside)
        names = [*wrong, *([self.layout.record.name] if lost and recorded else [])]
        said = f"not as Backtrail wrote it, and put right: {some_of(names)} in the checkpoint store"
        return [said] if names else []

    def _locks(self, name: str) -> AbstractContextManager[int]:
        path = self.layout.locks / name
        return exclusive_lock(path, wait=_SHORT_WAIT, what="the checkpoint store")

    def create(self, object_format: str) -> None:
        """Make the store; the caller holds the store lock. It appears whole or not at all."""
        building = self.layout.home / "store.git.new"
        shutil.rmtree(building, ignore_errors=True)
        runner = GitRunner(scrubbed_environment(), (), self.layout.home, self.lock_descriptors)
        runner.call(
            "init", "--quiet", "--bare", "--template=", f"--object-format={object_format}",
            str(building),
        )  # fmt: skip
        record = write_own_files(building)
        building.chmod(0o700)
        fsync_tree(building)
        building.rename(self.git_dir)
        record.write(self.layout.record)
        self.link_user_objects()

    def link_user_objects(self) -> None:
        """Hard-link what the user's repository has now: milliseconds and no disk."""
        ours = self.git_dir / "objects"

        def set_empty_aside(place: Path, object_id: str) -> None:
            move_aside(place, self.layout.aside, name=object_id)
            self.notices.append(put_right_notice(object_id, was_damaged=True))

        link_objects(self.common_dir / "objects", ours, set_empty_aside)

    # References: one per checkpoint, and never a name that a user chose.

    def ref_name(self, sandbox: SandboxId, checkpoint: CheckpointId) -> str:
        return f"{REF_ROOT}/{sandbox}/{checkpoint}"

    def pin(self, sandbox: SandboxId, checkpoint: CheckpointId, commit: CommitId) -> None:
        """Create the checkpoint's ref, which must not exist."""
        self.refuse_elsewhere()
        self.git().call("update-ref", self.ref_name(sandbox, checkpoint), commit, "0" * len(commit))

    def unpin(self, sandbox: SandboxId, commits: Mapping[CheckpointId, CommitId]) -> None:
        """Delete checkpoints' refs, each of which must still name its commit, or be gone already.

        To delete a ref, git takes a lock that all sandboxes share, and a killed git leaves it
        behind. So deleting has a lock of its own, under which such a leftover has no owner.
        """
        self._set_other_refs_aside(sandbox, commits)
        present = frozenset[str](self.loose_ref_names(sandbox))
        if not present.issuperset(commits):
            present = frozenset[str](self.refs_of(sandbox))
        lines = [
            f"delete {self.ref_name(sandbox, checkpoint)} {commit}\n"
            for checkpoint, commit in commits.items()
            if checkpoint in present
        ]
        with self._locks("refs.lock") as descriptor:
            for leftover in ("packed-refs.lock", "packed-refs.new"):
                (self.git_dir / leftover).unlink(missing_ok=True)
            git = self.locked(descriptor).git()
            git.call("update-ref", "--stdin", stdin="".join(lines).encode())

    def _set_other_refs_aside(
        self, sandbox: SandboxId, commits: Mapping[CheckpointId, CommitId]
    ) -> None:
        """Move away what does not name its checkpoint's commit: git would delete none of them."""
        for checkpoint, commit in commits.items():
            ref = self.git_dir / self.ref_name(sandbox, checkpoint)
            if is_plain(ref) and read_own(ref) != f"{commit}\n".encode():
                move_aside(ref, self.layout.aside)

    def pinned(self, sandbox: SandboxId, checkpoint: CheckpointId) -> CommitId | None:
        return self.refs_of(sandbox).get(checkpoint)

    def refs_of(self, sandbox: SandboxId) -> Mapping[CheckpointId, CommitId]:
        """All checkpoint refs of a sandbox."""
        prefix = f"{REF_ROOT}/{sandbox}/"
        output = self.git().call("for-each-ref", "--format=%(refname) %(objectname)", prefix)
        pairs = (line.removeprefix(prefix).split(" ") for line in output.text.splitlines())
        return {CheckpointId(name): CommitId(commit) for name, commit in pairs}

    def loose_ref_names(self, sandbox: SandboxId) -> frozenset[str]:
        """Names of the whole loose refs, without starting git: enough to see that all is well."""
        return frozenset(entry.name for entry in self._loose_refs(sandbox) if _is_ref(entry))

    def set_damaged_refs_aside(self, sandbox: SandboxId) -> None:
        """Move what is no ref out of the way of git, which would complain of nothing else."""
        root = self.git_dir / REF_ROOT
        for place in (root, root / sandbox):
            if os.path.lexists(place) and not place.is_dir():
                move_aside(place, self.layout.aside)
        for entry in self._loose_refs(sandbox):
            if not _is_ref(entry) and not entry.name.endswith(".lock"):
                move_aside(Path(entry.path), self.layout.aside)

    def _loose_refs(self, sandbox: SandboxId) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(self.git_dir / REF_ROOT / sandbox) as found:
                return list(found)
        except (FileNotFoundError, NotADirectoryError):
            return []

    def sandboxes(self) -> list[SandboxId]:
        """Those of which there are checkpoints, without starting git."""
        root = self.git_dir / REF_ROOT
        loose = os.listdir(root) if root.is_dir() else []
        return [SandboxId(name) for name in loose if self._loose_refs(SandboxId(name))]

    def connected(self, commit: CommitId) -> bool:
        """Whether every object that the commit needs is there: a walk over all of it."""
        return self.start_walk(commit).reached_all()

    def start_walk(self, commit: CommitId) -> ObjectWalk:
        """Begin a walk over every object that the commit needs."""
        words = (*self.walking(), "--quiet", "--end-of-options", commit)
        return ObjectWalk(self.git().start(*words))

    def walking(self) -> tuple[str, ...]:
        """The words that begin a walk over objects; what only a remote has yet is passed over.

        A partial clone marks the packs that came from its remote. What these name and nobody has
        fetched is not missing: no checkpoint holds it, unless as a name in its base commit.
        """
        promised = ("-c", "remote.promised.promisor=true", "rev-list", "--exclude-promisor-objects")
        packs = (self.common_dir / "objects" / "pack", self.git_dir / "objects" / "pack")
        partial = any(
            name.endswith(".promisor") for d in packs if d.is_dir() for name in os.listdir(d)
        )
        return (*(promised if partial else ("rev-list",)), "--objects")

    def id_length(self) -> int:
        """How long object ids are here: 40 for sha1, 64 for sha256."""
        return 64 if b"sha256" in (self.git_dir / "config").read_bytes() else 40

    def add_boundary(self, commits: Iterable[CommitId]) -> None:
        """Let history end at these commits: no history is kept for a checkpoint's base."""
        with self._locks("shallow.lock"):
            present = self._record()
            wanted = with_boundary(present, commits)
            if wanted != present:
                wanted.write(self.layout.record)
                write_durably(self.git_dir / "shallow", boundary_text(wanted))

    def remove_stale_locks(self, sandbox: SandboxId) -> None:
        """Remove lock files that a killed git left; the caller holds the sandbox's lock.

        Every git child inherits that lock, so while we hold it no owner can be alive.
        """
        index = self.layout.sandbox_index(sandbox)
        stale = [index.with_name(index.name + ".lock")]
        stale += (self.git_dir / REF_ROOT / sandbox).glob("*.lock")
        for path in stale:
            path.unlink(missing_ok=True)
