"""The git state of a sandbox that is not in its files: HEAD and its log, branches, index.

Whoever works in the sandbox can write there: it is read within bounds and through no link, and
nothing is taken from it but what can be the name of a ref.
"""

from __future__ import annotations

import os
import re
import stat
import tempfile
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

from backtrail.domain.ids import CommitId
from backtrail.git.osfiles.paths import first_obstacle, lstat_inside
from backtrail.git.osfiles.plain_files import (
    LARGEST_INDEX,
    NotPlainError,
    beginning_of,
    open_plain,
    read_dated,
)
from backtrail.git.process.environment import USER_REPOSITORY_SETTINGS, scrubbed_environment
from backtrail.git.process.runner import GitRunner, RunningGit
from backtrail.git.store.store import PrivateStore
from backtrail.git.user.merge_state import MergeState, read_merge_state

_HEX = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
HEADS = "refs/heads/"
_WORKTREES = "worktrees"
_SHORTEST_WAIT = 1000
"""How many milliseconds git itself waits for the lock of all refs."""
_SPLIT = b"link"
"""The extension by which an index says that most of it is in a shared file."""
_SPARSE = b"sdir\0\0\0\0"
"""The extension by which an index says that whole directories may stand as one entry."""


@dataclass(frozen=True, slots=True)
class UserIndex:
    """The raw bytes of the index, and its date, which decides which entries git trusts."""

    content: bytes
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class DetachedFrom:
    """What was checked out last, by name and as a commit: `git status` says `detached from` it."""

    name: str
    commit: CommitId


@dataclass(frozen=True, slots=True)
class GitState:
    """HEAD (symbolic and resolved), the sandbox's own branch, and the index."""

    head_ref: str | None
    head_commit: CommitId | None
    branch: str | None
    branch_commit: CommitId | None = None
    index: UserIndex | None = None
    detached_from: DetachedFrom | None = None
    """What git says of a detached HEAD; never known of one that is on a branch."""
    branches: tuple[tuple[str, CommitId | None], ...] = ()
    """Where other branches were that a rollback was about to move; None where one was not."""
    merge: MergeState = field(default_factory=MergeState)

    @property
    def head(self) -> tuple[str | None, CommitId | None, DetachedFrom | None]:
        """All there is about HEAD."""
        return self.head_ref, self.head_commit, self.detached_from

    @property
    def own_refs(self) -> tuple[tuple[str, CommitId | None], ...]:
        """Our branch and those that a rollback is about to move, with where they are."""
        ours = ((HEADS + self.branch, self.branch_commit),) if self.branch else ()
        return (*ours, *self.branches)

    @property
    def refs(self) -> dict[str | None, CommitId | None]:
        """Where every branch is that it knows, that of HEAD included."""
        return {self.head_ref: self.head_commit, **dict(self.own_refs)}

    @property
    def commits(self) -> tuple[CommitId, ...]:
        """All that it names, HEAD first."""
        found = (self.head_commit, self.branch_commit, *(commit for _, commit in self.branches))
        return tuple(dict.fromkeys(commit for commit in found if commit))


def user_git(git_dir: Path, store: PrivateStore | None = None) -> GitRunner:
    """Scrubbed plumbing on the user's repository: no hooks, no fsmonitor, no global settings.

    With a store it inherits the locks held on that, and waits as long for those of other gits.
    """
    environment = {**scrubbed_environment(), "GIT_DIR": str(git_dir)}
    if store is None:
        return GitRunner(environment, USER_REPOSITORY_SETTINGS, git_dir)
    patience = max(_SHORTEST_WAIT, int(1000 * (store.deadline - time.monotonic())))
    waits = (f"core.filesRefLockTimeout={patience}", f"core.packedRefsTimeout={patience}")
    settings = (*USER_REPOSITORY_SETTINGS, *waits)
    return GitRunner(environment, settings, git_dir, store.lock_descriptors)


@dataclass(frozen=True, slots=True)
class GitStateQuestion:
    """A question to git for the commits of HEAD and branches that is under way."""

    git_dir: Path
    known: GitState
    """All but commits of refs, index and what is under way."""
    refs: RefsQuestion

    def answer(self) -> GitState:
        known, commits = self.known, self.refs.answer()
        return replace(
            known,
            head_commit=commits.get(known.head_ref) if known.head_ref else known.head_commit,
            branch_commit=commits.get(HEADS + known.branch) if known.branch else None,
            index=read_index(self.git_dir),
            branches=tuple((ref, commits.get(ref)) for ref, _ in known.branches),
            merge=read_merge_state(self.git_dir),
        )


def read_git_state(git_dir: Path, branch: str | None, others: tuple[str, ...] = ()) -> GitState:
    """What HEAD, our branch, others and the index are now."""
    return ask_git_state(git_dir, branch, others).answer()


def ask_git_state(
    git_dir: Path, branch: str | None, others: tuple[str, ...] = ()
) -> GitStateQuestion:
    """Begin to find out what HEAD, our branch, others (by their full names) and the index are."""
    text = head_text(git_dir)
    named = text.removeprefix("ref: ").strip() if text.startswith("ref: ") else ""
    # Whatever else stands there is no ref, and must not become an argument of ours.
    head_ref = named if named.startswith("refs/") else None
    branch_ref = HEADS + branch if branch else None
    refs = _ask_refs(git_dir, [r for r in (head_ref, branch_ref, *others) if r])
    detached = CommitId(text) if _HEX.fullmatch(text) else None
    known = GitState(
        head_ref=head_ref,
        head_commit=detached,
        branch=branch,
        detached_from=read_detached_from(git_dir) if detached else None,
        branches=tuple((ref, None) for ref in others),
    )
    return GitStateQuestion(git_dir, known, refs)


