"""Moving objects between the user's repository and the private store, reading no configuration."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from backtrail.domain.errors import GitFailedError, NoSpaceError
from backtrail.domain.ids import CommitId
from backtrail.git.process.environment import quoted_path
from backtrail.git.store.objects import missing_objects
from backtrail.git.store.store import PrivateStore
from backtrail.git.user.head import user_git

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


def bring_named(store: PrivateStore, names: Sequence[str], known: Sequence[CommitId]) -> Named:
    """Have in the store what these names, whole ids or their beginnings, are of the user's.

    What is not there, or not whole, cannot be kept by anybody: it is passed over.
    """
    commits, trees, tags = _kinds(store, names)
    peeled, _, _ = _kinds(store, [f"{tag}^{{commit}}" for tag in tags])
    wanted = [CommitId(c) for c in dict.fromkeys((*commits, *peeled)) if c not in known]
    git, borrowed = store.git(), _user_view(store)
    try:
        tips = bring_commits(store, wanted, known) if wanted else ()
        if trees:
            listing = [*trees, *(f"^{commit}" for commit in known)]
            bring_objects(store, _objects_of(store, listing, borrowed))
    except NoSpaceError:
        # That is no fault of what is named.
        raise
    except GitFailedError:
        return Named()
    texts = {tag: git.call("cat-file", "tag", tag, extra=borrowed).stdout for tag in tags}
    return Named(tips, tuple(trees), {tag: os.fsdecode(text) for tag, text in texts.items()})


def _kinds(store: PrivateStore, names: Sequence[str]) -> tuple[list[str], list[str], list[str]]:
    """Which of the names are commits, trees and tags: their ids."""
    found = dict[str, list[str]]()
    if names:
        words = ("-c", "core.disambiguate=committish", "cat-file", "--batch-check")
        # Of a beginning that several objects share git complains: it is nothing then.
        output = store.git().run(*words, stdin=_lines(names), extra=_user_view(store))
        for line in output.text.splitlines():
            object_id, _, kind = line.rpartition(" ")[0].partition(" ")
            found.setdefault(kind, []).append(object_id)
    return found.get("commit", []), found.get("tree", []), found.get("tag", [])


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
    view = {"GIT_OBJECT_DIRECTORY": str(store.common_dir / "objects")}
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


def _user_view(store: PrivateStore) -> Mapping[str, str]:
    """Environment in which the store also sees the user's objects, and history as they have it."""
    shallow = store.common_dir / "shallow"
    return {
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": quoted_path(store.common_dir / "objects"),
        "GIT_SHALLOW_FILE": str(shallow) if shallow.exists() else os.devnull,
    }


def _lines(items: Sequence[str]) -> bytes:
    return "".join(f"{item}\n" for item in items).encode()
