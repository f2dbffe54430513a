"""Reading trees and blobs of the private store."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from backtrail.domain.errors import GitFailedError
from backtrail.domain.ids import TreeId
from backtrail.git.process.runner import RunningGit

if TYPE_CHECKING:
    # The store mends its objects, so that it knows of this.
    from backtrail.git.store.store import PrivateStore

GITLINK = b"160000"
RAW_CHANGE = re.compile(rb":\d+ (\d+) [0-9a-f]+ ([0-9a-f]+) ([A-Z])")
"""New mode, new object and kind of a change, in a raw diff with whole ids."""
HASHES = {40: "sha1", 64: "sha256"}
"""Git's hash functions, by the length of an id in hexadecimal digits."""
_LISTED = re.compile(rb"(\d+) [a-z]+ ([0-9a-f]+)\t([^\0]+)\0")


def empty_tree(id_length: int) -> TreeId:
    """The id of the tree without entries, which git knows without having it."""
    return TreeId(hashlib.new(HASHES[id_length], b"tree 0\0", usedforsecurity=False).hexdigest())


def id_lines(names: Sequence[str]) -> bytes:
    """Objects' names as git reads them from standard input."""
    return "".join(f"{name}\n" for name in names).encode()


class TreeEntry(NamedTuple):
    """One file or link of a tree; a tuple, for there are very many of them."""

    mode: bytes
    name: bytes
    """The object's id, as git printed it."""
    path: bytes

    @property
    def object_id(self) -> str:
        return self.name.decode()

    @property
    def is_file(self) -> bool:
        """Whether it is a regular file, as opposed to a link."""
        return self.mode.startswith(b"100")

    @property
    def mode_bits(self) -> int:
        """The permission bits that git keeps."""
        return 0o755 if self.mode == b"100755" else 0o644


class Change(NamedTuple):
    """One path of which what is there goes, or something else comes, or both."""

    path: bytes
    old: TreeEntry | None
    new: TreeEntry | None


def tree_changes(store: PrivateStore, old: str, new: str) -> list[Change]:
    """What differs between two trees, path by path."""
    words = ("diff-tree", "-r", "-z", "--no-renames", "--no-abbrev", old, new)
    records = store.git().call(*words).records()
    return [
        _change(head.split(b" "), path)
        for head, path in zip(records[::2], records[1::2], strict=True)
    ]


def _change(head: Sequence[bytes], path: bytes) -> Change:
    old_mode, new_mode, old, new, status = head
    return Change(
        path,
        None if status == b"A" else TreeEntry(old_mode[1:], old, path),
        None if status == b"D" else TreeEntry(new_mode, new, path),
    )


def list_tree(store: PrivateStore, tree: str, *, recurse: bool = True) -> list[TreeEntry]:
    """Every file of a tree."""
    return entries_in(start_listing(store, tree, recurse=recurse))


def files_by_path(store: PrivateStore, tree: TreeId | None) -> dict[bytes, tuple[bytes, str]]:
    """Mode and content of every file of a tree, by path."""
    if tree is None:
        return {}
    return {e.path: (e.mode, e.object_id) for e in list_tree(store, tree)}


def start_listing(store: PrivateStore, tree: str, *, recurse: bool = True) -> RunningGit:
    """Begin to list a tree; `entries_in` gives what was listed."""
    flags = ["-r"] if recurse else []
    return store.git().start("ls-tree", "-z", "--full-tree", *flags, tree)


def entries_in(listing: RunningGit) -> list[TreeEntry]:
    return list(map(TreeEntry._make, _LISTED.findall(listing.finish().checked().stdout)))


def start_directories(store: PrivateStore, tree: str) -> RunningGit:
    """Begin to list every directory of a tree, as records."""
    return store.git().start("ls-tree", "-r", "-d", "-z", "--full-tree", "--name-only", tree)


def read_blobs(store: PrivateStore, object_ids: Sequence[str]) -> list[bytes]:
    """The contents of several blobs, by one process."""
    if not object_ids:
        return []
    data = store.git().call("cat-file", "--batch", stdin=id_lines(object_ids)).stdout
    contents: list[bytes] = []
    at = 0
    for object_id in object_ids:
        end = data.index(b"\n", at)
        header = data[at:end].split(b" ")
        if header[-1] == b"missing":
            raise GitFailedError(f"object {object_id} is missing from the checkpoint store")
        size = int(header[2])
        contents.append(data[end + 1 : end + 1 + size])
        at = end + 1 + size + 1
    return contents


def blob_sizes(store: PrivateStore, object_ids: Sequence[str]) -> list[int]:
    """How large each of these is."""
    if not object_ids:
        return []
    asked = ("cat-file", "--batch-check=%(objectsize)")
    return list(map(int, store.git().call(*asked, stdin=id_lines(object_ids)).text.splitlines()))


def missing_objects(store: PrivateStore, object_ids: Sequence[str]) -> list[str]:
    """Those ids that the store does not have."""
    if not object_ids:
        return []
    output = store.git().call("cat-file", "--batch-check", stdin=id_lines(object_ids))
    return [line.split(" ")[0] for line in output.text.splitlines() if line.endswith(" missing")]
