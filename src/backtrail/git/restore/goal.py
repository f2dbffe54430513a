"""What a restore must bring about: a whole checkpoint, or some paths of one."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from backtrail.domain.errors import NotFoundError
from backtrail.domain.ids import TreeId
from backtrail.git.capture.conflicts import Replacing
from backtrail.git.capture.storing import take_out
from backtrail.git.checkpoint.state import Captured, Glimpse, Included
from backtrail.git.ignore.eligibility import SET_BITS
from backtrail.git.ignore.included import would_be_captured
from backtrail.git.ignore.rules import IgnoreRules
from backtrail.git.metadata.model import Extras, Selection, with_selection
from backtrail.git.osfiles.beneath import parents_of
from backtrail.git.osfiles.paths import is_there
from backtrail.git.process.runner import nul_joined
from backtrail.git.restore.metadata import directories_of
from backtrail.git.store.objects import TreeEntry, empty_tree, files_by_path, list_tree
from backtrail.git.store.store import PrivateStore, scratch_directory
from backtrail.git.user.head import UserIndex


@dataclass(frozen=True, slots=True)
class Goal:
    """The files that a restore is to bring about, and the rules by which it is judged."""

    tree: TreeId
    ignore_rules: IgnoreRules
    index: UserIndex | None
    forced: tuple[str, ...]
    extras: Extras
    included: Included = field(default_factory=Included)
    """Chosen ignored files, with those that have to go as `absent`."""
    accounted: tuple[TreeId, ...] = ()
    """Trees whose paths, where the goal lacks them, are known to have been absent."""
    uncaptured: frozenset[str] = frozenset()
    """Paths that were there and could not be captured: what is at or below them stays."""
    before: Extras = field(default_factory=Extras)
    """Those of the safety checkpoint: a directory that stays for its ignored files keeps its mode,
    also if it had to be opened, and also if that was in an attempt that was interrupted."""


def goal_of(
    store: PrivateStore, wanted: Captured, present: Captured | Glimpse, paths: tuple[str, ...]
) -> Goal:
    """The target itself; or, with paths, the present with those paths as the target has them."""
    state, now = wanted.state, present.state
    lost = (entry.path for entry in state.not_captured if entry.reason != SET_BITS)
    uncaptured = frozenset(lost)
    whole = Goal(
        tree=wanted.tree,
        ignore_rules=state.ignore_rules,
        index=state.git_state.index,
        forced=state.forced,
        extras=state.extras,
        included=_included_goal(store, wanted, now.included, uncaptured),
        accounted=state.accounted,
        uncaptured=uncaptured,
        before=now.extras,
    )
    return _partial_goal(store, whole, present, frozenset(paths)) if paths else whole


def _partial_goal(
    store: PrivateStore, whole: Goal, present: Captured | Glimpse, paths: frozenset[str]
) -> Goal:
    now, extras, chosen = present.state, whole.extras, whole.included
    above = _above(store, extras, present, paths)
    arriving = Arriving(
        paths=paths,
        files=selected_entries(store, whole.tree, paths),
        included=selected_entries(store, chosen.tree, paths),
        bare_directories=tuple(
            d for d in extras.bare_directories if d in above or selects(paths, d)
        ),
        above=above,
    )
    # The rest of the sandbox is judged by the rules of the present. What was selected belongs to
    # the goal even where those rules ignore it.
    selected = (os.fsdecode(entry.path) for entry in arriving.files)
    return replace(
        whole,
        tree=arriving.tree_from(store, present.tree, arriving.files),
        ignore_rules=now.ignore_rules,
        index=now.git_state.index,
        forced=tuple({*now.forced, *selected}),
        extras=with_selection(now.extras, _selection(store, extras, present, arriving)),
        included=_partial_included(store, chosen, now.included, arriving),
        accounted=tuple(selected_tree(store, tree, paths) for tree in whole.accounted),
    )


def _above(
    store: PrivateStore, extras: Extras, present: Captured | Glimpse, paths: frozenset[str]
) -> frozenset[str]:
    """Directories above the paths of which the target knows that they held nothing, or were absent.

    They come and go with what is below them, if nothing else is in them by now.
    """
    parents = {os.fsdecode(d) for path in paths for d in parents_of(os.fsencode(path))}
    known = parents.intersection((*extras.bare_directories, *extras.absent))
    if not known:
        return frozenset()
    state = present.state
    trees = [tree for tree in (present.tree, state.included.tree) if tree]
    others = [
        *(os.fsdecode(entry.path) for tree in trees for entry in list_tree(store, tree)),
        *(d for d in state.extras.bare_directories if d not in parents),
    ]
    occupied = {
        os.fsdecode(parent)
        for other in others
        if not selects(paths, other)
        for parent in parents_of(os.fsencode(other))
    }
    return frozenset(known - occupied)


def _selection(
    store: PrivateStore, extras: Extras, present: Captured | Glimpse, arriving: Arriving
) -> Selection:
    taken = arriving.takes_back
    entries = [entry for entry in arriving.entries if entry.is_file]
    empty = tuple(d for d in extras.empty_directories if taken(d))
    standing = {d: mode for d, mode in extras.standing.items() if taken(d)}
    selected = replace(extras, empty_directories=empty, standing=standing)
    inside = directories_of([e.path for e in arriving.entries], selected)
    there = directories_of((e.path for e in list_tree(store, present.tree)), present.state.extras)
    # Any other directory above the selected paths that is there stays as it is.
    names = [os.fsdecode(d) for d in inside if d not in there or taken(os.fsdecode(d))]
    return Selection(
        selects=taken,
        files={
            os.fsdecode(e.path): extras.file_mode(os.fsdecode(e.path), e.mode_bits) for e in entries
        },
        directories={d: extras.directory_mode(d) for d in names},
        empty=empty,
        standing=standing,
        absent=tuple(d for d in extras.absent if taken(d)),
    )


def _included_goal(
    store: PrivateStore, wanted: Captured, present: Included, uncaptured: frozenset[str]
) -> Included:
    """The target's chosen files; others go only if the target would have held them, too.

    What was there and could not be captured would have been: it was not absent.
    """
    included = wanted.state.included
    absent = set(included.absent)
    then, now = files_by_path(store, included.tree), files_by_path(store, present.tree)
    if others := now.keys() - then.keys():
        files = list_tree(store, wanted.tree)
        others.difference_update(entry.path for entry in files)
        looked_for = (e.path for tree in wanted.state.accounted for e in list_tree(store, tree))
        absent.update(map(os.fsdecode, others.intersection(looked_for)))
        if included.rules == present.rules:
            rules = wanted.state.ignore_rules
            new = would_be_captured(store, files, rules, included.rules, sorted(others))
            absent.update(p for p in map(os.fsdecode, new) if not selects(uncaptured, p))
    return replace(included, absent=tuple(sorted(absent)))


def _partial_included(
    store: PrivateStore, wanted: Included, present: Included, arriving: Arriving
) -> Included:
    """The present's chosen files, with those under the paths as the whole goal has them."""
    nothing = empty_tree(store.id_length())
    absent = tuple(path for path in wanted.absent if selects(arriving.paths, path))
    if not arriving.included and present.tree is None:
        return replace(present, absent=absent)
    tree = arriving.tree_from(store, present.tree or nothing, arriving.included)
    return replace(present, tree=None if tree == nothing else tree, absent=absent)


