"""Which paths a set of ignore rules ignores: git itself is asked, whatever is on disk.

Exact for odd names, too: git looks at a scratch tree that holds the .gitignore files, and an empty
file or directory in the place of each candidate. A candidate that is a directory ends in a slash.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from backtrail.git.ignore.listing import UNTRACKED, take_for_directories
from backtrail.git.ignore.rules import (
    RULES_FILE,
    IgnoreRules,
    is_rules_file,
    read_rules_files,
    rules_in_force,
)
from backtrail.git.osfiles.beneath import parents_of
from backtrail.git.osfiles.walk import make_directories
from backtrail.git.store.objects import TreeEntry, read_blobs
from backtrail.git.store.store import PrivateStore, scratch_directory


class LaidOut(NamedTuple):
    """A scratch tree to ask git about."""

    place: Path
    """A directory beside it, for the indexes of whoever asks."""
    root: Path
    words: tuple[str, ...]
    """Arguments of git that put the rules that are in no .gitignore in force."""


def ignored_at(
    store: PrivateStore, files: Iterable[TreeEntry], rules: IgnoreRules, candidates: Sequence[bytes]
) -> set[bytes]:
    """Those of the candidates that the rules of a checkpoint with these files ignore."""
    if not candidates:
        return set()
    return _ignored_by(store, rules_of(store, files, rules), rules, candidates)


def rules_of(
    store: PrivateStore, files: Iterable[TreeEntry], rules: IgnoreRules
) -> dict[bytes, bytes]:
    """The .gitignore files of a checkpoint with these files, also those that hide themselves."""
    # Git does not follow a .gitignore that is a symbolic link.
    entries = [entry for entry in files if is_rules_file(entry.path) and entry.is_file]
    texts = read_blobs(store, [entry.object_id for entry in entries])
    hidden = {os.fsencode(path): text for path, text in rules.hidden.items()}
    return hidden | {e.path: text for e, text in zip(entries, texts, strict=True)}


@contextmanager
def laid_out(
    store: PrivateStore,
    texts: Mapping[bytes, bytes],
    rules: IgnoreRules,
    candidates: Sequence[bytes],
) -> Generator[LaidOut]:
    """A scratch tree with these .gitignore files, and something in the place of each candidate."""
    with scratch_directory(store) as place, rules_in_force(store, rules) as words:
        root = place / "tree"
        root.mkdir()
        for path, text in (*texts.items(), *((path, b"") for path in candidates)):
            _place(os.fsencode(root), path, text)
        yield LaidOut(place, root, words)


def ignored_here(
    store: PrivateStore, root: Path, rules: IgnoreRules, candidates: Sequence[bytes]
) -> set[bytes]:
    """Those of the candidates that the present rules of a checkout ignore."""
    if not candidates:
        return set()
    return _ignored_by(store, rules_above(root, candidates), rules, candidates)


def rules_above(root: Path, candidates: Sequence[bytes]) -> dict[bytes, bytes]:
    """The .gitignore files of a checkout that have a say about the candidates."""
    directories = {b"", *(parent for path in candidates for parent in parents_of(path))}
    found = read_rules_files(root, [os.path.join(d, RULES_FILE) for d in directories])
    return {os.fsencode(path): text for path, text in found.items()}


def _ignored_by(
    store: PrivateStore,
    texts: Mapping[bytes, bytes],
    rules: IgnoreRules,
    candidates: Sequence[bytes],
) -> set[bytes]:
    directories = [path for path in candidates if path.endswith(b"/")]
    with laid_out(store, texts, rules, candidates) as (place, root, words):
        shown = set(store.git(root, place / "index").call(*words, *UNTRACKED).records())
        for number, layer in enumerate(_layers(directories)):
            git = store.git(root, place / f"index-{number}")
            # A directory is named by itself only where the one above it has an entry.
            above = {parent + b"/" for d in layer for parent in parents_of(d.rstrip(b"/"))}
            take_for_directories(git, sorted(above))
            shown.update(git.call(*words, *UNTRACKED, "--directory").records())
    return set(candidates) - shown


def _layers(directories: Sequence[bytes]) -> list[list[bytes]]:
    """The directories in groups of which none holds another: git names one or the other."""
    layers: defaultdict[int, list[bytes]] = defaultdict(list)
    heights: defaultdict[bytes, int] = defaultdict(int)
    for directory in sorted(set(directories), reverse=True):
        height = heights[directory]
        layers[height].append(directory)
        for parent in (above + b"/" for above in parents_of(directory.rstrip(b"/"))):
            heights[parent] = max(heights[parent], height + 1)
    return list(layers.values())


def _place(root: bytes, path: bytes, text: bytes) -> None:
    full = os.path.join(root, path)
    try:
        make_directories(os.path.dirname(full))
        if not path.endswith(b"/"):
            with open(full, "xb") as file:
                file.write(text)
    except (FileExistsError, NotADirectoryError):
        # A candidate in the place of a directory that holds rules. Left out here it counts as
        # ignored; what is in the way of something that comes back nobody asks about.
        return