def head_text(git_dir: Path) -> str:
    """What is in HEAD: a commit, or the branch that it is on."""
    text = beginning_of(git_dir / "HEAD", follow=may_be_links(git_dir))
    return text.decode("utf-8", "surrogateescape").strip()


def may_be_links(git_dir: Path) -> bool:
    """Whether HEAD and index may be links: somebody may want that in a main checkout of theirs."""
    return git_dir.parent.name != _WORKTREES


@dataclass(frozen=True, slots=True)
class RefsQuestion:
    """A question to git for the commits of some refs that is under way."""

    names: list[str]
    running: RunningGit | None

    def answer(self) -> dict[str, CommitId]:
        """The commits of those that exist."""
        if self.running is None:
            return {}
        lines = self.running.finish().checked().text.splitlines()
        pairs = (line.split(" ", 1) for line in lines)
        return {name: CommitId(commit) for commit, name in pairs if name in self.names}


def resolve_refs(git_dir: Path, names: list[str]) -> dict[str, CommitId]:
    """The commits of those full ref names that exist."""
    return _ask_refs(git_dir, names).answer()


def _ask_refs(git_dir: Path, names: list[str]) -> RefsQuestion:
    names = [name for name in names if name.startswith("refs/")]
    words = ("for-each-ref", "--format=%(objectname) %(refname)", *names)
    return RefsQuestion(names, user_git(git_dir).start(*words) if names else None)


def read_index(git_dir: Path) -> UserIndex | None:
    """The index as one consistent reading: git replaces the file, it never writes into it."""
    try:
        content, date = read_dated(git_dir / "index", LARGEST_INDEX, follow=may_be_links(git_dir))
    except FileNotFoundError:
        return None
    if _SPARSE in content or (_SPLIT in content and index_is_split(git_dir)):
        content = _made_whole(git_dir, content)
    return UserIndex(content, date)


def index_is_split(git_dir: Path) -> bool:
    """Whether most of the index may lie in a shared file beside it."""
    return any(git_dir.glob("sharedindex.*"))


def _made_whole(git_dir: Path, content: bytes) -> bytes:
    """An index with all its entries, whatever it leaves to other files and objects.

    The shared part of a split index does not live as long as a checkpoint, and what a sparse one
    stands for can only be looked up where all objects are that it names.
    """
    with tempfile.TemporaryDirectory() as directory:
        copy = os.path.join(directory, "index")
        with open(copy, "wb") as file:
            file.write(content)
        user_git(git_dir).call(
            "-c", "core.splitIndex=false", "-c", "index.sparse=false",
            "update-index", "--no-split-index", "--force-write-index",
            extra={"GIT_INDEX_FILE": copy, "GIT_WORK_TREE": directory},
        )  # fmt: skip
        with open(copy, "rb") as file:
            return file.read()


_LOG = b"logs/HEAD"
_LOOKED_AT = 1024**2
"""Of a longer log only so many bytes at its end: thousands of moves of HEAD."""
_LONGEST_NAME = 4096
_CHECKOUT = re.compile(
    rb"[0-9a-f]+ ([0-9a-f]{40}|[0-9a-f]{64}) [^>]*> [0-9]+ [+-][0-9]{4}\t"
    rb"checkout: moving from .*? to (.*)"
)
_NO_NAME = re.compile(rb"[\0-\x20\x7f]")


def read_detached_from(git_dir: Path) -> DetachedFrom | None:
    """What git would say that a detached HEAD was detached from; None if it would not know."""
    lines = reversed(_end_of_log(git_dir).split(b"\n"))
    found = next(filter(None, map(_CHECKOUT.fullmatch, lines)), None)
    if found is None:
        return None
    commit, name = found.groups()
    if not 0 < len(name) <= _LONGEST_NAME or _NO_NAME.search(name):
        # No ref has such a name, and of what is no ref git tells the commit alone.
        name = commit
    return DetachedFrom(os.fsdecode(name), CommitId(commit.decode()))


def log_leads_nowhere(git_dir: Path, name: str = "logs/HEAD") -> bool:
    """Whether a log is a file of its own, or absent: nothing elsewhere is read or written."""
    log = os.fsencode(name)
    try:
        if first_obstacle(git_dir, log) is not None:
            return False
        found = lstat_inside(git_dir, log)
    except PermissionError:
        return False
    return found is None or (stat.S_ISREG(found.st_mode) and found.st_nlink == 1)


def can_be_noted(name: str) -> bool:
    """Whether git, when it reads its own note of a move of HEAD, takes this for one name."""
    return not _NO_NAME.search(os.fsencode(name))


def _end_of_log(git_dir: Path) -> bytes:
    if not log_leads_nowhere(git_dir):
        return b""
    try:
        with open_plain(os.path.join(os.fsencode(git_dir), _LOG), follow=False) as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - _LOOKED_AT))
            return file.read(_LOOKED_AT)
    except (OSError, NotPlainError):
        # Without a log, or one that can be read, git does not know either.
        return b""
