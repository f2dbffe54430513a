"""Random trees of every kind of entry, made on disk; `kept_things` says what must return.

A tree is a list of entries from hypothesis. Names that begin with `ign` may be ignored, depending
on the tree's own .gitignore files; nothing else ever is. Files of one of these names are among
those that are captured by default, but in a directory that may be ignored.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from support.world.world import write_files

if TYPE_CHECKING:
    from pathlib import Path

    from support.world.world import World

SMALL = b"ign.local"
NAMES = [
    b"a", b"b.txt", b"B.txt", b"dir", b"nest", b" lead", b"trail ", b"-rf", b"*", b":(top)x",
    b"new\nline", b'quo"te', b"caf\xe9", b"git~1", b"back\\slash", b"ign", b"ign.txt", SMALL,
    b"n" * 255,
]  # fmt: skip
CONTENTS = [
    b"", b"1\n", b"2\n", b"one\r\ntwo\n", b"\0\xff\xfe", b"$Id$\n", b"xyz" * 9_000,
    "text\n".encode("utf-16"), b"version https://git-lfs.github.com/spec/v1\n",
]  # fmt: skip
ATTRIBUTES = [
    b"", b"* text=auto\n", b"* eol=crlf\n", b"*.txt ident\n", b"* filter=gone\n",
    b"*.txt working-tree-encoding=UTF-16\n", b"* filter=lfs diff=lfs merge=lfs -text\n",
]  # fmt: skip
RULES = [b"", b"ign*\n", b"ign*\n!ign.txt\n", b"/ign\n", b"ign*/\n"]
GIT = [
    "nothing", "stage all", "stage some", "intend", "commit", "detach", "branch", "unmerged",
    "split",
]  # fmt: skip
KINDS = ["file", "file", "file", "file", "link", "directory", "pipe", "repository", "unborn"]
MODES = [0o644, 0o644, 0o755, 0o600, 0o444, 0o700]
KEPT_REPOSITORY = b"nest"
BELOW = b"dir"


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
    attributes_below: bytes
    rules_below: bytes
    git: str


def _settled(entry: Entry) -> Entry:
    """Repositories have names that are never ignored, so that it is plain what of them is due."""
    if entry.kind in REPOSITORIES and may_be_ignored(b"/".join(entry.path)):
        return replace(entry, kind="file")
    return entry


paths = st.lists(st.sampled_from(NAMES), min_size=1, max_size=3).map(tuple)
entries = st.builds(
    Entry,
    path=paths,
    kind=st.sampled_from(KINDS),
    mode=st.sampled_from(MODES),
    content=st.sampled_from(CONTENTS),
).map(_settled)
trees = st.builds(
    Tree,
    entries=st.lists(entries, max_size=9).map(tuple),
    attributes=st.sampled_from(ATTRIBUTES),
    rules=st.sampled_from(RULES),
    attributes_below=st.sampled_from(ATTRIBUTES),
    rules_below=st.sampled_from(RULES),
    git=st.sampled_from(GIT),
)


def make_tree(world: World, root: Path, tree: Tree) -> None:
    """Replace everything in the sandbox but .git, and that of one repository inside."""
    _clear(root)
    for entry in tree.entries:
        _make(world, os.fsencode(root), entry)
    _write_rules(root, tree.attributes, tree.rules)
    below = root / os.fsdecode(BELOW)
    if below.is_dir() and not below.is_symlink():
        _write_rules(below, tree.attributes_below, tree.rules_below)
    _work_with_git(world, root, tree.git)


def _write_rules(directory: Path, attributes: bytes, rules: bytes) -> None:
    files = {".gitattributes": attributes, ".gitignore": rules}
    write_files(directory, {name: content for name, content in files.items() if content})


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


def _make(world: World, root: bytes, entry: Entry) -> None:
    """Make an entry, unless something else is in its place or in that of a parent."""
    place = os.path.join(root, *entry.path)
    try:
        os.makedirs(os.path.dirname(place), exist_ok=True)
        _MAKERS[entry.kind](world, place, entry)
    except (FileExistsError, FileNotFoundError, NotADirectoryError):
        return


def _file(world: World, place: bytes, entry: Entry) -> None:
    with open(place, "xb") as file:
        file.write(entry.content)
    os.chmod(place, entry.mode)


def _link(world: World, place: bytes, entry: Entry) -> None:
    os.symlink(entry.content.replace(b"\0", b"0")[:40].strip() or b"nowhere", place)


def _directory(world: World, place: bytes, entry: Entry) -> None:
    os.mkdir(place)
    # Those who are not root have to get in again.
    os.chmod(place, entry.mode | 0o700)


def _pipe(world: World, place: bytes, entry: Entry) -> None:
    os.mkfifo(place)


def _repository(world: World, place: bytes, entry: Entry) -> None:
    """A repository inside, with commits or without; copied, because git takes its time."""
    pattern = world.root / f"pattern-{entry.kind}"
    if not pattern.exists():
        world.git("init", "--quiet", "--template=", str(pattern))
        if entry.kind == "repository":
            (pattern / "inner.txt").write_text("inner\n")
            world.git("add", "inner.txt", cwd=pattern)
            world.git("commit", "--quiet", "-m", "inner", cwd=pattern)
    os.mkdir(place)
    shutil.copytree(pattern, os.fsdecode(place), dirs_exist_ok=True)


_MAKERS = {
    "file": _file,
    "link": _link,
    "directory": _directory,
    "pipe": _pipe,
    "repository": _repository,
    "unborn": _repository,
}
REPOSITORIES = frozenset({"repository", "unborn"})


def _work_with_git(world: World, root: Path, what: str) -> None:
    commands = {
        "nothing": [],
        "stage all": ["add --all"],
        "stage some": ["add --update"],
        "intend": ["add --intent-to-add --all"],
        "commit": ["add --all", "commit --quiet --allow-empty -m agent"],
        "detach": ["checkout --quiet --detach"],
        "branch": ["checkout --quiet -B agent"],
        "unmerged": ["update-index --index-info"],
        "split": ["update-index --split-index", "add --all"],
    }[what]
    for command in commands:
        # A filter that does not exist, or a repository without commits, makes git refuse.
        words = ("-c", "advice.addEmbeddedRepo=false", *command.split())
        world.run("git", *words, cwd=root, stdin=_conflict(world, root, command))


def _conflict(world: World, root: Path, command: str) -> str | None:
    """Three versions of a file for the index, as a merge leaves them."""
    if not command.endswith("--index-info"):
        return None
    content = world.run("git", "hash-object", "-w", "--stdin", cwd=root, stdin="ours\n").out.strip()
    gone = f"0 {'0' * len(content)}\ta\n"
    return gone + "".join(f"100644 {content} {stage}\ta\n" for stage in (1, 2, 3))


def may_be_ignored(path: bytes) -> bool:
    return any(part.startswith(b"ign") for part in path.split(b"/"))


def is_small_by_default(path: bytes) -> bool:
    """Whether a file of this path is captured by default, ignored or not."""
    directory, _, name = path.rpartition(b"/")
    return name == SMALL and not may_be_ignored(directory)
