"""Random trees of every kind of entry, made on disk and compared by an independent walk.

A tree is a list of entries from hypothesis. Names that begin with `ign` may be ignored, depending
on the tree's own .gitignore; everything else must come back exactly.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from support.disk import walk
from support.world import write_files

if TYPE_CHECKING:
    from pathlib import Path

    from support.disk import Walk
    from support.world import World

NAMES = [
    b"a", b"b.txt", b"B.txt", b"dir", b"nest", b" lead", b"trail ", b"-rf", b"*", b":(top)x",
    b"new\nline", b'quo"te', b"caf\xe9", b"git~1", b"back\\slash", b"ign", b"ign.txt", b"n" * 255,
]  # fmt: skip
CONTENTS = [
    b"", b"1\n", b"2\n", b"one\r\ntwo\n", b"\0\xff\xfe", b"$Id$\n", b"xyz" * 9_000,
    "text\n".encode("utf-16"), b"version https://git-lfs.github.com/spec/v1\n",
]  # fmt: skip
ATTRIBUTES = [
    b"", b"* text=auto\n", b"* eol=crlf\n", b"*.txt ident\n", b"* filter=gone\n",
    b"*.txt working-tree-encoding=UTF-16\n", b"* filter=lfs diff=lfs merge=lfs -text\n",
]  # fmt: skip
RULES = [b"", b"ign*\n"]
GIT = ["nothing", "stage all", "stage some", "intend", "commit", "detach", "branch"]
KEPT_REPOSITORY = b"nest"


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing of a tree: a file, a link or a directory, with its mode."""

    path: tuple[bytes, ...]
    kind: str
    mode: int
    content: bytes

    def __repr__(self) -> str:
        where = b"/".join(part[:20] for part in self.path)
        return f"{self.kind} {where!r} {self.mode:o} {self.content[:20]!r}"


@dataclass(frozen=True, slots=True)
class Tree:
    entries: tuple[Entry, ...]
    attributes: bytes
    rules: bytes
    git: str


paths = st.lists(st.sampled_from(NAMES), min_size=1, max_size=3).map(tuple)
entries = st.builds(
    Entry,
    path=paths,
    kind=st.sampled_from(["file", "file", "file", "link", "directory"]),
    mode=st.sampled_from([0o644, 0o644, 0o755, 0o600, 0o444, 0o700]),
    content=st.sampled_from(CONTENTS),
)
trees = st.builds(
    Tree,
    entries=st.lists(entries, max_size=9).map(tuple),
    attributes=st.sampled_from(ATTRIBUTES),
    rules=st.sampled_from(RULES),
    git=st.sampled_from(GIT),
)


def make_tree(world: World, root: Path, tree: Tree) -> None:
    """Replace everything in the sandbox but the repositories' own .git."""
    _clear(root)
    files = {".gitattributes": tree.attributes, ".gitignore": tree.rules}
    write_files(root, {name: content for name, content in files.items() if content})
    for entry in tree.entries:
        _make(os.fsencode(root), entry)
    _work_with_git(world, root, tree.git)


def _clear(root: Path) -> None:
    for entry in os.scandir(root):
        if entry.name == os.fsdecode(KEPT_REPOSITORY) and entry.is_dir(follow_symlinks=False):
            for inner in os.scandir(entry):
                if inner.name != ".git":
                    _remove(inner)
        elif entry.name != ".git":
            _remove(entry)


def _remove(entry: os.DirEntry[str]) -> None:
    if entry.is_dir(follow_symlinks=False):
        shutil.rmtree(entry)
    else:
        os.unlink(entry)


def _make(root: bytes, entry: Entry) -> None:
    """Make an entry, unless something else is in its place or in that of a parent."""
    place = os.path.join(root, *entry.path)
    try:
        os.makedirs(os.path.dirname(place), exist_ok=True)
        if entry.kind == "directory":
            os.mkdir(place, entry.mode | 0o700)
        elif entry.kind == "link":
            os.symlink(entry.content.replace(b"\0", b"0")[:40].strip() or b"nowhere", place)
        else:
            with open(place, "xb") as file:
                file.write(entry.content)
            os.chmod(place, entry.mode)
    except (FileExistsError, FileNotFoundError, NotADirectoryError):
        return


def _work_with_git(world: World, root: Path, what: str) -> None:
    commands = {
        "nothing": [],
        "stage all": ["add --all"],
        "stage some": ["add --update"],
        "intend": ["add --intent-to-add --all"],
        "commit": ["add --all", "commit --quiet --allow-empty -m agent"],
        "detach": ["checkout --quiet --detach"],
        "branch": ["checkout --quiet -B agent"],
    }[what]
    for command in commands:
        # A filter that does not exist, or a repository without commits, makes git refuse.
        world.run("git", "-c", "advice.addEmbeddedRepo=false", *command.split(), cwd=root)


def may_be_ignored(path: bytes) -> bool:
    return any(part.startswith(b"ign") for part in path.split(b"/"))


def comparable(root: Path) -> Walk:
    """What must come back exactly: all but what some rule may ignore, and its directories."""
    found = walk(root, directories=True)
    kept = {path: entry for path, entry in found.items() if not may_be_ignored(path)}
    return {
        path: entry
        for path, entry in kept.items()
        if entry[0] != "directory" or _counts(path, found, kept)
    }


def _counts(directory: bytes, found: Walk, kept: Walk) -> bool:
    """Whether a directory is captured: it is empty, or something that is not ignored is in it."""
    below = directory + b"/"
    if directory == KEPT_REPOSITORY:
        return any(path.startswith(below) and kept[path][0] != "directory" for path in kept)
    inside = [path for path in found if path.startswith(below)]
    return not inside or any(path in kept and kept[path][0] != "directory" for path in inside)
