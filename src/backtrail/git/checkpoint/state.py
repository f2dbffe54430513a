"""The state commit: what a tree of files cannot hold, stored and read back.

Its tree holds the raw index, the ignore text, the included ignored files, the names of what else is
ignored, and a document with HEAD, branch, a merge that is under way, permission bits, empty
directories, nested repositories and the list of what was not captured; its parents keep commits
of the user's reachable. It bears a fixed date, so that an unchanged state is the very same commit
again.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from backtrail.domain.capture import IncludeRules
from backtrail.domain.checkpoint import NotCaptured
from backtrail.domain.ids import CommitId, TreeId
from backtrail.git.ignore.ignored import IgnoredNames
from backtrail.git.ignore.rules import IgnoreRules
from backtrail.git.metadata.model import Extras
from backtrail.git.osfiles.durable import read_checked, write_checked
from backtrail.git.process.runner import RunningGit
from backtrail.git.store.objects import list_tree, read_blobs
from backtrail.git.store.store import PrivateStore, scratch_directory
from backtrail.git.user.head import DetachedFrom, GitState, UserIndex
from backtrail.git.user.merge_state import NOT_RECORDED, MergeState
from backtrail.git.user.transfer import Named

EXCLUDES, INDEX = "excludes", "index"
STATE_FORMAT = 3
_STATE, _STAGED, _INCLUDED, _IGNORED = "state.json", "staged", "included", "ignored"
_FIXED_DATE = {"GIT_AUTHOR_DATE": "@0 +0000", "GIT_COMMITTER_DATE": "@0 +0000"}


@dataclass(frozen=True, slots=True)
class Included:
    """Included ignored files of a state: a tree of their own, so that secrets are in no diff."""

    tree: TreeId | None = None
    rules: IncludeRules = field(default_factory=IncludeRules)
    """By what they were included."""
    absent: tuple[str, ...] = ()
    """Paths that were looked for by name and were not there."""


@dataclass(frozen=True, slots=True)
class SandboxState:
    """All of a captured state but the tree of files."""

    git_state: GitState
    ignore_rules: IgnoreRules
    staged: tuple[str, ...]
    """Blobs that only the user's index names."""
    not_captured: tuple[NotCaptured, ...] = ()
    forced: tuple[str, ...] = ()
    """Paths captured against the ignore rules, since a restore was about to replace them."""
    accounted: tuple[TreeId, ...] = ()
    """Trees whose every path was captured if it was there: what is missing of them was absent."""
    extras: Extras = field(default_factory=Extras)
    included: Included = field(default_factory=Included)
    ignored: IgnoredNames = field(default_factory=IgnoredNames)
    """What else was ignored, and is not captured: by name alone."""
    named: Named = field(default_factory=Named)
    """What a merge or the like that is under way goes by."""


@dataclass(frozen=True, slots=True)
class Captured:
    """A state of a sandbox whose objects are in the store."""

    tree: TreeId
    state_commit: CommitId
    state: SandboxState
    ignored: tuple[str, ...] = ()
    """All that was ignored, a whole directory as one entry; not kept, so of a fresh look alone."""


@dataclass(frozen=True, slots=True)
class Glimpse:
    """A look at a sandbox that is not kept."""

    tree: TreeId
    state: SandboxState
    ignored: tuple[str, ...]
    """All that was ignored, a whole directory as one entry."""
    root: Path


@dataclass(slots=True)
class StoringParts:
    """Hashing and compressing that is under way, or was spared."""

    names: tuple[str, ...]
    running: RunningGit | None
    ready: dict[str, str] | None = None

    def blobs(self) -> dict[str, str]:
        """The ids of the parts, by name."""
        if self.ready is None and self.running is not None:
            lines = self.running.finish().checked().text.splitlines()
            self.ready = dict(zip(self.names, lines, strict=True))
        return self.ready or {}


@contextmanager
def storing_parts(
    store: PrivateStore, index: UserIndex | None, excludes: bytes, memo: StateMemo | None = None
) -> Generator[StoringParts]:
    """Begin to store the user's index and the ignore text, unless they are there already."""
    if memo is not None:
        yield StoringParts((), None, memo.parts)
        return
    parts: Mapping[str, bytes] = {EXCLUDES: excludes, **({INDEX: index.content} if index else {})}
    with scratch_directory(store) as directory:
        for name, content in parts.items():
            (directory / name).write_bytes(content)
        running = store.git(directory).start("hash-object", "-w", "--no-filters", *parts)
        storing = StoringParts(tuple(parts), running)
        try:
            yield storing
        finally:
            # Git reads the files in the directory that is about to go.
            storing.blobs()


