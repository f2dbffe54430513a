"""Moving objects between the user's repository and the private store, reading no configuration."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from backtrail.domain.errors import GitFailedError
from backtrail.domain.ids import CommitId
from backtrail.git.gitstate import user_git
from backtrail.git.trees import missing_objects

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from backtrail.git.store import PrivateStore


_PACK = ("pack-objects", "-q", "--stdout")
_UNPACK = ("unpack-objects", "-q")


def bring_commit(store: PrivateStore, commit: CommitId, known: Sequence[CommitId]) -> None:
    """Have a commit of the user's in the store, with what lies between it and known commits.

    History ends where known history begins: those boundary commits are kept with their trees
    and without their parents.
    """
    borrowed = _user_view(store)
    exclusions = [f"^{c}" for c in known if c != commit]
    walk = store.git().call(
        "rev-list", "--boundary", "--stdin", stdin=_lines([commit, *exclusions]), extra=borrowed
    )
    lines = walk.text.splitlines()
    boundary = [CommitId(line[1:]) for line in lines if line.startswith("-")]
    if not any(line == commit for line in lines):
        boundary.append(commit)
    # Where the user's own history ends, a shallow clone's, ours ends as well.
    boundary += (CommitId(line) for line in lines if line in _shallow_commits(store))
    listed = store.git().call(
        *store.walking(), "--no-object-names", "--stdin",
        stdin=_lines([commit, *exclusions]), extra=borrowed,
    )  # fmt: skip
    ends = store.git().call(
        *store.walking(), "--no-object-names", "--no-walk=unsorted", "--stdin",
        stdin=_lines(boundary), extra=borrowed,
    ) if boundary else None  # fmt: skip
    wanted = [*listed.text.splitlines(), *(ends.text.splitlines() if ends else ())]
    bring_objects(store, wanted)
    store.add_boundary(boundary)


def _shallow_commits(store: PrivateStore) -> set[str]:
    path = store.common_dir / "shallow"
    return set(path.read_text().split()) if path.exists() else set()


def bring_tip(store: PrivateStore, commit: CommitId) -> None:
    """Have one commit and its tree in the store, without any history."""
    if not _tip_is_whole(store, commit):
        listed = store.git().call(
            *store.walking(), "--no-object-names", "--no-walk", "--stdin",
            stdin=_lines([commit]), extra=_user_view(store),
        )  # fmt: skip
        bring_objects(store, listed.text.splitlines())
    store.add_boundary([commit])


def _tip_is_whole(store: PrivateStore, commit: CommitId) -> bool:
    walk = store.git().run(
        *store.walking(), "--quiet", "--no-walk", "--stdin", stdin=_lines([commit])
    )
    return walk.code == 0


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
    store: PrivateStore, git_dir: Path, commits: Sequence[CommitId], blobs: Sequence[str]
) -> None:
    """Give the user's repository back what it has lost of these commits and blobs."""
    user = user_git(git_dir, store)
    objects = list(blobs)
    for commit in commits:
        # What the user's refs reach is whole; only what they no longer reach need be looked at.
        if user.run(*store.walking(), "--quiet", commit, "--not", "--all").code:
            listed = store.git().call(
                *store.walking(), "--no-object-names", "--stdin", stdin=_lines([commit])
            )
            objects += listed.text.splitlines()
    if not objects:
        return
    # Asked by the store's git: that of a partial clone would look for them at its remote.
    view = {"GIT_OBJECT_DIRECTORY": str(store.common_dir / "objects")}
    check = store.git().call("cat-file", "--batch-check", stdin=_lines(objects), extra=view)
    missing = [line.split(" ")[0] for line in check.text.splitlines() if line.endswith(" missing")]
    if missing:
        store.git().feed(user, _PACK, _UNPACK, stdin=_lines(missing))


def _user_view(store: PrivateStore) -> Mapping[str, str]:
    """Environment in which the store also sees the user's objects, and history as they have it."""
    shallow = store.common_dir / "shallow"
    return {
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": quoted_path(store.common_dir / "objects"),
        "GIT_SHALLOW_FILE": str(shallow) if shallow.exists() else os.devnull,
    }


def quoted_path(path: Path) -> str:
    """The variable holds a list; quotes keep a colon in a path from splitting it."""
    escaped = str(path).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _lines(items: Sequence[str]) -> bytes:
    return "".join(f"{item}\n" for item in items).encode()
