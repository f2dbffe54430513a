"""Moving objects between the user's repository and the private store, reading no configuration."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from backtrail.domain.errors import GitFailedError, NoSpaceError
from backtrail.domain.ids import CommitId
from backtrail.git.process.environment import quoted_path
from backtrail.git.store.objects import missing_objects
from backtrail.git.store.store import PrivateStore
from backtrail.git.user.head import user_git

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")
_PACK = ("pack-objects", "-q", "--stdout")
_UNPACK = ("unpack-objects", "-q")


def bring_commits(
    store: PrivateStore, commits: Sequence[CommitId], known: Sequence[CommitId]
) -> tuple[CommitId, ...]:
    """Have commits of the user's in the store, with what lies between them and known commits.

    History ends where known history begins: those boundary commits are kept with their trees
    and without their parents. Gives those of the commits that lead to all the others.
    """
    if store.elsewhere.place is not None:
        # The user's objects are borrowed as they are.
        return tuple(commits)
    borrowed = _user_view(store)
    wanted = [*commits, *(f"^{c}" for c in known if c not in commits)]
    walk = store.git().call(
        "rev-list", "--boundary", "--parents", "--stdin", stdin=_lines(wanted), extra=borrowed
    )
    found = [line.split(" ") for line in walk.text.splitlines()]
    inside = {words[0]: words[1:] for words in found if not words[0].startswith("-")}
    boundary = [CommitId(words[0][1:]) for words in found if words[0].startswith("-")]
    boundary += (commit for commit in commits if commit not in inside)
    # Where the user's own history ends, a shallow clone's, ours ends as well.
    noted = store.common_dir / "shallow"
    shallow = set(noted.read_text().split()) if noted.exists() else set[str]()
    boundary += (CommitId(commit) for commit in inside if commit in shallow)
    inner = _objects_of(store, wanted, borrowed)
    ends = _objects_of(store, boundary, borrowed, "--no-walk=unsorted") if boundary else []
    bring_objects(store, [*inner, *ends])
    store.add_boundary(boundary)
    reached = {parent for parents in inside.values() for parent in parents}
    return tuple(commit for commit in commits if commit not in reached)


@dataclass(frozen=True, slots=True)
class Named:
    """What of the user's a state names, and what a checkpoint therefore keeps."""

    commits: tuple[CommitId, ...] = ()
    trees: tuple[str, ...] = ()
    tags: Mapping[str, str] = field(default_factory=dict[str, str])
    """The text of each, by id: nothing in a commit can point at one."""

    @property
    def tips(self) -> tuple[CommitId, ...]:
        return (*self.commits, *map(CommitId, self.trees))


@dataclass(frozen=True, slots=True)
class Brought:
    """What is in the store of what a state names, and which of the names it is not."""

    named: Named = field(default_factory=Named)
    absent: frozenset[str] = frozenset()
    """Names of which git knows nothing; much looks like a name and is none."""
    broken: frozenset[str] = frozenset()
    """Names of what is there, but not whole: nobody can keep that."""


_MOST_FAILURES = 200
"""So often it is tried to keep a part of what cannot be kept as a whole."""


def bring_named(store: PrivateStore, names: Sequence[str], known: Sequence[CommitId]) -> Brought:
    """Have in the store what these names, whole ids or their beginnings, are of the user's.

    What is broken does not take the rest along; what comes first among the names is tried first.
    """
    view = _user_view(store)
    found = _look_up(store, names, view)
    tags = [name for name, (kind, _) in found.items() if kind == "tag"]
    inside = {tag: f"{found[tag][1]}^{{commit}}" for tag in tags}
    peeled = _look_up(store, list(inside.values()), view)
    commits = {name: i for name, (kind, i) in found.items() if kind == "commit"}
    commits |= {tag: peeled[name][1] for tag, name in inside.items() if name in peeled}
    wanted = [CommitId(c) for c in dict.fromkeys(commits.values()) if c not in known]
    brought, broken = _in_parts(lambda some: bring_commits(store, some, known), wanted)
    tips = tuple(tip for part in brought for tip in part)
    trees = list(dict.fromkeys(i for kind, i in found.values() if kind == "tree"))
    _, broken_trees = _in_parts(lambda some: _bring_trees(store, some, known), trees)
    texts, broken_tags = _texts(store, list(dict.fromkeys(found[tag][1] for tag in tags)), view)
    lost = {*broken, *broken_trees, *broken_tags}
    return Brought(
        Named(tips, tuple(tree for tree in trees if tree not in lost), texts),
        absent=frozenset(names) - found.keys(),
        broken=frozenset(
            n for n, (_, i) in found.items() if not lost.isdisjoint((i, commits.get(n)))
        ),
    )


def _bring_trees(store: PrivateStore, trees: Sequence[str], known: Sequence[CommitId]) -> None:
    listing = [*trees, *(f"^{commit}" for commit in known)]
    bring_objects(store, _objects_of(store, listing, _user_view(store)))


def _texts(
    store: PrivateStore, tags: Sequence[str], view: Mapping[str, str]
) -> tuple[dict[str, str], list[str]]:
    """The texts of tags, and those of which there is none that can be read."""
    told = {tag: store.git().run("cat-file", "tag", tag, extra=view) for tag in tags}
    texts = {tag: os.fsdecode(output.stdout) for tag, output in told.items() if not output.code}
    return texts, [tag for tag in tags if tag not in texts]