def write_state(
    store: PrivateStore, state: SandboxState, parts: Mapping[str, str], base: CommitId | None
) -> CommitId:
    """Write the state commit; `parts` are the ids of the index and the ignore text."""
    tree = _write_tree(store, state, parts)
    named = state.named
    # Beside them, for a tree in the tree would be looked through with each checkpoint.
    trees = (_commit_tree(store, named_tree, ()) for named_tree in named.trees)
    kept = dict.fromkeys((*state.git_state.commits, *named.commits, *trees))
    return _commit_tree(store, tree, [commit for commit in kept if commit != base])


def _commit_tree(store: PrivateStore, tree: str, parents: Sequence[CommitId]) -> CommitId:
    output = store.git().call(
        "commit-tree", "--no-gpg-sign", *(w for p in parents for w in ("-p", p)), tree,
        stdin=b"backtrail state\n", extra=_FIXED_DATE,
    )  # fmt: skip
    return CommitId(output.text)


def _write_tree(store: PrivateStore, state: SandboxState, parts: Mapping[str, str]) -> str:
    contents = {_STATE: encode_state(state)}
    if state.ignored.names:
        # A blob of its own, which all checkpoints with the same names share.
        contents[_IGNORED] = state.ignored.text
    blobs = {**parts, **_stored(store, contents)}
    lines = [f"100644 blob {blob}\t{name}" for name, blob in blobs.items()]
    if state.staged:
        # By content id: a pin that keeps staged blobs, not a second copy of the paths.
        staged = _make_tree(store, [f"100644 blob {blob}\t{blob}" for blob in state.staged])
        lines.append(f"040000 tree {staged}\t{_STAGED}")
    if state.included.tree:
        lines.append(f"040000 tree {state.included.tree}\t{_INCLUDED}")
    return _make_tree(store, lines)


def _stored(store: PrivateStore, contents: Mapping[str, bytes]) -> dict[str, str]:
    """The ids of contents that are written by one git."""
    with scratch_directory(store) as directory:
        for name, content in contents.items():
            (directory / name).write_bytes(content)
        output = store.git(directory).call("hash-object", "-w", "--no-filters", *contents)
    return dict(zip(contents, output.text.splitlines(), strict=True))


def _make_tree(store: PrivateStore, lines: list[str]) -> str:
    return store.git().call("mktree", stdin="".join(f"{x}\n" for x in lines).encode()).text


def encode_state(state: SandboxState) -> bytes:
    git_state = state.git_state
    document = {
        "format": STATE_FORMAT,
        "head": _head_document(git_state),
        "branch": {"name": git_state.branch, "commit": git_state.branch_commit},
        **({"branches": dict(git_state.branches)} if git_state.branches else {}),
        "index": {"mtime_ns": git_state.index.mtime_ns} if git_state.index else None,
        "not_captured": [asdict(entry) for entry in state.not_captured],
        "forced": list(state.forced),
        "accounted": list(state.accounted),
        "extras": state.extras.as_document(),
        "included": {
            "tree": state.included.tree,
            "absent": list(state.included.absent),
            **asdict(state.included.rules),
        },
        "ignored": {"names": digest(state.ignored.text), "more": state.ignored.more},
        "under_way": git_state.merge.what,
        "merge": _merge_document(git_state.merge, state.named),
        "ignore": {
            "case": state.ignore_rules.ignore_case,
            "hidden": {p: os.fsdecode(text) for p, text in state.ignore_rules.hidden.items()},
        },
    }
    # Names that are no UTF-8 travel as escaped lone surrogates.
    return json.dumps(document, sort_keys=True).encode("ascii")


def _head_document(git_state: GitState) -> dict[str, Any]:
    """HEAD; on a branch, in the very words of all checkpoints before, so that it is the same."""
    head = {"ref": git_state.head_ref, "commit": git_state.head_commit}
    source = git_state.detached_from
    return {**head, "detached_from": asdict(source)} if source else head


def _merge_document(merge: MergeState, named: Named) -> dict[str, Any]:
    return {
        "files": {path: os.fsdecode(content) for path, content in merge.files.items()},
        "directories": list(merge.directories),
        "problem": merge.problem,
        "named": asdict(named),
    }