def replacing(store: PrivateStore, tree: TreeId, extras: Extras, included: Included) -> Replacing:
    """What bringing these about writes over."""
    return Replacing(
        trees=(tree,),
        bare_directories=tuple(map(os.fsencode, extras.bare_directories)),
        absent_directories=tuple(map(os.fsencode, extras.absent)),
        included=tuple(files_by_path(store, included.tree)),
        going=tuple(map(os.fsencode, included.absent)),
    )


def selected_entries(
    store: PrivateStore, tree: TreeId | None, paths: Collection[str]
) -> tuple[TreeEntry, ...]:
    """The tree's entries that are one of the paths or lie below one."""
    entries = list_tree(store, tree) if tree else []
    return tuple(e for e in entries if selects(paths, os.fsdecode(e.path)))


def selects(paths: Collection[str], path: str) -> bool:
    """Whether a path is one of the paths or lies below one; of many paths a set is quickest."""
    if path in paths:
        return True
    end = path.rfind("/")
    while end > 0:
        if path[:end] in paths:
            return True
        end = path.rfind("/", 0, end)
    return False


@dataclass(frozen=True, slots=True)
class Arriving:
    """What comes when only some paths of a checkpoint are brought back."""

    paths: frozenset[str]
    """The paths that were asked for."""
    files: tuple[TreeEntry, ...]
    included: tuple[TreeEntry, ...]
    """Chosen ignored files."""
    bare_directories: tuple[str, ...]
    above: frozenset[str] = frozenset()
    """Directories above the paths that are to be, or not to be, as the checkpoint has them."""

    @property
    def entries(self) -> tuple[TreeEntry, ...]:
        return (*self.files, *self.included)

    def selects(self, path: str) -> bool:
        """Whether what is at a path now gives way to what comes."""
        return selects(self.paths, path)

    def takes_back(self, directory: str) -> bool:
        """Whether a directory is to be as the checkpoint has it."""
        return directory in self.above or self.selects(directory)

    def tree_from(self, store: PrivateStore, tree: TreeId, coming: Sequence[TreeEntry]) -> TreeId:
        """A tree of the present with some of what comes, and without what is in the way of all."""
        above = self._directories()
        leaving = [
            entry.path
            for entry in list_tree(store, tree)
            if entry.path in above or self.selects(os.fsdecode(entry.path))
        ]
        return _written(store, tree, leaving, coming)

    def _directories(self) -> set[bytes]:
        bare = set(map(os.fsencode, self.bare_directories))
        paths = (*bare, *(entry.path for entry in self.entries))
        return {parent for path in paths for parent in parents_of(path)} | bare


