"""Reading trees and blobs of the private store."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backtrail.domain.errors import GitFailedError
from backtrail.domain.ids import TreeId

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backtrail.git.store import PrivateStore


_HASHES = {40: "sha1", 64: "sha256"}


def empty_tree(id_length: int) -> TreeId:
    """The id of the tree without entries, which git knows without having it."""
    return TreeId(hashlib.new(_HASHES[id_length], b"tree 0\0", usedforsecurity=False).hexdigest())


@dataclass(frozen=True, slots=True)
class TreeEntry:
    mode: bytes
    object_id: str
    path: bytes


def list_tree(store: PrivateStore, tree: str, *, recurse: bool = True) -> list[TreeEntry]:
    """Every file of a tree."""
    flags = ["-r"] if recurse else []
    output = store.git().call("ls-tree", "-z", "--full-tree", *flags, tree)
    return [_entry(record) for record in output.records()]


def _entry(record: bytes) -> TreeEntry:
    head, path = record.split(b"\t", 1)
    mode, _, object_id = head.split(b" ")
    return TreeEntry(mode, object_id.decode(), path)


def read_blobs(store: PrivateStore, object_ids: Sequence[str]) -> list[bytes]:
    """The contents of several blobs, by one process."""
    if not object_ids:
        return []
    stdin = "".join(f"{i}\n" for i in object_ids).encode()
    data = store.git().call("cat-file", "--batch", stdin=stdin).stdout
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


def missing_objects(store: PrivateStore, object_ids: Sequence[str]) -> list[str]:
    """Those ids that the store does not have."""
    if not object_ids:
        return []
    stdin = "".join(f"{i}\n" for i in object_ids).encode()
    output = store.git().call("cat-file", "--batch-check", stdin=stdin)
    return [line.split(" ")[0] for line in output.text.splitlines() if line.endswith(" missing")]