def _merge_state(document: Mapping[str, Any]) -> MergeState:
    """What was under way; of the first checkpoints no more than that."""
    what, held = document["under_way"], document.get("merge")
    if held is None:
        return MergeState(what, problem=NOT_RECORDED)
    files = {path: os.fsencode(text) for path, text in held["files"].items()}
    return MergeState(what, files, tuple(held["directories"]), held["problem"])


def _named(document: Mapping[str, Any] | None) -> Named:
    if document is None:
        return Named()
    named = document["named"]
    return Named(tuple(named["commits"]), tuple(named["trees"]), named["tags"])


def read_state(store: PrivateStore, commit: CommitId) -> SandboxState:
    """The inverse of `write_state`."""
    entries = {os.fsdecode(e.path): e.object_id for e in list_tree(store, commit, recurse=False)}
    names = [name for name in (_STATE, EXCLUDES, INDEX, _IGNORED) if name in entries]
    contents = dict(zip(names, read_blobs(store, [entries[n] for n in names]), strict=True))
    document = json.loads(contents[_STATE])
    index, source = document["index"], document["head"].get("detached_from")
    staged = list_tree(store, entries[_STAGED]) if _STAGED in entries else []
    return SandboxState(
        git_state=GitState(
            head_ref=document["head"]["ref"],
            head_commit=document["head"]["commit"],
            branch=document["branch"]["name"],
            branch_commit=document["branch"]["commit"],
            index=UserIndex(contents[INDEX], index["mtime_ns"]) if index else None,
            detached_from=DetachedFrom(**source) if source else None,
            branches=tuple(document.get("branches", {}).items()),
            merge=_merge_state(document),
        ),
        ignore_rules=_ignore_rules(contents[EXCLUDES], document.get("ignore")),
        staged=tuple(entry.object_id for entry in staged),
        not_captured=tuple(NotCaptured(**entry) for entry in document["not_captured"]),
        forced=tuple(document["forced"]),
        accounted=tuple(document["accounted"]),
        extras=Extras.from_document(document["extras"]),
        included=Included(
            tree=document["included"]["tree"],
            rules=_include_rules(document["included"]),
            absent=tuple(document["included"]["absent"]),
        ),
        ignored=IgnoredNames.read(contents.get(_IGNORED, b""), document.get("ignored")),
        named=_named(document.get("merge")),
    )


def _include_rules(document: Mapping[str, Any]) -> IncludeRules:
    """By what files were included; the first states knew of patterns alone."""
    kinds = ("patterns", "small", "listed")
    return IncludeRules(**{kind: tuple(document.get(kind, ())) for kind in kinds})


def _ignore_rules(excludes: bytes, document: Mapping[str, Any] | None) -> IgnoreRules:
    """The rules of a state; the first ones were written without a document of their own."""
    if document is None:
        return IgnoreRules(excludes)
    hidden = {path: os.fsencode(text) for path, text in document["hidden"].items()}
    return IgnoreRules(excludes, document["case"], hidden)


@dataclass(frozen=True, slots=True)
class StateMemo:
    """What a state commit was made from, and what came of it.

    It only ever saves time: without one, or with one that does not fit, everything is done anew,
    and whether the objects that it names are still there is looked at before a checkpoint is
    complete.
    """

    inputs: str
    """A digest of HEAD, the index and the ignore text."""
    document: str
    """A digest of the document in the state commit."""
    state_commit: str
    parts: dict[str, str]
    staged: list[str]

    def write(self, path: Path) -> None:
        write_checked(path, json.dumps(asdict(self)).encode())


def read_memo(path: Path, inputs: str) -> StateMemo | None:
    """The memo, if it is about the same inputs."""
    try:
        memo = StateMemo(**json.loads(read_checked(path) or b""))
    except (ValueError, TypeError):
        return None
    return memo if memo.inputs == inputs else None


def digest_of_inputs(state: GitState, excludes: bytes) -> str:
    index = state.index.content if state.index else b""
    return digest(f"{state.head_commit} {state.index is None}".encode(), index, excludes)


def digest(*parts: bytes) -> str:
    found = hashlib.sha256()
    for part in parts:
        found.update(len(part).to_bytes(8, "big"))
        found.update(part)
    return found.hexdigest()