def selected_tree(store: PrivateStore, tree: TreeId, paths: Collection[str]) -> TreeId:
    """A tree of nothing but the entries that are one of the paths or lie below one."""
    return _written(store, None, (), selected_entries(store, tree, paths))


def _written(
    store: PrivateStore, tree: TreeId | None, leaving: Sequence[bytes], coming: Sequence[TreeEntry]
) -> TreeId:
    """A tree, or nothing at all, with some paths taken out and then some entries put in."""
    with scratch_directory(store) as directory:
        git = store.git(directory, directory / "index")
        if tree is not None:
            git.call("read-tree", tree)
        if leaving:
            take_out(git, list(leaving))
        if coming:
            lines = [b"%s %s 0\t%s" % (e.mode, e.name, e.path) for e in coming]
            git.call("update-index", "-z", "--add", "--index-info", stdin=nul_joined(lines))
        return TreeId(git.call("write-tree").text)


def whole_paths(store: PrivateStore, wanted: Captured, paths: tuple[str, ...]) -> tuple[str, ...]:
    """The paths; for one below a file of the checkpoint, that file.

    Only with it the path can be as it was, and then all that is beside the path has to go. Whoever
    takes that back needs to know.
    """
    above = {parent for path in paths for parent in parents_of(os.fsencode(path))}
    trees = [tree for tree in (wanted.tree, wanted.state.included.tree) if tree and above]
    files = {entry.path for tree in trees for entry in list_tree(store, tree)} & above

    def whole(path: str) -> str:
        places = (parent for parent in parents_of(os.fsencode(path)) if parent in files)
        return os.fsdecode(next(places, os.fsencode(path)))

    return tuple(dict.fromkeys(map(whole, paths)))


def refuse_unknown_paths(
    store: PrivateStore, root: Path, paths: Sequence[str], wanted: Captured, present: Glimpse
) -> None:
    """Refuse a path that neither the checkpoint nor a capture of the present has."""
    known: set[str] = set()
    for state in (wanted, present):
        extras, included = state.state.extras, state.state.included.tree
        trees = (state.tree, included)
        entries = [entry for tree in trees for entry in selected_entries(store, tree, set(paths))]
        names = {*(os.fsdecode(entry.path) for entry in entries), *extras.empty_directories}
        known |= names | {os.fsdecode(d) for n in names for d in parents_of(os.fsencode(n))}
    for path in paths:
        if path not in known:
            raise NotFoundError(
                f"{path!r} is {_why_unknown(root, path, wanted, present)}",
                hint="paths are relative to the sandbox; plan diff shows what differs",
                details={"path": path},
            )


def _why_unknown(root: Path, path: str, wanted: Captured, present: Glimpse) -> str:
    for state, words in ((wanted, "was not captured"), (present, "cannot be captured")):
        for note in state.state.not_captured:
            if note.path == path:
                return f"not in the checkpoint, and {words}: {note.reason}"
    if is_there(root, os.fsencode(path)):
        return "not in the checkpoint, and ignored, so that it is left alone"
    if {path, f"{path}/"}.intersection(wanted.state.ignored.names):
        return "not in the checkpoint: it was ignored, and not captured"
    return "neither in the checkpoint nor in the sandbox"