def _in_parts(
    bring: Callable[[Sequence[_Item]], _Result], items: Sequence[_Item]
) -> tuple[list[_Result], list[_Item]]:
    """Bring them all at once, or halves of what fails; gives what came of it, and what failed."""
    brought: list[_Result] = []
    failed: list[_Item] = []
    failures, waiting = 0, [items] if items else []
    while waiting:
        some = waiting.pop()
        if failures >= _MOST_FAILURES:
            failed += some
            continue
        try:
            brought.append(bring(some))
        except NoSpaceError:
            # That is no fault of what is named.
            raise
        except GitFailedError:
            failures += 1
            half = len(some) // 2
            failed += () if half else some
            waiting += [some[half:], some[:half]] if half else []
    return brought, failed


def lost_commits(store: PrivateStore, names: Sequence[str]) -> list[str]:
    """Those of the names by which the user's repository has no commit, itself or in a tag."""
    view = _users_own(store)
    found = _look_up(store, [f"{name}^{{commit}}" for name in names], view)
    return [name for name in names if f"{name}^{{commit}}" not in found]


def _look_up(
    store: PrivateStore, names: Sequence[str], view: Mapping[str, str]
) -> dict[str, tuple[str, str]]:
    """Kind and id of each of these names by which there is something."""
    found: dict[str, tuple[str, str]] = {}
    left, failures = list(names), 0
    while left and failures < _MOST_FAILURES:
        words = ("-c", "core.disambiguate=committish", "cat-file", "--batch-check")
        # Of a beginning that several objects share git complains: it is nothing then.
        lines = store.git().run(*words, stdin=_lines(left), extra=view).text.splitlines()
        for name, line in zip(left, lines, strict=False):
            object_id, _, kind = line.rpartition(" ")[0].partition(" ")
            if kind:
                found[name] = kind, object_id
        # Git ends at what is not even an object, and the rest is asked for once more.
        left, failures = left[len(lines) + 1 :], failures + 1
    return found


def bring_tip(store: PrivateStore, commit: CommitId) -> None:
    """Have one commit and its tree in the store, without any history."""
    git, tip = store.git(), _lines([commit])
    if git.run(*store.walking(), "--quiet", "--no-walk", "--stdin", stdin=tip).code:
        bring_objects(store, _objects_of(store, [commit], _user_view(store), "--no-walk"))
    store.add_boundary([commit])


def bring_objects(store: PrivateStore, object_ids: Sequence[str]) -> None:
    """Copy those of the user's objects that the store does not have."""
    missing = missing_objects(store, list(dict.fromkeys(object_ids)))
    if not missing:
        return
    git = store.git()
    git.feed(git, _PACK, _UNPACK, stdin=_lines(missing), extra=_user_view(store))
    still_missing = missing_objects(store, missing)
    if still_missing:
        raise GitFailedError(
            f"{len(still_missing)} objects could not be brought into the checkpoint store",
            details={"objects": still_missing[:10]},
        )


def send_back(
    store: PrivateStore, git_dir: Path, tips: Sequence[CommitId], blobs: Sequence[str]
) -> None:
    """Give the user's repository back what it has lost of these commits, trees and blobs."""
    user = user_git(git_dir, store)
    objects, wanted = list(blobs), _lines(tips)
    # What the user's refs reach is whole; only what they no longer reach need be looked at.
    reached = (*store.walking(), "--quiet", "--not", "--all", "--not", "--stdin")
    if tips and user.run(*reached, stdin=wanted).code:
        objects += _objects_of(store, tips)
    if not objects:
        return
    # Asked by the store's git: that of a partial clone would look for them at its remote.
    view = _users_own(store)
    check = store.git().call("cat-file", "--batch-check", stdin=_lines(objects), extra=view)
    missing = [line.split(" ")[0] for line in check.text.splitlines() if line.endswith(" missing")]
    if missing:
        store.git().feed(user, _PACK, _UNPACK, stdin=_lines(missing))


def send_back_tags(store: PrivateStore, git_dir: Path, tags: Mapping[str, str]) -> None:
    """Write tags again that the user's repository may have lost."""
    user = user_git(git_dir, store)
    for text in tags.values():
        user.call("hash-object", "-t", "tag", "-w", "--stdin", stdin=os.fsencode(text))


def _objects_of(
    store: PrivateStore,
    wanted: Sequence[str],
    view: Mapping[str, str] | None = None,
    *flags: str,
) -> list[str]:
    """All that lies below commits and trees, but for what is named with a `^`."""
    words = (*store.walking(), "--no-object-names", *flags, "--stdin")
    return store.git().call(*words, stdin=_lines(wanted), extra=view).text.splitlines()


def _users_own(store: PrivateStore) -> Mapping[str, str]:
    """Environment in which the store sees the user's objects alone."""
    return {"GIT_OBJECT_DIRECTORY": str(store.common_dir / "objects")}


def _user_view(store: PrivateStore) -> Mapping[str, str]:
    """Environment in which the store also sees the user's objects, and history as they have it."""
    shallow = store.common_dir / "shallow"
    return {
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": quoted_path(store.common_dir / "objects"),
        "GIT_SHALLOW_FILE": str(shallow) if shallow.exists() else os.devnull,
    }


def _lines(items: Sequence[str]) -> bytes:
    return "".join(f"{item}\n" for item in items).encode()
